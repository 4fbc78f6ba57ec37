//! Which tasks are counted, and what they add up to: each task once.

use std::time::Instant;

use crate::actors::{
    Costed, EventKind, PlanIndex, PlanProgress, RecentSpeed, Restored, SupplySize, WorkDone, eta,
};
use crate::engine::{Tally, TaskResult, TaskSet};

/// The counted tasks of all plans of a run.
pub(crate) struct CountedTasks {
    pub(crate) plans: Vec<CountedPlan>,
    /// Nodes of the restored tasks.
    nodes_restored: u64,
    recent: RecentSpeed,
}

/// What is expected of a plan counts as so many of its restored tasks: few of them may have no work at all.
const PRIOR: f64 = 5.0;

/// The counted tasks of one plan.
pub(crate) struct CountedPlan {
    /// Tasks counted before this run.
    before: Restored,
    /// Those that this run counted.
    counted: TaskSet,
    /// Those that two counts of this run agree on.
    twice: TaskSet,
    pub(crate) sum: Tally,
    pub(crate) progress: PlanProgress,
    /// Cost counted by CPU workers, and the seconds that took.
    pub(crate) cpu: (f64, f64),
}

impl CountedTasks {
    pub(crate) fn new(plans: Vec<CountedPlan>) -> Self {
        Self {
            nodes_restored: plans.iter().map(|plan| plan.sum.nodes).sum(),
            recent: RecentSpeed::new(),
            plans,
        }
    }

    /// The number of tasks counted and their sum, of each plan.
    pub(crate) fn sums(&self) -> Vec<(u64, Tally)> {
        let plans = self.plans.iter();
        plans.map(|plan| (plan.done(), plan.sum)).collect()
    }

    /// The tasks that two counts of this run agree on.
    pub(crate) fn twice(&self) -> u64 {
        self.plans.iter().map(|plan| plan.twice.len()).sum()
    }

    /// What all plans add up to. Nodes are those of this run: restored tasks say nothing about its
    /// speed.
    pub(crate) fn total(&self) -> Tally {
        let mut total: Tally = self.plans.iter().map(|plan| plan.sum).sum();
        total.nodes = total.nodes.saturating_sub(self.nodes_restored);
        total
    }

    /// How far the run is now, with what is in flight of each plan; while it does not count, it has no workers.
    pub(crate) fn advanced(&mut self, workers: usize, in_flight: Vec<WorkDone>) -> EventKind {
        let sum = self.total();
        let nodes = sum.nodes + in_flight.iter().map(|work| work.nodes).sum::<u64>();
        let found: u128 = in_flight.iter().map(|work| work.solutions).sum();
        let plans = self.plans.iter().zip(in_flight);
        let plans: Vec<_> = plans.map(|(of, work)| of.progress.with(work)).collect();
        let costs = plans.iter().map(PlanProgress::measured_cost).collect();
        self.recent.note(Instant::now(), workers, nodes, costs);
        let ratios = plans.iter().map(|of| of.seconds_per_cost().unwrap_or(0.0));
        let level = self.recent.level(&ratios.collect::<Vec<_>>());
        EventKind::Advanced {
            tasks_done: self.plans.iter().map(CountedPlan::done).sum(),
            tasks_total: plans.iter().map(PlanProgress::tasks).sum(),
            share: eta::share(&plans),
            solutions: sum.completions.solutions() + found,
            nodes,
            nodes_per_second: self.recent.nodes_per_second(),
            eta: eta::eta(&plans, workers, level),
        }
    }

    /// Adds a result, unless its task was added before: `false`. Sources give each task once, and whatever is counted
    /// again passes the rechecker.
    #[must_use]
    pub(crate) fn add(&mut self, plan: PlanIndex, Costed { result, cost, .. }: &Costed) -> bool {
        let plan = &mut self.plans[plan.0];
        let task = result.key.index;
        if plan.before.tasks.contains(task) || !plan.counted.insert(task) {
            return false;
        }
        plan.sum += result.tally;
        plan.progress.add(*cost, result.duration);
        if result.audited_by.is_some() {
            plan.twice.insert(task);
        }
        true
    }

    /// Notes that a second count agreed with what was added before.
    pub(crate) fn note_second(&mut self, plan: PlanIndex, task: u64) {
        self.plans[plan.0].twice.insert(task);
    }

    /// Puts a result that two counts agree on in the place of a wrong one that was added before, or restored.
    pub(crate) fn replace(&mut self, plan: PlanIndex, wrong: &TaskResult, right: &TaskResult) {
        let plan = &mut self.plans[plan.0];
        plan.sum -= wrong.tally;
        plan.sum += right.tally;
        plan.twice.insert(right.key.index);
        if plan.before.tasks.contains(wrong.key.index) {
            // Of restored tasks, nodes of the wrong counts were noted.
            self.nodes_restored = self
                .nodes_restored
                .saturating_add(right.tally.nodes)
                .saturating_sub(wrong.tally.nodes);
        }
    }

    /// Takes out a result that was added before. Its task is not counted any more.
    pub(crate) fn remove(&mut self, plan: PlanIndex, result: &TaskResult) {
        let plan = &mut self.plans[plan.0];
        plan.counted.remove(result.key.index);
        plan.sum -= result.tally;
    }
}

impl CountedPlan {
    /// A plan of which so much is to be counted, with the seconds of a CPU worker per unit of cost that are expected,
    /// if that is known.
    pub(crate) fn new(size: SupplySize, restored: &Restored, expected: Option<f64>) -> Self {
        let Restored { cost, on_cpu, .. } = *restored;
        let tasks = restored.tasks.len();
        // What restored tasks took tells more.
        let expected = expected.map(|expected| match on_cpu.is_zero() || tasks == 0 {
            true => expected,
            false => {
                let prior = PRIOR * cost / tasks as f64;
                (on_cpu.as_secs_f64() + expected * prior) / (cost + prior)
            }
        });
        Self {
            before: restored.clone(),
            counted: TaskSet::default(),
            twice: TaskSet::default(),
            sum: restored.sum,
            progress: PlanProgress::new(size, SupplySize { tasks, cost }, expected),
            cpu: (0.0, 0.0),
        }
    }

    /// The number of tasks counted or restored.
    pub(crate) fn done(&self) -> u64 {
        self.before.tasks.len() + self.counted.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::actors::telling::eta::eta;

    #[test]
    fn a_resumed_run_expects_what_its_recorded_tasks_took() {
        let left = SupplySize {
            tasks: 50,
            cost: 50.0,
        };
        // On a core that other programs used, too.
        let measured = |tasks, cost: f64, seconds| {
            let mut set = TaskSet::default();
            (0..tasks).for_each(|task| {
                set.insert(task);
            });
            Restored {
                tasks: Arc::new(set),
                cost,
                on_cpu: Duration::from_secs(seconds),
                ..Restored::default()
            }
        };
        for (restored, seconds) in [
            (measured(10_000, 100.0, 600), 299),
            (measured(5, 5.0, 30), 200),
            (measured(10_000, 100.0, 0), 100),
            (Restored::default(), 100),
        ] {
            let plan = CountedPlan::new(left, &restored, Some(2.0));
            let told = eta(&[plan.progress], 1, None).unwrap();
            assert_eq!((told.left.as_secs(), told.uncertainty), (seconds, None));
            // Nothing is expected of devices.
            let plan = CountedPlan::new(left, &restored, None);
            assert_eq!(eta(&[plan.progress], 1, None), None);
        }
    }
}
