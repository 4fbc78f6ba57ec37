use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::control::{Control, Request};
use super::eta::{PlanProgress, eta, seconds_per_cost, share};
use super::events::{EventKind, Observer, PlannedTasks};
use super::host_progress::HostProgress;
use super::live_progress::LiveProgress;
use super::observers::Observers;
use super::pause_reason::PauseReason;
use super::recent_speed::RecentSpeed;
use super::source::{Part, SupplySize, cost_of};
use super::state::RunState;
use crate::engine::{CostTable, Plan, TaskKey, TaskResult, TaskSet};
use crate::simd::Isa;

/// A run whose tasks other processes count. Whoever coordinates them tells it what is recorded, so that the run is
/// seen under its [`Control`] and by observers like any other.
pub struct OutsideRun {
    control: Control,
    observers: Observers,
    paused_for: Vec<PauseReason>,
    plans: Vec<(Arc<dyn Plan>, PlanProgress)>,
    recent: RecentSpeed,
    /// Tasks that are to be counted again. What they cost is noted once.
    withdrawn: BTreeSet<TaskKey>,
    tasks_done: u64,
    nodes: u64,
    solutions: u128,
}

/// The part of a recorded result by which progress is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The task.
    pub key: TaskKey,
    /// Nodes searched in it.
    pub nodes: u64,
    /// Its solutions: Σ weight × completions.
    pub solutions: u128,
    /// How long the count took.
    pub took: Duration,
}

impl From<&TaskResult> for Recorded {
    fn from(result: &TaskResult) -> Self {
        Self {
            key: result.key,
            nodes: result.tally.nodes,
            solutions: result.tally.completions.solutions(),
            took: result.duration,
        }
    }
}

impl OutsideRun {
    /// Begins to show a run of `plans`, each with the tasks of it that are recorded, under `control` and to
    /// `observers`.
    pub fn begin(
        plans: impl IntoIterator<Item = (Arc<dyn Plan>, TaskSet)>,
        control: &Control,
        observers: &[Arc<dyn Observer>],
    ) -> Self {
        let live = Arc::new(LiveProgress::begin());
        control.show(Arc::clone(&live));
        let observers = Observers::new(live, observers);
        observers.tell(EventKind::State(RunState::Planning));
        let mut tasks_done = 0;
        let plans: Vec<_> = plans.into_iter().collect();
        let mapped = plans.iter().map(|(plan, done)| {
            let recorded = Arc::new(done.clone());
            (plan.engine(), plan.tasks(), Part::WHOLE, recorded)
        });
        observers.progress().map_tasks(&mapped.collect::<Vec<_>>());
        let costs = CostTable::default();
        let plans = plans.into_iter().map(|(plan, done)| {
            tasks_done += done.len();
            let before = SupplySize {
                tasks: done.len(),
                cost: cost_of(plan.as_ref(), done.iter(), done.len()),
            };
            let left = SupplySize {
                tasks: plan.tasks() - before.tasks,
                cost: plan.total_cost() - before.cost,
            };
            // As if hosts were like this one.
            let expected = costs.seconds_per_cost(plan.engine(), plan.size(), Isa::best());
            let progress = PlanProgress::new(Some(left), before).expecting(expected);
            (plan, progress)
        });
        let mut run = Self {
            plans: plans.collect(),
            control: control.clone(),
            observers,
            paused_for: Vec::new(),
            recent: RecentSpeed::new(),
            withdrawn: BTreeSet::new(),
            tasks_done,
            nodes: 0,
            solutions: 0,
        };
        let planned = run.plans.iter();
        run.tell(EventKind::Planned {
            plans: planned
                .map(|(plan, _)| PlannedTasks::of(plan.as_ref()))
                .collect(),
            workers: Vec::new(),
        });
        run.tell(EventKind::State(RunState::Running));
        run.advance(0);
        run
    }

    /// These results are recorded now, and durable. `workers`: how many count at the same time.
    pub fn record(&mut self, results: &[Recorded], workers: usize) {
        for result in results {
            let of =
                |(plan, _): &&mut (Arc<dyn Plan>, PlanProgress)| plan.engine() == result.key.engine;
            if !self.withdrawn.remove(&result.key)
                && let Some((plan, progress)) = self.plans.iter_mut().find(of)
            {
                progress.add(plan.task(result.key.index).cost, result.took);
            }
            self.nodes += result.nodes;
            self.solutions += result.solutions;
        }
        self.tasks_done += results.len() as u64;
        let keys = results.iter().map(|result| result.key);
        self.observers.progress().map_counted(keys);
        if !results.is_empty() {
            let tasks = results.len() as u64;
            self.tell(EventKind::Checkpoint { tasks });
            self.advance(workers);
        }
    }

    /// A recorded task is to be counted again.
    pub fn withdraw(&mut self, key: TaskKey) {
        self.withdrawn.insert(key);
        self.tasks_done -= 1;
        self.tell(EventKind::Withdrawn { key });
    }

    fn advance(&mut self, workers: usize) {
        let plans: Vec<_> = self.plans.iter().map(|(_, progress)| *progress).collect();
        let costs = plans.iter().map(PlanProgress::measured_cost).collect();
        self.recent.note(Instant::now(), workers, costs);
        let level = self.recent.level(&seconds_per_cost(&plans));
        self.tell(EventKind::Advanced {
            tasks_done: self.tasks_done,
            tasks_total: Some(self.plans.iter().map(|(plan, _)| plan.tasks()).sum()),
            share: share(&plans),
            solutions: self.solutions,
            nodes: self.nodes,
            eta: eta(&plans, workers, level).filter(|_| workers > 0),
        });
    }

    /// Shows what the hosts do, and which ones are gone.
    pub fn show_hosts(&self, hosts: Vec<HostProgress>, gone: Vec<HostProgress>) {
        self.observers.progress().show_hosts(hosts, gone);
    }

    /// Whether it is to stop.
    pub fn is_draining(&self) -> bool {
        self.control.is_draining()
    }

    /// Whether no tasks are to be given out. Tells when that changes.
    pub fn is_paused(&mut self) -> bool {
        let reasons = match self.control.request() {
            Request::Pause(reasons) => reasons,
            Request::Run | Request::Drain => Vec::new(),
        };
        if !reasons.is_empty() {
            self.recent.interrupt();
        }
        if reasons != self.paused_for {
            if reasons.is_empty() {
                self.tell(EventKind::State(RunState::Running));
            } else {
                if self.paused_for.is_empty() {
                    self.tell(EventKind::State(RunState::Paused));
                }
                let reasons = reasons.clone();
                self.tell(EventKind::PausedFor { reasons });
            }
            self.paused_for = reasons;
        }
        !self.paused_for.is_empty()
    }

    /// The time since it began.
    pub fn elapsed(&self) -> Duration {
        self.observers.start().elapsed()
    }

    /// Tells of something that happened just now.
    pub fn tell(&self, kind: EventKind) {
        self.observers.tell(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::chain::ChainPlan;

    #[test]
    fn what_is_recorded_is_seen_under_the_control() {
        let plan: Arc<dyn Plan> = Arc::new(ChainPlan::new(Size::new(15).unwrap()));
        let mut before = TaskSet::default();
        before.insert(0);
        before.insert(1);
        let control = Control::new();
        let mut run = OutsideRun::begin([(Arc::clone(&plan), before)], &control, &[]);
        let begun = control.progress();
        assert_eq!(begun.state, RunState::Running);
        assert_eq!(
            (begun.tasks_done, begun.tasks_total),
            (2, Some(plan.tasks()))
        );
        assert!(begun.eta.is_none() && begun.share > Some(0.0));
        let results: Vec<_> = (2..plan.tasks())
            .map(|index| Recorded {
                key: plan.key(index),
                nodes: 10,
                solutions: 8,
                took: Duration::from_secs(1),
            })
            .collect();
        let (half, rest) = results.split_at(results.len() / 2);
        run.record(half, 4);
        let progress = control.progress();
        assert!(progress.share > begun.share && progress.share < Some(1.0));
        let left = progress.eta.unwrap().left.as_secs_f64();
        assert!(
            (0.2 * rest.len() as f64..0.3 * rest.len() as f64).contains(&left),
            "{left}"
        );
        assert_eq!(progress.durable, half.len() as u64);
        run.withdraw(half[0].key);
        run.record(&half[..1], 4);
        run.record(rest, 0);
        let progress = control.progress();
        assert_eq!(progress.tasks_done, plan.tasks());
        assert_eq!(progress.share, Some(1.0));
        assert!(progress.eta.is_none());
    }

    #[test]
    fn a_pause_is_told_when_it_begins_and_ends() {
        let control = Control::new();
        let mut run = OutsideRun::begin([], &control, &[]);
        assert!(!run.is_paused());
        control.pause();
        assert!(run.is_paused() && run.is_paused());
        let progress = control.progress();
        assert_eq!(progress.state, RunState::Paused);
        assert_eq!(progress.paused_for, [PauseReason::Asked]);
        control.resume();
        assert!(!run.is_paused());
        assert_eq!(control.progress().state, RunState::Running);
        control.drain();
        assert!(run.is_draining() && !run.is_paused());
    }
}
