//! One try of a task on the CPU, and the counters of a worker for it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use tracing::warn;

use crate::actors::{
    Batch, CanarySchedule, Costed, CountKind, Counted, EventKind, PlanIndex, RunShared,
    WorkerIndex, panics,
};
use crate::engine::{
    CountedBy, Counter, NotCounted, Origin, Task, TaskResult, TaskWatch, WorkerId, other_counter,
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

/// Tries a task of `batch`, tells how that goes, and adds to `message` what came of it. Returns how many nodes were
/// searched; `None` if the run stops or pauses, and the task took too long.
pub(crate) fn try_task(
    counters: &mut Counters,
    canaries: &mut CanarySchedule,
    batch: &Batch,
    task: &Task,
    message: &mut Counted,
) -> Option<u64> {
    let (shared, index, plan) = (Arc::clone(&counters.shared), counters.worker, batch.plan);
    let (worker, key, observers) = (counters.id(), task.key, &shared.observers);
    // To count a task again is no progress, and tells nothing of its tries.
    let is_first = batch.again.is_none();
    if !is_first {
        counters.free(plan);
    }
    let watch = shared.in_flight.begin(index, plan, task.cost);
    let begun = Instant::now();
    let counted = catch_unwind(AssertUnwindSafe(|| count(counters, batch, task, watch)));
    let result = counted
        .as_ref()
        .ok()
        .and_then(|counted| counted.as_ref().ok());
    shared.in_flight.end(index, result.filter(|_| is_first));
    let told = match counted {
        Ok(Ok(result)) => {
            let (nodes, took, cost) = (result.tally.nodes, result.duration, task.cost);
            let draw = || shared.audit_of(index, plan).draw(took, cost);
            let audit = if is_first { draw() } else { None };
            observers.tell(match is_first {
                true => EventKind::TaskCounted(result.clone()),
                false => EventKind::CountedAgain { worker, key, took },
            });
            canaries.note(1, took);
            message.results.push(Costed {
                result,
                cost,
                audit,
            });
            return Some(nodes);
        }
        Ok(Err(NotCounted::Mismatch(mismatch))) => {
            message.mismatch = Some((key.index, mismatch.to_string()));
            return Some(0);
        }
        Ok(Err(NotCounted::GivenUp(_))) => {
            let after = begun.elapsed();
            EventKind::TaskGivenUp { worker, key, after }
        }
        Err(payload) => {
            let said = panics::describe(payload.as_ref());
            warn!(worker = worker.to_string(), task = %key, "panic: {said}");
            message.panicked.push((key.index, said.clone()));
            EventKind::TaskPanicked {
                worker,
                key,
                message: said,
            }
        }
    };
    counters.free(plan);
    let searched = matches!(told, EventKind::TaskPanicked { .. }).then_some(0);
    if is_first {
        observers.tell(told);
    }
    searched
}

/// Counts a task of `batch`: for the first time, or again by none of the kernels that counted it; by the kernel of the
/// worker if there are none.
fn count(
    counters: &mut Counters,
    batch: &Batch,
    task: &Task,
    watch: &TaskWatch,
) -> Result<TaskResult, NotCounted> {
    let (shared, worker) = (Arc::clone(&counters.shared), counters.id());
    let mut made;
    let (kind, counter) = match batch.again.as_deref() {
        None => {
            let key = task.key;
            shared.observers.tell(EventKind::TaskBegun { worker, key });
            shared.faults.before_task(key);
            (CountKind::Task, counters.of_tasks(batch.plan))
        }
        Some(not_by) => {
            let kind = match not_by {
                [] => CountKind::Task,
                _ => CountKind::ByOtherKernel,
            };
            made = counters.make(batch.plan, kind, not_by);
            (kind, made.as_mut())
        }
    };
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
