//! Leases over a NATS server: a coordinator that writes the ledger, and workers that come and go.
//!
//! What is said, and who may do what, is in the room's `lease`; here it is only carried.
//!
//! * `coordinate`: the coordinator; `ledger_thread`: what it writes.
//! * `found_run`, `worker_settings`: how a worker finds its run. `taking_part`: its link to the coordinator; `shared`: where
//!   its tasks come from and its results go; `deliver`: what a worker left that is gone.
//! * `user_files`: the users of a server, one for each host.
//! * `server`: connecting; `subjects`: under which subjects messages go.

mod coordinate;
mod deliver;
mod found_run;
mod ledger_thread;
mod server;
mod shared;
mod subjects;
mod taking_part;
mod user_files;
mod worker_settings;

pub use coordinate::{Coordinated, CoordinatorError, CoordinatorSettings, coordinate};
pub use found_run::{FoundRun, WorkerError};
pub use server::{Server, ServerError};
pub use subjects::{RunName, RunNameError};
pub use taking_part::{LinkEnd, TakingPart};
pub use user_files::{UserFileError, UserFiles};
pub use worker_settings::WorkerSettings;
