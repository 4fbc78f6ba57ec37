//! The tasks in flight: those that the workers of a run count on the CPU, how far they are, and
//! giving them up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::actors::{PlanIndex, WorkerIndex};
use crate::engine::{TaskResult, TaskWatch};

/// How long tasks in flight may go on after a run was asked to stop or to pause. Then they are given up.
/// It must leave the counters time to look at their watches within two seconds after the request, also
/// on a busy machine.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// Work that is done of the tasks of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WorkDone {
    pub(crate) nodes: u64,
    pub(crate) solutions: u128,
    /// In core-seconds by the plan's estimate.
    pub(crate) cost: f64,
    /// The same of the whole tasks that this is work of.
    pub(crate) begun: f64,
    /// Time of workers.
    pub(crate) seconds: f64,
}

impl WorkDone {
    fn of(result: &TaskResult, cost: f64) -> Self {
        Self {
            nodes: result.tally.nodes,
            solutions: result.tally.completions.solutions(),
            cost,
            begun: cost,
            seconds: result.duration.as_secs_f64(),
        }
    }

    fn add(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.solutions += other.solutions;
        self.cost += other.cost;
        self.begun += other.begun;
        self.seconds += other.seconds;
    }

    fn remove(&mut self, other: &Self) {
        self.nodes = self.nodes.saturating_sub(other.nodes);
        self.solutions = self.solutions.saturating_sub(other.solutions);
        self.cost = (self.cost - other.cost).max(0.0);
        self.begun = (self.begun - other.begun).max(0.0);
        self.seconds = (self.seconds - other.seconds).max(0.0);
    }
}

/// The tasks that the workers of a run count on the CPU.
pub(crate) struct InFlight {
    give_up: Arc<AtomicBool>,
    tasks: Vec<WatchedTask>,
    plans: usize,
}

/// The task that one worker counts.
struct WatchedTask {
    watch: TaskWatch,
    account: Mutex<Account>,
}

struct Account {
    /// Per plan, what the worker counted and the collector does not know yet.
    counted: Vec<WorkDone>,
    /// The task in flight: its plan, its cost, and when it was begun.
    task: Option<(PlanIndex, f64, Instant)>,
}

impl InFlight {
    /// For so many workers and plans.
    pub(crate) fn new(workers: usize, plans: usize) -> Self {
        let give_up = Arc::new(AtomicBool::new(false));
        let watched = |_| WatchedTask {
            watch: TaskWatch::new(Arc::clone(&give_up)),
            account: Mutex::new(Account {
                counted: vec![WorkDone::default(); plans],
                task: None,
            }),
        };
        Self {
            tasks: (0..workers).map(watched).collect(),
            give_up,
            plans,
        }
    }

    /// Notes that a worker begins to count a task of a plan. Returns the watch over it.
    pub(crate) fn begin(&self, worker: WorkerIndex, plan: PlanIndex, cost: f64) -> &TaskWatch {
        let watched = &self.tasks[worker.0];
        let mut account = watched.account.lock();
        watched.watch.note(Default::default());
        account.task = Some((plan, cost, Instant::now()));
        &watched.watch
    }

    /// Notes that a worker has no task in flight any more: it has counted it, or gave it up.
    pub(crate) fn end(&self, worker: WorkerIndex, counted: Option<&TaskResult>) {
        let watched = &self.tasks[worker.0];
        let mut account = watched.account.lock();
        if let Some((plan, cost, _)) = account.task.take()
            && let Some(result) = counted
        {
            account.counted[plan.0].add(&WorkDone::of(result, cost));
        }
        watched.watch.note(Default::default());
    }

    /// Notes that the collector has a result that a worker counted on the CPU.
    pub(crate) fn collect(
        &self,
        worker: WorkerIndex,
        plan: PlanIndex,
        result: &TaskResult,
        cost: f64,
    ) {
        let mut account = self.tasks[worker.0].account.lock();
        account.counted[plan.0].remove(&WorkDone::of(result, cost));
    }

    /// For each plan, what the workers did that the collector does not know yet.
    pub(crate) fn work(&self) -> Vec<WorkDone> {
        let mut work = vec![WorkDone::default(); self.plans];
        for watched in &self.tasks {
            let account = watched.account.lock();
            for (work, counted) in work.iter_mut().zip(&account.counted) {
                work.add(counted);
            }
            if let Some((plan, cost, begun)) = account.task {
                let progress = watched.watch.progress();
                let share = progress.share.clamp(0.0, 1.0);
                work[plan.0].add(&WorkDone {
                    nodes: progress.nodes,
                    solutions: progress.solutions.into(),
                    cost: share * cost,
                    begun: cost,
                    // Time says nothing about the speed before a share is known.
                    seconds: if share > 0.0 {
                        begun.elapsed().as_secs_f64()
                    } else {
                        0.0
                    },
                });
            }
        }
        work
    }

    /// From now on, or no longer, tasks in flight are to be given up.
    pub(crate) fn set_give_up(&self, give_up: bool) {
        self.give_up.store(give_up, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::{CountedBy, Engine, Origin, Tally, TaskKey, TaskProgress, WorkerId};

    const CPU: WorkerIndex = WorkerIndex(1);
    const PLAN: PlanIndex = PlanIndex(1);

    #[test]
    fn work_is_in_flight_until_the_collector_has_it() {
        let in_flight = InFlight::new(2, 2);
        in_flight.begin(CPU, PLAN, 4.0).note(TaskProgress {
            nodes: 100,
            solutions: 8,
            share: 0.25,
        });
        let work = in_flight.work();
        assert_eq!(work[0], WorkDone::default());
        assert_eq!((work[1].nodes, work[1].solutions), (100, 8));
        assert!((work[1].cost - 1.0).abs() < 1e-12);
        assert_eq!(work[1].begun, 4.0);
        let result = TaskResult {
            key: TaskKey {
                n: Size::new(8).unwrap(),
                engine: Engine::Chain,
                version: 1,
                index: 0,
            },
            tally: Tally {
                nodes: 300,
                ..Tally::default()
            },
            origin: Origin {
                worker: WorkerId::Cpu(1),
                counted_by: CountedBy::Cpu("scalar".into()),
            },
            audited_by: None,
            duration: Duration::from_secs(2),
        };
        in_flight.end(CPU, Some(&result));
        let work = in_flight.work()[1];
        assert_eq!((work.nodes, work.cost, work.seconds), (300, 4.0, 2.0));
        in_flight.collect(CPU, PLAN, &result, 4.0);
        assert_eq!(in_flight.work(), [WorkDone::default(); 2]);
        in_flight.begin(CPU, PlanIndex(0), 1.0).note(TaskProgress {
            nodes: 7,
            ..TaskProgress::default()
        });
        in_flight.end(CPU, None);
        assert_eq!(in_flight.work(), [WorkDone::default(); 2]);
    }
}
