//! One try of a task on the CPU.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::audit::recount;
use super::count_kind::CountKind;
use super::events::EventKind;
use super::index::{PlanIndex, WorkerIndex};
use super::observers::Observers;
use super::panics;
use super::shared::RunShared;
use crate::engine::{
    CountedBy, Counter, Mismatch, NotCounted, Origin, Tally, Task, TaskResult, other_counter,
};

/// What one try of a task gave.
pub(super) enum Attempt {
    /// The result. If the task is to be counted a second time by another worker before it is recorded,
    /// how long that is expected to take.
    Counted(Box<TaskResult>, Option<Duration>),
    Mismatch(Mismatch),
    Panic(String),
    /// The run stops or pauses, and the task took too long.
    GivenUp,
}

/// Counts `task` of a plan with the `counter` of the worker, which is made when first needed. If the task is
/// drawn for an audit and nobody else is there to count it a second time, another kernel does that here. After
/// a panic, and if the task was given up, the counter is made again.
pub(super) fn attempt(
    shared: &RunShared,
    worker: WorkerIndex,
    plan: PlanIndex,
    task: &Task,
    counter: &mut Option<Box<dyn Counter>>,
) -> Attempt {
    let hand = worker;
    let watch = shared.in_flight.begin(hand, plan, task.cost);
    let (key, worker) = (task.key, shared.roster.id(worker));
    let observers = &shared.observers;
    let begun = Instant::now();
    let counted = catch_unwind(AssertUnwindSafe(|| {
        observers.tell(EventKind::TaskBegun { worker, key });
        #[cfg(feature = "fault-injection")]
        shared.injector.try_task(task.key);
        let of = shared.plan(plan).as_ref();
        let used = counter.get_or_insert_with(|| of.counter(&shared.spec.counter));
        let (tally, kernel) = (used.count_watched(task, watch)?, used.backend());
        let tally = seen(shared, hand, tally, CountKind::Task);
        let mut result = result_of(shared, hand, task, tally, (kernel, begun));
        let drawn = shared.audit_of(hand, plan).draw(result.duration, task.cost);
        if drawn.is_some() && shared.roster.elsewhere(&[hand]).is_some() {
            return Ok((Box::new(result), drawn));
        }
        if let Some(expected) = drawn {
            // Two counters at once could need twice the memory.
            *counter = None;
            let recounted = Instant::now();
            let first = (&result.tally, &result.origin.counted_by);
            let second_watch = shared.in_flight.second_watch();
            let see = |tally| seen(shared, hand, tally, CountKind::ByOtherKernel);
            result.audited_by = recount(of, task, first, &second_watch, see)?;
            let took = recounted.elapsed();
            shared
                .audit_of(hand, plan)
                .note(result.duration, expected, took);
            tell_audit(observers, &result, took);
        }
        Ok::<_, NotCounted>((Box::new(result), None))
    }));
    let result = match &counted {
        Ok(Ok((result, _))) => Some(result.as_ref()),
        _ => None,
    };
    shared
        .in_flight
        .end(hand, result.filter(|_| shared.roster.is_cpu(hand)));
    match counted {
        Ok(Ok((result, audit))) => {
            observers.tell(EventKind::TaskCounted((*result).clone()));
            Attempt::Counted(result, audit)
        }
        Ok(Err(NotCounted::Mismatch(mismatch))) => Attempt::Mismatch(mismatch),
        Ok(Err(NotCounted::GivenUp(_))) => {
            *counter = None;
            let after = begun.elapsed();
            observers.tell(EventKind::TaskGivenUp { worker, key, after });
            Attempt::GivenUp
        }
        Err(payload) => {
            // Its state after a panic is unknown.
            *counter = None;
            let message = panics::describe(payload.as_ref());
            observers.tell(EventKind::TaskPanicked {
                worker,
                key,
                message: message.clone(),
            });
            Attempt::Panic(message)
        }
    }
}

/// Counts again a task that other workers have counted, by none of these kernels; by the kernel of the
/// worker if there are none.
pub(super) fn attempt_again(
    shared: &RunShared,
    hand: WorkerIndex,
    plan: PlanIndex,
    task: &Task,
    not_by: &[CountedBy],
) -> Attempt {
    let watch = shared.in_flight.begin(hand, plan, task.cost);
    let worker = shared.roster.id(hand);
    let begun = Instant::now();
    let counted = catch_unwind(AssertUnwindSafe(|| {
        let of = shared.plan(plan).as_ref();
        let mut counter = match not_by {
            [] => of.counter(&shared.spec.counter),
            used => {
                let other = other_counter(of, used);
                other.unwrap_or_else(|| of.oracle())
            }
        };
        let tally = counter.count_watched(task, watch)?;
        let count = match not_by {
            [] => CountKind::Task,
            _ => CountKind::ByOtherKernel,
        };
        let tally = seen(shared, hand, tally, count);
        let by = (counter.backend(), begun);
        Ok::<_, NotCounted>(result_of(shared, hand, task, tally, by))
    }));
    // It is no progress: the task is counted already.
    shared.in_flight.end(hand, None);
    let key = task.key;
    match counted {
        Ok(Ok(result)) => {
            let took = result.duration;
            let again = EventKind::CountedAgain { worker, key, took };
            shared.observers.tell(again);
            Attempt::Counted(Box::new(result), None)
        }
        Ok(Err(NotCounted::Mismatch(mismatch))) => Attempt::Mismatch(mismatch),
        Ok(Err(NotCounted::GivenUp(_))) => Attempt::GivenUp,
        Err(payload) => Attempt::Panic(panics::describe(payload.as_ref())),
    }
}

/// The result of a task that `hand` counted with a kernel, since `begun`.
fn result_of(
    shared: &RunShared,
    hand: WorkerIndex,
    task: &Task,
    tally: Tally,
    (kernel, begun): (&'static str, Instant),
) -> TaskResult {
    TaskResult {
        key: task.key,
        tally,
        duration: begun.elapsed(),
        origin: Origin {
            worker: shared.roster.id(hand),
            counted_by: CountedBy::Cpu(kernel.into()),
        },
        audited_by: None,
    }
}

/// A tally as `hand` gives it: with its faults, if faults are injected.
#[cfg_attr(
    not(feature = "fault-injection"),
    expect(clippy::missing_const_for_fn, reason = "with faults it is none")
)]
pub(super) fn seen(shared: &RunShared, hand: WorkerIndex, tally: Tally, count: CountKind) -> Tally {
    #[cfg(feature = "fault-injection")]
    let tally = shared
        .injector
        .distort(shared.roster.id(hand), tally, count);
    #[cfg(not(feature = "fault-injection"))]
    let _ = (shared, hand, count);
    tally
}

/// Tells that a second count, which took so long, gave the same result, if there was one.
pub(super) fn tell_audit(observers: &Observers, result: &TaskResult, took: Duration) {
    if let Some(by) = &result.audited_by {
        observers.tell(EventKind::Audited {
            worker: result.origin.worker,
            key: result.key,
            by: by.clone(),
            took,
        });
    }
}
