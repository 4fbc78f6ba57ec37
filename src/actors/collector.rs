//! The collector: the only holder of what was counted.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Context, Handler, Recipient};
use tracing::{debug_span, trace};

use super::estimate::Work;
use super::floor::Floor;
use super::lifeline::Lifeline;
use super::messages::{Complete, Costed, Counted, Failure, Lost, Retry, Settled, Sum, Sums};
use super::queue::Batch;
use super::tasks::count_and_cost;
use super::{COLLECTOR, Control, LANES, RecordError, Recorder, RunError};
use crate::engine::{Plan, Tally, TaskKey, TaskResult, TaskSet};

/// How many tallies are kept to compare a second report with.
const REMEMBERED: usize = 1 << 15;

/// The least time between two values of the counter of nodes per second.
const RATE_EVERY: Duration = Duration::from_millis(20);

pub(super) struct Collector {
    pub(super) floor: Arc<Floor>,
    pub(super) control: Control,
    pub(super) complete: Recipient<Complete>,
    pub(super) failure: Recipient<Failure>,
    pub(super) settled: Recipient<Settled>,
    pub(super) retry: Recipient<Retry>,
    pub(super) _lifeline: Lifeline,
    pub(super) sums: Recipient<Sums>,
    pub(super) record: Record,
    /// Tasks that panicked once and were not counted since.
    pub(super) panicked: HashSet<TaskKey>,
    pub(super) rate: Rate,
}

/// Which tasks are counted, and what they add up to: each task once.
pub(super) struct Record {
    plans: Vec<PlanRecord>,
    /// Nodes of the restored tasks: no measure of the speed of this run.
    nodes_restored: u64,
    remembered: HashMap<(usize, u64), Tally>,
    oldest: VecDeque<(usize, u64)>,
}

struct PlanRecord {
    /// Tasks that were restored or are to be counted: all, but for a run of a part.
    tasks: u64,
    done: TaskSet,
    sum: Tally,
    work: Work,
    /// Cost counted by CPU workers, and the seconds that took.
    cpu: (f64, f64),
}

impl Record {
    pub(super) fn new(floor: &Floor) -> Self {
        let plans = floor
            .plans
            .iter()
            .map(|plan| match &floor.recorder {
                None => PlanRecord::new(plan.tasks(), plan.total_cost()),
                Some(recorder) => PlanRecord::restored(plan.as_ref(), recorder.as_ref()),
            })
            .collect::<Vec<_>>();
        Self {
            nodes_restored: plans.iter().map(|plan: &PlanRecord| plan.sum.nodes).sum(),
            plans,
            remembered: HashMap::new(),
            oldest: VecDeque::new(),
        }
    }

    /// The number of tasks recorded and their sum, of each plan.
    pub(super) fn sums(&self) -> Vec<(u64, Tally)> {
        let plans = self.plans.iter();
        plans.map(|plan| (plan.done.len(), plan.sum)).collect()
    }

    /// Records a task, or compares it if it was recorded before.
    ///
    /// # Errors
    /// The tallies differ, or can no longer be compared.
    fn add(&mut self, plan: usize, counted: &Costed) -> Result<(), String> {
        let TaskResult { key, tally, .. } = counted.result;
        let task = key.index;
        let record = &mut self.plans[plan];
        if !record.done.insert(task) {
            return match self.remembered.get(&(plan, task)) {
                Some(first) if first.agrees_with(&tally) => Ok(()),
                Some(first) => Err(format!("two counts differ: {first:?} and {tally:?}")),
                None => Err("counted again too late to compare the counts".to_owned()),
            };
        }
        record.sum += tally;
        record.work.add(counted.cost, counted.result.duration);
        if self.oldest.len() == REMEMBERED
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.remembered.remove(&oldest);
        }
        self.oldest.push_back((plan, task));
        self.remembered.insert((plan, task), tally);
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.plans.iter().all(|plan| plan.done.len() == plan.tasks)
    }
}

impl PlanRecord {
    fn new(tasks: u64, cost: f64) -> Self {
        Self {
            tasks,
            done: TaskSet::default(),
            sum: Tally::default(),
            work: Work::new(tasks, cost),
            cpu: (0.0, 0.0),
        }
    }

    /// What the recorder has of `plan`.
    fn restored(plan: &dyn Plan, recorder: &dyn Recorder) -> Self {
        let is_restored = |index| recorder.is_restored(plan.key(index));
        let is_pending = |index| recorder.is_pending(plan.key(index));
        let (tasks, cost) = count_and_cost(plan, |task| is_restored(task) || is_pending(task));
        let mut record = Self::new(tasks, cost);
        for task in (0..plan.tasks()).filter(|&task| is_restored(task)) {
            record.done.insert(task);
            record.work.restore(plan.task(task).cost);
        }
        record.sum = recorder.restored(plan.engine());
        record
    }
}

/// Nodes per second over the last moments.
pub(super) struct Rate {
    since: Instant,
    nodes: u64,
}

impl Rate {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            since: now,
            nodes: 0,
        }
    }
}

impl Collector {
    /// Hands a task to the recorder, if there is one.
    fn keep(&self, result: &TaskResult) -> Result<(), RunError> {
        let Some(recorder) = &self.floor.recorder else {
            return Ok(());
        };
        recorder
            .record(result.clone())
            .map_err(|error| self.record_error(error))
    }

    /// What ends the run if `error` does; it may be about a task that was handed over before.
    fn record_error(&self, error: RecordError) -> RunError {
        let (task, message) = match error {
            RecordError::Failed(message) => return RunError::Recorder(message),
            RecordError::Mismatch { task, message } => (task, message),
        };
        let mut plans = self.floor.plans.iter();
        let plan = plans.find(|plan| plan.engine() == task.engine);
        RunError::Mismatch {
            task,
            ranks: plan.map_or(0..0, |plan| plan.task(task.index).ranks),
            message,
        }
    }

    fn task_error(&self, plan: usize, task: u64, message: String) -> RunError {
        RunError::Mismatch {
            task: self.floor.key(plan, task),
            ranks: self.floor.plans[plan].task(task).ranks,
            message,
        }
    }

    /// A first panic is tried again elsewhere, a second one fails the run.
    fn note_panic(&mut self, worker: usize, plan: usize, task: u64, message: String) {
        let key = self.floor.key(plan, task);
        if !self.panicked.insert(key) {
            let ranks = self.floor.plans[plan].task(task).ranks;
            self.failure.do_send(Failure(RunError::TaskFailed {
                task: key,
                ranks,
                message,
            }));
        } else {
            self.retry.do_send(Retry {
                plan,
                task,
                not_on: worker,
            });
        }
    }

    fn settle(&self, left: Batch) {
        let record = &self.record.plans[left.plan];
        self.settled.do_send(Settled {
            seconds_per_cost: (record.cpu.0 > 0.0).then(|| record.cpu.1 / record.cpu.0),
            left,
        });
    }

    fn publish(&mut self) {
        let mut sum: Tally = self.record.plans.iter().map(|plan| plan.sum).sum();
        sum.nodes -= self.record.nodes_restored;
        self.control.publish(|view| {
            view.solutions = sum.completions.solutions();
            view.nodes = sum.nodes;
            view.tasks_total = self.record.plans.iter().map(|plan| plan.tasks).sum();
            view.tasks_done = self.record.plans.iter().map(|plan| plan.done.len()).sum();
            view.works.clear();
            view.works
                .extend(self.record.plans.iter().map(|plan| plan.work));
        });
        let passed = self.rate.since.elapsed();
        if passed >= RATE_EVERY || self.record.is_complete() {
            let rate = (sum.nodes - self.rate.nodes) as f64 / passed.as_secs_f64();
            trace!(target: LANES, counter = "nodes per second", nodes = rate);
            self.rate.since += passed;
            self.rate.nodes = sum.nodes;
        }
    }
}

impl Actor for Collector {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Self::Context) {
        self.publish();
        // Everything may have been restored.
        if self.record.is_complete() {
            self.complete.do_send(Complete);
        }
    }
}

impl Handler<Counted> for Collector {
    type Result = ();

    fn handle(&mut self, counted: Counted, _: &mut Self::Context) {
        let _span = debug_span!(
            target: LANES,
            "record",
            lane = COLLECTOR,
            tasks = counted.results.len(),
        )
        .entered();
        let plan = counted.plan;
        for costed in &counted.results {
            let Costed { result, cost } = costed;
            if let Err(message) = self.record.add(plan, costed) {
                let error = self.task_error(plan, result.key.index, message);
                self.failure.do_send(Failure(error));
            }
            if let Err(error) = self.keep(result) {
                self.failure.do_send(Failure(error));
            }
            self.panicked.remove(&result.key);
            if counted.worker < self.floor.workers {
                let cpu = &mut self.record.plans[plan].cpu;
                cpu.0 += cost;
                cpu.1 += result.duration.as_secs_f64();
            }
        }
        if let Some((task, message)) = counted.mismatch {
            let error = self.task_error(plan, task, message);
            self.failure.do_send(Failure(error));
        }
        for (task, message) in counted.panicked {
            self.note_panic(counted.worker, plan, task, message);
        }
        self.publish();
        if let Some(left) = counted.left {
            self.settle(left);
        }
        if self.record.is_complete() {
            self.complete.do_send(Complete);
        }
    }
}

impl Handler<Lost> for Collector {
    type Result = ();

    fn handle(&mut self, lost: Lost, _: &mut Self::Context) {
        let Lost(mut batch) = lost;
        let plan = batch.plan;
        let retry = batch.only.is_some();
        // What the worker reported before it died is recorded; what panicked before is on its way
        // to another worker, unless this batch was that way.
        batch.tasks.retain(|&task| {
            let panicked = self.panicked.contains(&self.floor.key(plan, task));
            !self.record.plans[plan].done.contains(task) && (retry || !panicked)
        });
        self.settle(batch);
    }
}

impl Handler<Sum> for Collector {
    type Result = ();

    fn handle(&mut self, _: Sum, _: &mut Self::Context) {
        if let Some(recorder) = &self.floor.recorder
            && let Err(error) = recorder.flush()
        {
            // Ahead of the sums, so that the run hears of it before it ends.
            self.failure.do_send(Failure(self.record_error(error)));
        }
        self.sums.do_send(Sums(self.record.sums()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::{CountedBy, Engine, Origin, WorkerId};

    fn record(tasks: u64) -> Record {
        Record {
            plans: vec![PlanRecord::new(tasks, tasks as f64)],
            nodes_restored: 0,
            remembered: HashMap::new(),
            oldest: VecDeque::new(),
        }
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
        Costed { result, cost: 1.0 }
    }

    #[test]
    fn a_second_report_that_agrees_is_not_added() {
        let mut record = record(2);
        record.add(0, &counted(0, 5, 7)).unwrap();
        record.add(0, &counted(0, 5, 8)).unwrap();
        assert_eq!(record.plans[0].sum.r90, 5);
        assert_eq!(record.plans[0].done.len(), 1);
        assert!(!record.is_complete());
        record.add(0, &counted(1, 1, 1)).unwrap();
        assert!(record.is_complete());
    }

    #[test]
    fn a_second_report_that_disagrees_is_an_error() {
        let mut record = record(2);
        record.add(0, &counted(0, 5, 7)).unwrap();
        let error = record.add(0, &counted(0, 6, 7)).unwrap_err();
        assert!(error.starts_with("two counts differ: "), "{error}");
    }

    #[test]
    fn a_second_report_that_comes_too_late_to_compare_is_an_error() {
        let tasks = REMEMBERED as u64 + 1;
        let mut record = record(tasks);
        for task in 0..tasks {
            record.add(0, &counted(task, 1, 1)).unwrap();
        }
        assert!(record.add(0, &counted(0, 1, 1)).is_err());
        assert!(record.add(0, &counted(1, 1, 1)).is_ok());
        assert_eq!(record.remembered.len(), REMEMBERED);
    }
}
