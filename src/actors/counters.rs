//! The counters of a worker: which kernel counts what.

use std::sync::Arc;

use super::{CountKind, PlanIndex, RunShared, WorkerIndex};
use crate::engine::{CountedBy, Counter, WorkerId, other_counter};

/// The counters of one worker.
pub(super) struct Counters {
    pub(super) shared: Arc<RunShared>,
    pub(super) worker: WorkerIndex,
    /// For the tasks of each plan, made when first needed.
    made: Vec<Option<Box<dyn Counter>>>,
}

impl Counters {
    pub(super) fn new(shared: Arc<RunShared>, worker: WorkerIndex) -> Self {
        Self {
            made: shared.plan_indices().map(|_| None).collect(),
            shared,
            worker,
        }
    }

    /// The name of the worker.
    pub(super) fn id(&self) -> WorkerId {
        self.shared.roster.id(self.worker)
    }

    /// The one for the tasks of a plan.
    pub(super) fn of_tasks(&mut self, plan: PlanIndex) -> &mut dyn Counter {
        let made = self.made[plan.0].take();
        let counter = made.unwrap_or_else(|| self.make(plan, CountKind::Task, &[]));
        self.made[plan.0].insert(counter).as_mut()
    }

    /// Frees that one. Two counters at once could need twice the memory, and after a panic its state is
    /// unknown.
    pub(super) fn free(&mut self, plan: PlanIndex) {
        self.made[plan.0] = None;
    }

    /// Frees all of them.
    pub(super) fn clear(&mut self) {
        self.made.iter_mut().for_each(|counter| *counter = None);
    }

    /// A new counter for a plan. Tasks that were counted take none of the kernels `used`, if there is
    /// another one.
    pub(super) fn make(
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
