//! Actions that the coordinator asks its driver to perform.

use super::protocol::{Down, Finish, Lease};
use crate::actors::EventKind;
use crate::actors::Finding;
use crate::ledger::Facts;

/// What the coordinator asks for.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Tell a worker something.
    Tell(String, Down),
    /// Note in the ledger that a worker takes part.
    Admit(String, Facts),
    /// Note that a lease is given to a worker, and tell it.
    Grant(String, Lease),
    /// Record what a worker delivered. Its items below this number have their receipt when that is done.
    Record(String, Vec<Finding>, u64),
    /// A worker takes part no longer.
    Dismiss {
        /// The worker.
        worker: String,
        /// Whether it left in order, after its last canary was right.
        in_order: bool,
    },
    /// Tell what happened to those who watch the run.
    Happened(EventKind),
    /// The run is over.
    End(Finish),
}
