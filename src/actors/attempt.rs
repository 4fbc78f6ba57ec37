//! One try of a task on the CPU.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::audit::recount;
use super::floor::Floor;
use super::panics;
use crate::engine::{Counter, Mismatch, Tally, Task};

/// What one try of a task came to.
pub(super) enum Outcome {
    Tally(Count),
    Mismatch(Mismatch),
    Panic(String),
}

/// A task counted, and by which kernels.
pub(super) struct Count {
    pub(super) tally: Tally,
    pub(super) took: Duration,
    pub(super) backend: &'static str,
    pub(super) audited_by: Option<&'static str>,
}

/// Counts `task` of a plan, a second time if it is drawn for that, with `counter`, which is made if
/// there is none. A panic leaves none.
pub(super) fn attempt(
    floor: &Floor,
    plan: usize,
    task: &Task,
    counter: &mut Option<Box<dyn Counter>>,
) -> Outcome {
    let counted = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "fault-injection")]
        floor.injector.try_task(task.id);
        let begun = Instant::now();
        let of = floor.plans[plan].as_ref();
        let counted_by = counter.get_or_insert_with(|| of.counter(&floor.settings));
        let tally = counted_by.count(task)?;
        #[cfg(feature = "fault-injection")]
        let tally = floor.injector.distort(tally);
        let mut count = Count {
            tally,
            took: begun.elapsed(),
            backend: counted_by.backend(),
            audited_by: None,
        };
        let drawn = floor.audit_of(plan).draw(count.took);
        if let Some(expected) = drawn {
            // Two counters at once could need twice the memory.
            *counter = None;
            let begun = Instant::now();
            let first = (&count.tally, count.backend);
            count.audited_by = recount(of, &floor.settings, task, first)?;
            floor.audit_of(plan).note(expected, begun.elapsed());
        }
        Ok(count)
    }));
    match counted {
        Ok(Ok(count)) => Outcome::Tally(count),
        Ok(Err(mismatch)) => Outcome::Mismatch(mismatch),
        Err(payload) => {
            // Nobody knows what state the panic left it in.
            *counter = None;
            Outcome::Panic(panics::describe(payload.as_ref()))
        }
    }
}
