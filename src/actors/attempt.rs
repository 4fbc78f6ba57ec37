//! One try of a task on the CPU.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice::from_ref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::warn;

use super::{
    Batch, CanarySchedule, Costed, CountKind, Counted, Counters, EventKind, PlanIndex, panics,
    recount,
};
use crate::engine::{
    CountedBy, Counter, Mismatch, NotCounted, Origin, Task, TaskResult, TaskWatch, WorkerId,
};

/// What one try of a task gave.
enum Attempt {
    /// The result. If the task is to be counted a second time by another worker before it is recorded,
    /// how long that is expected to take.
    Counted(Box<TaskResult>, Option<Duration>),
    Mismatch(Mismatch),
    Panic(String),
    /// The run stops or pauses, and the task took too long.
    GivenUp,
}

/// Tries a task of `batch`, and adds to `message` what came of it. Returns how many nodes were searched;
/// `None` if the task was given up.
pub(super) fn try_task(
    counters: &mut Counters,
    canaries: &mut CanarySchedule,
    batch: &Batch,
    task: &Task,
    message: &mut Counted,
) -> Option<u64> {
    let attempt = match &batch.again {
        None => attempt(counters, batch.plan, task),
        Some(not_by) => attempt_again(counters, batch.plan, task, not_by),
    };
    let index = task.key.index;
    match attempt {
        Attempt::GivenUp => return None,
        Attempt::Counted(result, audit) => {
            let nodes = result.tally.nodes;
            canaries.note(1, result.duration);
            message.results.push(Costed {
                result: *result,
                cost: task.cost,
                audit,
            });
            return Some(nodes);
        }
        Attempt::Mismatch(mismatch) => message.mismatch = Some((index, mismatch.to_string())),
        Attempt::Panic(said) => {
            let worker = counters.shared.roster.id(counters.worker);
            warn!(worker = worker.to_string(), task = %task.key, "panic: {said}");
            message.panicked.push((index, said));
        }
    }
    Some(0)
}

/// Counts a task for the first time, and tells how that goes.
fn attempt(counters: &mut Counters, plan: PlanIndex, task: &Task) -> Attempt {
    let (shared, index) = (Arc::clone(&counters.shared), counters.worker);
    let (worker, key, observers) = (shared.roster.id(index), task.key, &shared.observers);
    let watch = shared.in_flight.begin(index, plan, task.cost);
    let begun = Instant::now();
    let attempt = caught(|| {
        observers.tell(EventKind::TaskBegun { worker, key });
        shared.injector.try_task(key);
        let result = count(counters.of_tasks(plan), worker, task, watch, begun)?;
        audit(counters, plan, task, result)
    });
    let counted = match &attempt {
        Attempt::Counted(result, _) => Some(result.as_ref()),
        _ => None,
    };
    shared.in_flight.end(index, counted);
    match &attempt {
        Attempt::Counted(result, _) => observers.tell(EventKind::TaskCounted(*result.clone())),
        Attempt::Mismatch(_) => {}
        Attempt::GivenUp => {
            counters.free(plan);
            let after = begun.elapsed();
            observers.tell(EventKind::TaskGivenUp { worker, key, after });
        }
        Attempt::Panic(message) => {
            counters.free(plan);
            let message = message.clone();
            observers.tell(EventKind::TaskPanicked {
                worker,
                key,
                message,
            });
        }
    }
    attempt
}

/// Draws a counted task for an audit, or not. If nobody else is there to count it a second time, another
/// kernel does that here. Otherwise returns how long the second count is expected to take.
fn audit(
    counters: &mut Counters,
    plan: PlanIndex,
    task: &Task,
    mut result: TaskResult,
) -> Result<(TaskResult, Option<Duration>), NotCounted> {
    let (shared, worker) = (Arc::clone(&counters.shared), counters.worker);
    let draws = || shared.audit_of(worker, plan);
    let drawn = draws().draw(result.duration, task.cost);
    let is_alone = || shared.roster.elsewhere(&[worker]).is_none();
    let Some(expected) = drawn.filter(|_| is_alone()) else {
        return Ok((result, drawn));
    };
    counters.free(plan);
    let begun = Instant::now();
    let first = &result.origin.counted_by;
    let second = counters.make(plan, CountKind::ByOtherKernel, from_ref(first));
    let watch = shared.in_flight.second_watch();
    result.audited_by = recount(second, task, (&result.tally, first), &watch)?;
    let took = begun.elapsed();
    draws().note(result.duration, expected, took);
    if let Some(by) = result.audited_by.clone() {
        shared.observers.tell(EventKind::Audited {
            worker: result.origin.worker,
            key: result.key,
            by,
            took,
        });
    }
    Ok((result, None))
}

/// Counts again a task that other workers have counted, by none of these kernels; by the kernel of the
/// worker if there are none.
fn attempt_again(
    counters: &mut Counters,
    plan: PlanIndex,
    task: &Task,
    not_by: &[CountedBy],
) -> Attempt {
    counters.free(plan);
    let shared = &counters.shared;
    let worker = shared.roster.id(counters.worker);
    let watch = shared.in_flight.begin(counters.worker, plan, task.cost);
    let begun = Instant::now();
    let attempt = caught(|| {
        let kind = match not_by {
            [] => CountKind::Task,
            _ => CountKind::ByOtherKernel,
        };
        let mut counter = counters.make(plan, kind, not_by);
        let result = count(counter.as_mut(), worker, task, watch, begun)?;
        Ok((result, None))
    });
    // It is no progress: the task is counted already.
    shared.in_flight.end(counters.worker, None);
    if let Attempt::Counted(result, _) = &attempt {
        let (key, took) = (task.key, result.duration);
        shared
            .observers
            .tell(EventKind::CountedAgain { worker, key, took });
    }
    attempt
}

/// What a try comes to that may panic.
fn caught(count: impl FnOnce() -> Result<(TaskResult, Option<Duration>), NotCounted>) -> Attempt {
    match catch_unwind(AssertUnwindSafe(count)) {
        Ok(Ok((result, audit))) => Attempt::Counted(Box::new(result), audit),
        Ok(Err(NotCounted::Mismatch(mismatch))) => Attempt::Mismatch(mismatch),
        Ok(Err(NotCounted::GivenUp(_))) => Attempt::GivenUp,
        Err(payload) => Attempt::Panic(panics::describe(payload.as_ref())),
    }
}

/// The result of a task that a worker counts, since `begun`.
fn count(
    counter: &mut dyn Counter,
    worker: WorkerId,
    task: &Task,
    watch: &TaskWatch,
    begun: Instant,
) -> Result<TaskResult, NotCounted> {
    let tally = counter.count_watched(task, watch)?;
    Ok(TaskResult {
        key: task.key,
        tally,
        duration: begun.elapsed(),
        origin: Origin {
            worker,
            counted_by: CountedBy::Cpu(counter.backend().into()),
        },
        audited_by: None,
    })
}
