use super::source::{Supply, SupplySize};
use crate::engine::Plan;

/// The tasks of one plan that were never handed out: what its source still gives.
pub(super) struct Fresh {
    walk: Box<dyn Iterator<Item = u64> + Send>,
    /// The next task with its cost; `None` if the source has ended.
    next: Option<(u64, f64)>,
    /// An index past the end of the plan that the source gave.
    beyond: Option<u64>,
    /// What the source was expected to give.
    expected: SupplySize,
    issued: u64,
    cost_issued: f64,
    pub(super) seconds_per_cost: Option<f64>,
}

impl Fresh {
    pub(super) fn new(supply: Supply, plan: &dyn Plan) -> Self {
        let mut fresh = Self {
            walk: supply.walk,
            next: None,
            beyond: None,
            expected: supply.size,
            issued: 0,
            cost_issued: 0.0,
            seconds_per_cost: None,
        };
        fresh.step(plan);
        fresh
    }

    fn step(&mut self, plan: &dyn Plan) {
        let next = self.walk.next();
        self.beyond = next.filter(|task| *task >= plan.tasks());
        let within = next.filter(|_| self.beyond.is_none());
        self.next = within.map(|task| (task, plan.task(task).cost));
    }

    /// The next task and its cost, if there is one.
    pub(super) const fn peek(&self) -> Option<(u64, f64)> {
        self.next
    }

    /// Takes the next task, with its cost.
    pub(super) fn take(&mut self, plan: &dyn Plan) -> Option<(u64, f64)> {
        let (task, cost) = self.next?;
        self.issued += 1;
        self.cost_issued += cost;
        self.step(plan);
        Some((task, cost))
    }

    /// The index past the end of the plan that the source gave, if it did; once.
    pub(super) const fn take_beyond(&mut self) -> Option<u64> {
        self.beyond.take()
    }

    /// Whether the source has ended.
    pub(super) const fn is_over(&self) -> bool {
        self.next.is_none()
    }

    /// The cost of what the source still gives. The costs of a plan's tasks may be more together than the plan expects, so
    /// this is at least the cost of the next one.
    pub(super) fn cost_left(&self) -> f64 {
        let next = self.peek().map_or(0.0, |(_, cost)| cost);
        (self.expected.cost - self.cost_issued).max(next)
    }

    /// The share of the tasks that was handed out.
    pub(super) fn issued(&self) -> f64 {
        self.issued as f64 / self.expected.tasks.max(1) as f64
    }

    pub(super) fn seconds_left(&self) -> f64 {
        self.cost_left() * self.seconds_per_cost.unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::source::{Source, WholePlans};
    use crate::colour::ColourPlan;

    #[test]
    fn as_long_as_there_is_a_task_its_cost_is_left() {
        let plan = ColourPlan::new(crate::board::Size::new(16).unwrap());
        // The source expects next to nothing.
        let size = SupplySize {
            tasks: plan.tasks(),
            cost: 1e-9,
        };
        let whole = WholePlans.open(&plan);
        let mut fresh = Fresh::new(Supply { size, ..whole }, &plan);
        while let Some((_, cost)) = fresh.peek() {
            assert!(fresh.cost_left() >= cost);
            fresh.take(&plan);
        }
        assert_eq!(fresh.cost_left(), 0.0);
    }
}
