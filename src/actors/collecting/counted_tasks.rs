//! Which tasks are counted, and what they add up to: each task once.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hasher};
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
    /// Tasks counted before this run. The recorder has their tallies, and compares them if it is given
    /// one of them again.
    before: Restored,
    counted: Fingerprints,
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

    /// The same before anything is counted, with the seconds of a CPU worker per unit of cost that are
    /// expected for each plan, if that is known.
    pub(crate) fn expecting(mut self, seconds_per_cost: impl Fn(PlanIndex) -> Option<f64>) -> Self {
        for (at, plan) in self.plans.iter_mut().enumerate() {
            let expected = seconds_per_cost(PlanIndex(at));
            let expected = expected.map(|expected| plan.seconds_per_cost(expected));
            plan.progress = plan.progress.expecting(expected);
        }
        self
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
        self.recent.note(Instant::now(), workers, nodes, &plans);
        EventKind::Advanced {
            tasks_done: self.plans.iter().map(CountedPlan::done).sum(),
            tasks_total: plans.iter().map(PlanProgress::tasks).sum(),
            share: eta::share(&plans),
            solutions: sum.completions.solutions() + found,
            nodes,
            nodes_per_second: self.recent.nodes_per_second(),
            eta: eta::eta(&plans, workers, self.recent.level(&plans)),
        }
    }

    /// Adds a result, or compares it if its task was counted before.
    ///
    /// # Errors
    /// The two counts differ.
    pub(crate) fn add(&mut self, plan: PlanIndex, counted: &Costed) -> Result<(), String> {
        let result = &counted.result;
        let plan = &mut self.plans[plan.0];
        if plan.before.tasks.contains(result.key.index) {
            return Ok(());
        }
        let print = fingerprint(&result.tally);
        let slot = plan.counted.slot(result.key.index);
        match *slot {
            ABSENT => {
                *slot = print;
                plan.counted.len += 1;
                plan.sum += result.tally;
                plan.progress.add(counted.cost, result.duration);
                if result.audited_by.is_some() {
                    plan.twice.insert(result.key.index);
                }
                Ok(())
            }
            first if first == print => Ok(()),
            _ => Err(format!(
                "it was counted twice with different results; the second is {} by {} \
                 (of the first only a hash is kept in memory)",
                result.tally.exact(),
                result.origin.counted_by
            )),
        }
    }

    /// Notes that a second count agreed with what was added before.
    pub(crate) fn note_second(&mut self, plan: PlanIndex, task: u64) {
        self.plans[plan.0].twice.insert(task);
    }

    /// Puts a result that two counts agree on in the place of a wrong one that was added before, or restored.
    ///
    /// # Errors
    /// Another one was added.
    pub(crate) fn replace(
        &mut self,
        plan: PlanIndex,
        wrong: &TaskResult,
        right: &TaskResult,
    ) -> Result<(), String> {
        let plan = &mut self.plans[plan.0];
        let is_restored = plan.before.tasks.contains(wrong.key.index);
        if !is_restored && *plan.counted.slot(wrong.key.index) != fingerprint(&wrong.tally) {
            let wrong = wrong.tally.exact();
            return Err(format!("{wrong} is to be corrected, but was not added"));
        }
        plan.sum -= wrong.tally;
        plan.sum += right.tally;
        plan.twice.insert(right.key.index);
        if is_restored {
            // Of restored tasks, nodes of the wrong counts were noted.
            self.nodes_restored = self
                .nodes_restored
                .saturating_add(right.tally.nodes)
                .saturating_sub(wrong.tally.nodes);
        } else {
            *plan.counted.slot(wrong.key.index) = fingerprint(&right.tally);
        }
        Ok(())
    }

    /// Takes out a result that was added before. Its task is not counted any more.
    pub(crate) fn remove(&mut self, plan: PlanIndex, result: &TaskResult) {
        let plan = &mut self.plans[plan.0];
        if plan.counted.contains(result.key.index) {
            *plan.counted.slot(result.key.index) = ABSENT;
            plan.counted.len -= 1;
            plan.sum -= result.tally;
        }
    }
}

impl CountedPlan {
    /// A plan of which so much is to be counted.
    pub(crate) fn new(size: SupplySize, restored: &Restored) -> Self {
        let before = SupplySize {
            tasks: restored.tasks.len(),
            cost: restored.cost,
        };
        Self {
            before: restored.clone(),
            counted: Fingerprints::default(),
            twice: TaskSet::default(),
            sum: restored.sum,
            progress: PlanProgress::new(size, before),
            cpu: (0.0, 0.0),
        }
    }

    /// Seconds of a CPU worker per unit of cost by what restored tasks took, where so many were expected.
    fn seconds_per_cost(&self, expected: f64) -> f64 {
        let Restored { cost, on_cpu, .. } = self.before;
        if on_cpu.is_zero() || self.before.tasks.is_empty() {
            return expected;
        }
        let prior = PRIOR * cost / self.before.tasks.len() as f64;
        (on_cpu.as_secs_f64() + expected * prior) / (cost + prior)
    }

    /// The number of tasks counted or restored.
    pub(crate) fn done(&self) -> u64 {
        self.before.tasks.len() + self.counted.len
    }

    pub(crate) fn contains(&self, task: u64) -> bool {
        self.before.tasks.contains(task) || self.counted.contains(task)
    }
}

/// Tasks of a page.
const PAGE: u64 = 16;

/// No task of a fingerprint.
const ABSENT: u32 = 0;

/// The tasks of one plan that this process counted, each with a 32-bit fingerprint of what was counted.
///
/// A second count that differs from the first has another fingerprint, but for one chance in 2³².
/// So a task that is delivered again is recognised however long ago the first count was. A recorder
/// compares the tallies themselves as well.
///
/// Memory: tasks lie in pages of 16 neighbours, 72 bytes each, in a B-tree that is about 70 % full.
/// That is some 6.5 bytes a task when every task of the plan is counted, and at most some 100 bytes a
/// task while counted tasks are far apart. The chain has 2²⁸ tasks at n = 27, which are 1.7 GB, and 2³¹
/// at n = 28, which are 14 GB. A task of these boards takes seconds, so the memory of a machine grows
/// by some megabytes for each day and core, and a process that resumes the run begins with none.
#[derive(Default)]
struct Fingerprints {
    pages: BTreeMap<u64, [u32; PAGE as usize]>,
    len: u64,
}

impl Fingerprints {
    fn contains(&self, task: u64) -> bool {
        let page = self.pages.get(&(task / PAGE));
        page.is_some_and(|page| page[(task % PAGE) as usize] != ABSENT)
    }

    fn slot(&mut self, task: u64) -> &mut u32 {
        let page = self.pages.entry(task / PAGE).or_default();
        &mut page[(task % PAGE) as usize]
    }
}

/// A hash of the exact part of a tally, never [`ABSENT`].
fn fingerprint(tally: &Tally) -> u32 {
    let mut hash = DefaultHasher::new();
    for completions in tally.completions.by_weight() {
        hash.write_u128(completions);
    }
    hash.write_u128(tally.r180);
    hash.write_u128(tally.r90);
    hash.write_u64(tally.partitions);
    (hash.finish() as u32).max(ABSENT + 1)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::actors::telling::eta::eta;
    use crate::board::Size;
    use crate::engine::{CountedBy, Engine, Origin, TaskKey, TaskResult, WorkerId};

    fn tasks(tasks: u64) -> CountedTasks {
        let size = SupplySize {
            tasks,
            cost: tasks as f64,
        };
        let plan = CountedPlan::new(size, &Restored::default());
        CountedTasks::new(vec![plan])
    }

    fn counted(task: u64, r90: u128, nodes: u64) -> Costed {
        let result = TaskResult {
            key: TaskKey {
                n: Size::new(8).unwrap(),
                engine: Engine::Chain,
                version: 1,
                index: task,
            },
            tally: Tally {
                r90,
                nodes,
                ..Tally::default()
            },
            origin: Origin {
                worker: WorkerId::Cpu(0),
                counted_by: CountedBy::Cpu("scalar".into()),
            },
            audited_by: None,
            duration: Duration::from_millis(1),
        };
        Costed::again(result, 1.0)
    }

    #[test]
    fn a_second_result_is_compared_however_late_it_comes() {
        let many = 100_000;
        let mut tasks = tasks(many);
        for task in 0..many {
            let r90 = u128::from(task) << 70;
            tasks.add(PlanIndex(0), &counted(task, r90, 1)).unwrap();
        }
        let sum = tasks.plans[0].sum;
        for task in [0, 1, 50_000, many - 1] {
            let r90 = u128::from(task) << 70;
            tasks.add(PlanIndex(0), &counted(task, r90, 2)).unwrap();
            let error = tasks
                .add(PlanIndex(0), &counted(task, r90 + 1, 1))
                .unwrap_err();
            assert!(error.contains("quarter turn"), "{error}");
        }
        assert_eq!((tasks.plans[0].sum, tasks.plans[0].done()), (sum, many));
    }

    #[test]
    fn every_exact_field_is_in_the_fingerprint_and_effort_is_not() {
        let tally = counted(0, 3, 5).result.tally;
        let mut more = vec![tally];
        for weight in [1, 2, 4, 8] {
            let mut other = tally;
            other.completions.add(weight, 1 << 100);
            more.push(other);
        }
        more.push(Tally { r180: 1, ..tally });
        more.push(Tally { r90: 4, ..tally });
        more.push(Tally {
            partitions: 1,
            ..tally
        });
        for (at, one) in more.iter().enumerate() {
            assert!(
                more[..at]
                    .iter()
                    .all(|other| fingerprint(other) != fingerprint(one))
            );
        }
        let effort = Tally { nodes: 6, ..tally };
        assert_eq!(fingerprint(&effort), fingerprint(&tally));
    }

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
            let plan = CountedPlan::new(left, &restored);
            let tasks = CountedTasks::new(vec![plan]).expecting(|_| Some(2.0));
            let told = eta(&[tasks.plans[0].progress], 1, None).unwrap();
            assert_eq!((told.left.as_secs(), told.uncertainty), (seconds, None));
            // Nothing is expected of devices.
            let plan = CountedPlan::new(left, &restored);
            let tasks = CountedTasks::new(vec![plan]).expecting(|_| None);
            assert_eq!(eta(&[tasks.plans[0].progress], 1, None), None);
        }
    }

    #[test]
    fn what_was_restored_is_left_to_the_recorder_to_compare() {
        let mut set = TaskSet::default();
        set.insert(7);
        let restored = Restored {
            tasks: Arc::new(set),
            sum: counted(7, 9, 4).result.tally,
            cost: 1.0,
            on_cpu: Duration::ZERO,
        };
        let mut tasks = CountedTasks::new(vec![CountedPlan::new(SupplySize::default(), &restored)]);
        assert!(tasks.plans[0].contains(7) && !tasks.plans[0].contains(8));
        assert_eq!((tasks.plans[0].done(), tasks.nodes_restored), (1, 4));
        tasks.add(PlanIndex(0), &counted(7, 1, 1)).unwrap();
        assert_eq!(tasks.sums(), [(1, restored.sum)]);
    }
}
