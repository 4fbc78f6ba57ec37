//! What the rechecker asks the collector for.

use std::time::Duration;

use super::{Costed, EventKind, PlanIndex, Recount, Retry, RunError, SickWorker, WorkerIndex};
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
    /// How long the first count of an audited task took, the second one was expected to take, and took.
    AuditTook(WorkerIndex, PlanIndex, [Duration; 3]),
    /// Put a result in the place of a wrong one in the sums.
    Replace {
        plan: PlanIndex,
        wrong: TaskResult,
        right: TaskResult,
    },
    /// Have a correction recorded.
    Correct(Correction),
    /// A worker counted wrongly, and may have used a device or kernel that is still to be named. This one
    /// leaves the run; `None` if it goes on as the last one.
    Quarantine(SickWorker, Option<WorkerIndex>),
    /// Take a result out of the sums and out of the record.
    Withdraw(PlanIndex, TaskResult),
    /// Tell what happened.
    Tell(EventKind),
    /// Nothing more is to be counted.
    Done,
    /// There can be no result.
    Fail(RunError),
}
