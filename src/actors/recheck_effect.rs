//! What the rechecker asks the collector for.

use std::time::Duration;

use super::events::EventKind;
use super::index::{PlanIndex, WorkerIndex};
use super::messages::{Costed, Recount, Retry};
use super::report::RunError;
use crate::engine::{Correction, TaskResult};

/// What is to be done about counts.
#[derive(Debug)]
pub(super) enum Effect {
    /// Add a result of a worker to the sums, and have it recorded.
    Sum(WorkerIndex, PlanIndex, Costed),
    /// A result of a quarantined worker is not summed, but no longer in flight either.
    Drop(WorkerIndex, PlanIndex, Costed),
    /// Have a task counted that has no count yet.
    Retry(Retry),
    /// Have tasks counted again.
    Recount(Recount),
    /// Two counts of a task agree.
    CountedTwice(PlanIndex, u64),
    /// An audit took some time, its first count some, and was expected to take some.
    AuditTook {
        worker: WorkerIndex,
        plan: PlanIndex,
        first: Duration,
        expected: Duration,
        took: Duration,
    },
    /// Put a result in the place of a wrong one in the sums.
    Replace {
        plan: PlanIndex,
        wrong: TaskResult,
        right: TaskResult,
    },
    /// Have a correction recorded.
    Correct(Correction),
    /// A worker counted wrongly. It is in quarantine, unless it goes on as the last one.
    Quarantine {
        worker: WorkerIndex,
        reason: String,
        /// Tasks that it counted since its last good canary.
        suspects: u64,
        goes_on: bool,
    },
    /// Take a result out of the sums and out of the record.
    Withdraw(PlanIndex, TaskResult),
    /// Tell what happened.
    Tell(EventKind),
    /// Nothing more is to be counted.
    Done,
    /// There can be no result.
    Fail(RunError),
}
