//! Leases over a NATS server: a coordinator that writes the ledger, and workers that come and go.
//!
//! What is said, and who may do what, is in the room's `lease`; here it is only carried.
//!
//! * `coordinate`: the coordinator; `ledger_thread`: what it writes. `taking_part`: a worker; `deliver`: what a worker
//!   left that is gone.
//! * `server`: connecting; `subjects`: under which subjects messages go; `way`: the stream of the leases.

mod coordinate;
mod deliver;
mod ledger_thread;
mod server;
mod subjects;
mod taking_part;
mod way;

pub use coordinate::{Coordinated, CoordinatorError, CoordinatorSettings, coordinate};
pub use server::{Server, ServerError};
pub use subjects::{RunName, RunNameError};
pub use taking_part::{FoundRun, LinkEnd, TakingPart, WorkerError, WorkerSettings};
