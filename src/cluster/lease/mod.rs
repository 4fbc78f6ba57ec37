//! Leases: which worker of a run over many hosts counts which tasks, and how what it counted gets into the ledger.
//! Nothing here knows a network.
//!
//! * `protocol`, `report`, `run_key`: what is said.
//! * `coordinator`: decides who holds what; `effect`: what it asks for; `times`: how it cuts leases; `pool`: tasks that
//!   nobody holds; `book`: leases that are out; `member`: what is known of a worker; `admission`: who may take part.
//! * `entitled`: whose results are taken; `heard`: what was reported under which numbers; `ignored`: what is not taken.
//! * `holder`: what a worker holds; `journal`: what it counted, until the ledger has it.

mod admission;
mod book;
mod coordinator;
mod effect;
mod entitled;
mod heard;
mod holder;
mod ignored;
mod journal;
mod member;
mod pool;
mod protocol;
mod report;
mod run_key;
mod times;

pub use coordinator::Coordinator;
pub use effect::Effect;
pub use holder::Holder;
pub use journal::{Journal, Leftover};
pub use pool::Pool;
pub use protocol::{
    Beat, Down, Finish, Hello, Lease, Offer, PROTOCOL, Plans, Unreadable, Up, decode, encode,
};
pub use report::{LARGEST_REPORT, Report};
pub use run_key::RunKey;
pub use times::LeaseTimes;
