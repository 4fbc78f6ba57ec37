//! One try of a task on the CPU, and the counters of a worker for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::warn;

use crate::actors::{
    Batch, CanarySchedule, Costed, CountKind, Counted, EventKind, PlanIndex, RunShared,
    WorkerIndex, panics,
};
use crate::engine::{
    CountedBy, Counter, Mismatch, NotCounted, Origin, Task, TaskResult, TaskWatch, WorkerId,
    other_counter,
};

/// The counters of one worker.
pub(crate) struct Counters {
    pub(crate) shared: Arc<RunShared>,
    pub(crate) worker: WorkerIndex,
    /// For the tasks of each plan, made when first needed.
    made: Vec<Option<Box<dyn Counter>>>,
}

impl Counters {
    pub(crate) fn new(shared: Arc<RunShared>, worker: WorkerIndex) -> Self {
        Self {
            made: shared.plan_indices().map(|_| None).collect(),
            shared,
            worker,
        }
    }

    /// The name of the worker.
    pub(crate) fn id(&self) -> WorkerId {
        self.shared.roster.id(self.worker)
    }

    /// The one for the tasks of a plan.
    pub(crate) fn of_tasks(&mut self, plan: PlanIndex) -> &mut dyn Counter {
        let made = self.made[plan.0].take();
        let counter = made.unwrap_or_else(|| self.make(plan, CountKind::Task, &[]));
        self.made[plan.0].insert(counter).as_mut()
    }

    /// Frees that one. Two counters at once could need twice the memory, and after a panic its state is
    /// unknown.
    pub(crate) fn free(&mut self, plan: PlanIndex) {
        self.made[plan.0] = None;
    }

    /// Frees all of them.
    pub(crate) fn clear(&mut self) {
        self.made.iter_mut().for_each(|counter| *counter = None);
    }

    /// A new counter for a plan. Tasks that were counted take none of the kernels `used`, if there is
    /// another one.
    pub(crate) fn make(
        &self,
        plan: PlanIndex,
        kind: CountKind,
        used: &[CountedBy],
    ) -> Box<dyn Counter> {
        let (of, settings) = (self.shared.plan(plan).as_ref(), &self.shared.spec.counter);
        match kind {
            CountKind::Task => of.counter(settings),
            // The oracle if there is no other kernel.
            CountKind::ByOtherKernel => other_counter(of, used).unwrap_or_else(|| of.oracle()),
            CountKind::Canary => of.canary_counter(settings),
        }
    }
}

/// What one try of a task gave.
enum Attempt {
    /// The result. If the task is to be counted a second time before it is recorded,
    /// how long that is expected to take.
    Counted(Box<TaskResult>, Option<Duration>),
    Mismatch(Mismatch),
    Panic(String),
    /// The run stops or pauses, and the task took too long.
    GivenUp,
}

/// Tries a task of `batch`, and adds to `message` what came of it. Returns how many nodes were searched;
/// `None` if the task was given up.
pub(crate) fn try_task(
    counters: &mut Counters,
    canaries: &mut CanarySchedule,
    batch: &Batch,
    task: &Task,
    message: &mut Counted,
) -> Option<u64> {
    let index = task.key.index;
    match attempt(counters, batch, task) {
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
            warn!(worker = counters.id().to_string(), task = %task.key, "panic: {said}");
            message.panicked.push((index, said));
        }
    }
    Some(0)
}

/// Counts a task of `batch`, and tells how that goes: for the first time, or again by none of the kernels that counted
/// it; by the kernel of the worker if there are none.
fn attempt(counters: &mut Counters, batch: &Batch, task: &Task) -> Attempt {
    let (shared, index, plan) = (Arc::clone(&counters.shared), counters.worker, batch.plan);
    let (worker, key, observers) = (counters.id(), task.key, &shared.observers);
    if batch.again.is_some() {
        counters.free(plan);
    }
    let watch = shared.in_flight.begin(index, plan, task.cost);
    let begun = Instant::now();
    let attempt = caught(|| {
        let Some(not_by) = &batch.again else {
            observers.tell(EventKind::TaskBegun { worker, key });
            shared.faults.before_task(key);
            let counter = counters.of_tasks(plan);
            let result = count(counter, (&shared, worker, CountKind::Task), task, watch)?;
            let audit = shared
                .audit_of(index, plan)
                .draw(result.duration, task.cost);
            return Ok((result, audit));
        };
        let kind = match not_by.as_slice() {
            [] => CountKind::Task,
            _ => CountKind::ByOtherKernel,
        };
        let mut counter = counters.make(plan, kind, not_by);
        let result = count(counter.as_mut(), (&shared, worker, kind), task, watch)?;
        Ok((result, None))
    });
    let counted = match &attempt {
        Attempt::Counted(result, _) => Some(result.as_ref()),
        _ => None,
    };
    // To count a task again is no progress.
    let first = counted.filter(|_| batch.again.is_none());
    shared.in_flight.end(index, first);
    match &attempt {
        Attempt::Counted(result, _) if first.is_none() => {
            let took = result.duration;
            observers.tell(EventKind::CountedAgain { worker, key, took });
        }
        Attempt::Counted(result, _) => observers.tell(EventKind::TaskCounted(*result.clone())),
        _ if batch.again.is_some() => {}
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

/// What a try comes to that may panic.
fn caught(count: impl FnOnce() -> Result<(TaskResult, Option<Duration>), NotCounted>) -> Attempt {
    match catch_unwind(AssertUnwindSafe(count)) {
        Ok(Ok((result, audit))) => Attempt::Counted(Box::new(result), audit),
        Ok(Err(NotCounted::Mismatch(mismatch))) => Attempt::Mismatch(mismatch),
        Ok(Err(NotCounted::GivenUp(_))) => Attempt::GivenUp,
        Err(payload) => Attempt::Panic(panics::describe(payload.as_ref())),
    }
}

/// The result of a task that a worker counts.
fn count(
    counter: &mut dyn Counter,
    (shared, worker, kind): (&RunShared, WorkerId, CountKind),
    task: &Task,
    watch: &TaskWatch,
) -> Result<TaskResult, NotCounted> {
    let begun = Instant::now();
    let tally = counter.count_watched(task, watch)?;
    Ok(TaskResult {
        key: task.key,
        tally: shared.faults.tally(worker, kind, tally),
        duration: begun.elapsed(),
        origin: Origin {
            worker,
            counted_by: CountedBy::Cpu(counter.backend().into()),
        },
        audited_by: None,
    })
}
