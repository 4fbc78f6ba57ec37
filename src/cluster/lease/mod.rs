//! Leases: which worker of a run over many hosts counts which tasks, and how what it counted gets into the ledger.
//! Nothing here knows a network.
//!
//! * `protocol`, `report`, `run_key`: what is said; `session_key`: by whom.
//! * `coordinator`: decides who holds what; `effect`: what it asks for; `times`: how it cuts leases; `pool`: tasks that
//!   nobody holds; `seconds`: tasks that another party is to count, too; `book`: leases that are out; `member`: what is known of a worker; `absent`: workers that are gone; `admission`: who may take part; `bars`: whom the
//!   owner of the run has paused or banned.
//! * `entitled`: whose results are taken; `given`: what the coordinator before this one gave out; `heard`: what was reported under which numbers; `ignored`: what is not taken.
//! * `holder`: what a worker holds; `journal`: what it counted, until the ledger has it; `entries`: how files keep that.

mod absent;
mod admission;
mod bars;
mod book;
mod coordinator;
mod effect;
mod entitled;
mod entries;
mod given;
mod heard;
mod holder;
mod ignored;
mod journal;
mod member;
mod pool;
mod protocol;
mod report;
mod run_key;
mod seconds;
mod session_key;
mod times;

pub use bars::{BARS, Bar, Bars};
pub use coordinator::Coordinator;
pub use effect::Effect;
pub use given::{Given, GivenLeases};
pub use holder::Holder;
pub use journal::{Journal, Leftover};
pub use pool::Pool;
pub use protocol::{
    Beat, Down, Finish, Hello, Lease, Offer, PROTOCOL, Plans, Unreadable, Up, decode, encode,
};
pub use report::{LARGEST_REPORT, Report};
pub use run_key::RunKey;
pub use session_key::{SessionKey, random_secret, unseal};
pub use times::LeaseTimes;
