use std::time::{Duration, Instant};

use super::source::{Step, Supply, SupplySize, Walk};
use crate::engine::Plan;

/// The longest wait before a source is asked again.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// The tasks of one plan that were never handed out: what its source still gives.
pub(super) struct Fresh {
    walk: Box<dyn Walk>,
    next: Next,
    /// An index past the end of the plan that the source gave.
    beyond: Option<u64>,
    /// What the source was expected to give, or at most if it does not know.
    expected: SupplySize,
    issued: u64,
    cost_issued: f64,
    pub(super) seconds_per_cost: Option<f64>,
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum Next {
    /// This task, with its cost.
    Task(u64, f64),
    /// Nothing before this moment.
    Later(Instant),
    /// Nothing ever.
    End,
}

impl Fresh {
    pub(super) fn new(supply: Supply, plan: &dyn Plan) -> Self {
        let most = || SupplySize {
            tasks: plan.tasks(),
            cost: plan.total_cost(),
        };
        let expected = supply.size.unwrap_or_else(most);
        Self {
            walk: supply.walk,
            next: Next::Later(Instant::now()),
            beyond: None,
            expected,
            issued: 0,
            cost_issued: 0.0,
            seconds_per_cost: None,
        }
    }

    /// Asks the source if it said to ask again, and the time has come.
    pub(super) fn look(&mut self, plan: &dyn Plan) {
        if let Next::Later(at) = self.next
            && at <= Instant::now()
        {
            self.step(plan);
        }
    }

    fn step(&mut self, plan: &dyn Plan) {
        self.next = match self.walk.step() {
            Step::Task(task) if task >= plan.tasks() => {
                self.beyond = Some(task);
                Next::End
            }
            Step::Task(task) => Next::Task(task, plan.task(task).cost),
            Step::Later(after) => Next::Later(Instant::now() + after.min(LONGEST_WAIT)),
            Step::End => Next::End,
        };
    }

    /// The next task and its cost, if there is one now.
    pub(super) const fn peek(&self) -> Option<(u64, f64)> {
        match self.next {
            Next::Task(task, cost) => Some((task, cost)),
            Next::Later(_) | Next::End => None,
        }
    }

    /// Takes the next task, with its cost.
    pub(super) fn take(&mut self, plan: &dyn Plan) -> Option<(u64, f64)> {
        let (task, cost) = self.peek()?;
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
        matches!(self.next, Next::End)
    }

    /// How long to wait before the source is to be asked again, if it has nothing now.
    pub(super) fn wait(&self) -> Option<Duration> {
        match self.next {
            Next::Later(at) => Some(at.saturating_duration_since(Instant::now())),
            Next::Task(..) | Next::End => None,
        }
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
        let size = Some(SupplySize {
            tasks: plan.tasks(),
            cost: 1e-9,
        });
        let whole = WholePlans.open(&plan);
        let mut fresh = Fresh::new(Supply { size, ..whole }, &plan);
        fresh.look(&plan);
        while let Some((_, cost)) = fresh.peek() {
            assert!(fresh.cost_left() >= cost);
            fresh.take(&plan);
        }
        assert_eq!(fresh.cost_left(), 0.0);
    }
}
