//! One try of a task on the CPU.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use super::audit::recount;
use super::floor::Floor;
use super::panics;
use crate::engine::{CountedBy, Counter, Mismatch, Origin, Task, TaskResult};

/// What one try of a task gave.
pub(super) enum Outcome {
    Counted(TaskResult),
    Mismatch(Mismatch),
    Panic(String),
}

/// Counts `task` of a plan with `counter`, which is made if there is none. If the task is drawn for an
/// audit, another kernel counts it a second time. After a panic there is no counter.
pub(super) fn attempt(
    floor: &Floor,
    worker: usize,
    plan: usize,
    task: &Task,
    counter: &mut Option<Box<dyn Counter>>,
) -> Outcome {
    let counted = catch_unwind(AssertUnwindSafe(|| {
        floor.status(worker).begins(task.key);
        #[cfg(feature = "fault-injection")]
        floor.injector.try_task(task.key);
        let begun = Instant::now();
        let of = floor.plans[plan].as_ref();
        let counted_by = counter.get_or_insert_with(|| of.counter(&floor.settings));
        let tally = counted_by.count(task)?;
        #[cfg(feature = "fault-injection")]
        let tally = floor.injector.distort(tally);
        let mut result = TaskResult {
            key: task.key,
            tally,
            duration: begun.elapsed(),
            origin: Origin {
                worker: floor.worker_id(worker),
                counted_by: CountedBy::Cpu(counted_by.backend().into()),
            },
            audited_by: None,
        };
        let drawn = floor.audit_of(plan).draw(result.duration);
        if let Some(expected) = drawn {
            // Two counters at once could need twice the memory.
            *counter = None;
            let begun = Instant::now();
            let first = (&result.tally, &result.origin.counted_by);
            result.audited_by = recount(of, &floor.settings, task, first)?;
            let took = begun.elapsed();
            floor.audit_of(plan).note(expected, took);
            floor.status(worker).audited(&result, took);
        }
        Ok(result)
    }));
    match counted {
        Ok(Ok(result)) => {
            floor.status(worker).counted(&result);
            Outcome::Counted(result)
        }
        Ok(Err(mismatch)) => Outcome::Mismatch(mismatch),
        Err(payload) => {
            // Its state after a panic is unknown.
            *counter = None;
            Outcome::Panic(panics::describe(payload.as_ref()))
        }
    }
}
