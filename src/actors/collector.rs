//! The collector decides that a task is done. It is the only holder of what was counted.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, AsyncContext, Context, Handler, Recipient};

use super::counted_tasks::{CountedPlan, CountedTasks};
use super::death_notice::DeathNotice;
use super::doubt::Doubts;
use super::eta::{self, PlanProgress};
use super::events::EventKind;
use super::index::{PlanIndex, WorkerIndex};
use super::messages::{
    CanaryCounted, Check, Checked, Costed, Counted, Durable, Leave, LostBatch, Recount, Retry,
    RunFailed, Settled, Sum, Sums,
};
use super::queue::Batch;
use super::recent_speed::RecentSpeed;
use super::recorder::{Flushed, RecordError};
use super::report::RunError;
use super::shared::RunShared;
use super::spec::SumCheck;
use crate::engine::{Engine, TaskKey, TaskResult};

/// The least time between two values of the counter of nodes per second in a trace.
const RATE_EVERY: Duration = Duration::from_millis(20);

/// How often the progress is reported while no task ends.
const TELL_EVERY: Duration = Duration::from_millis(200);

pub(super) struct Collector {
    pub(super) shared: Arc<RunShared>,
    pub(super) failure: Recipient<RunFailed>,
    pub(super) settled: Recipient<Settled>,
    pub(super) retry: Recipient<Retry>,
    pub(super) recount: Recipient<Recount>,
    pub(super) leave: Recipient<Leave>,
    pub(super) checked: Recipient<Checked>,
    /// Compares the sums with what is known.
    pub(super) check: Option<SumCheck>,
    pub(super) doubts: Doubts,
    pub(super) _death_notice: DeathNotice,
    pub(super) sums: Recipient<Sums>,
    pub(super) tasks: CountedTasks,
    /// Tasks that panicked once and are not counted yet.
    pub(super) panicked: HashSet<TaskKey>,
    pub(super) rate: Rate,
    pub(super) recent: RecentSpeed,
}

/// From when and from how many nodes on the next value of that counter is measured.
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
    /// Whether results of a plan are kept in memory, because it may turn out that they are wrong.
    fn keeps(&self, plan: PlanIndex) -> bool {
        let spec = &self.shared.spec;
        (spec.canary.is_some() || spec.check.is_some())
            && self.shared.plan(plan).engine() != Engine::Own
    }

    /// Hands a result to the recorder, if there is one.
    fn keep(&self, result: &TaskResult) -> Result<(), RunError> {
        let Some(recorder) = &self.shared.spec.recorder else {
            return Ok(());
        };
        recorder
            .record(result.clone())
            .map_err(|error| self.record_error(error))
    }

    /// The error of the run that `error` of the recorder causes. It may be about an earlier result.
    pub(super) fn record_error(&self, error: RecordError) -> RunError {
        let (task, message) = match error {
            RecordError::Failed(message) => return RunError::Recorder(message),
            RecordError::Mismatch { task, message } => (task, message),
        };
        let mut plans = self.shared.spec.plans.iter();
        let plan = plans.find(|plan| plan.engine() == task.engine);
        RunError::Mismatch {
            task,
            ranks: plan.map_or(0..0, |plan| plan.ranks_of(task.index)),
            message,
        }
    }

    pub(super) fn task_error(&self, plan: PlanIndex, task: u64, message: String) -> RunError {
        RunError::Mismatch {
            task: self.shared.key(plan, task),
            ranks: self.shared.plan(plan).ranks_of(task),
            message,
        }
    }

    /// A task that panicked once is tried again elsewhere. A second panic fails the run.
    fn note_panic(&mut self, worker: WorkerIndex, plan: PlanIndex, task: u64, message: String) {
        let key = self.shared.key(plan, task);
        if !self.panicked.insert(key) {
            let ranks = self.shared.plan(plan).ranks_of(task);
            self.failure.do_send(RunFailed(RunError::TaskFailed {
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
        let (cost, seconds) = self.tasks.plans[left.plan.0].cpu;
        self.settled.do_send(Settled {
            seconds_per_cost: (cost > 0.0).then(|| seconds / cost),
            left,
        });
    }

    /// Tells how far the run is, with what the workers have in hand.
    fn tell_advance(&mut self) {
        let sum = self.tasks.total();
        let in_flight = self.shared.in_flight.work();
        let nodes = sum.nodes + in_flight.iter().map(|work| work.nodes).sum::<u64>();
        let found: u128 = in_flight.iter().map(|work| work.solutions).sum();
        let plans = &self.tasks.plans;
        let progress: Vec<_> = plans
            .iter()
            .zip(in_flight)
            .map(|(of, work)| of.progress.with(work))
            .collect();
        let share = eta::share(&progress);
        let hands = self.shared.roster.workers_left();
        if self.shared.is_halted() {
            self.recent.interrupt();
        } else {
            let costs = progress.iter().map(PlanProgress::measured_cost);
            self.recent.note(Instant::now(), hands, costs.collect());
        }
        let level = self.recent.level(&eta::seconds_per_cost(&progress));
        self.shared.observers.tell(EventKind::Advanced {
            tasks_done: plans.iter().map(CountedPlan::done).sum(),
            tasks_total: progress.iter().map(|plan| plan.tasks()).sum(),
            share,
            solutions: sum.completions.solutions() + found,
            nodes,
            eta: eta::eta(&progress, hands, level),
        });
        if self.rate.since.elapsed() >= RATE_EVERY {
            self.tell_speed(nodes);
        }
    }

    fn tell_speed(&mut self, nodes: u64) {
        let passed = self.rate.since.elapsed();
        if nodes > self.rate.nodes || passed >= RATE_EVERY {
            // Fewer than before if tasks were given up.
            let rate = nodes.saturating_sub(self.rate.nodes) as f64 / passed.as_secs_f64();
            self.shared.observers.tell(EventKind::Speed {
                nodes_per_second: rate,
            });
            self.rate.since += passed;
            self.rate.nodes = nodes;
        }
    }
}

impl Collector {
    /// Adds a result to the sums, and has it recorded.
    pub(super) fn sum_up(&mut self, worker: WorkerIndex, plan: PlanIndex, costed: Costed) {
        if let Err(message) = self.tasks.add(plan, &costed) {
            let error = self.task_error(plan, costed.result.key.index, message);
            self.failure.do_send(RunFailed(error));
        }
        let Costed { result, cost, .. } = costed;
        if let Err(error) = self.keep(&result) {
            self.failure.do_send(RunFailed(error));
        }
        if self.shared.roster.is_cpu(worker) {
            let cpu = &mut self.tasks.plans[plan.0].cpu;
            cpu.0 += cost;
            cpu.1 += result.duration.as_secs_f64();
            let in_flight = &self.shared.in_flight;
            in_flight.collect(worker, plan, &result, cost);
        }
        if self.keeps(plan) {
            self.doubts.kept.add(worker, plan, result);
        }
    }
}

impl Handler<CanaryCounted> for Collector {
    type Result = ();

    fn handle(&mut self, counted: CanaryCounted, _: &mut Self::Context) {
        self.hear_canary(counted);
    }
}

impl Handler<Check> for Collector {
    type Result = ();

    fn handle(&mut self, _: Check, _: &mut Self::Context) {
        self.check_sums();
    }
}

impl Actor for Collector {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        self.tell_advance();
        context.run_interval(TELL_EVERY, |collector, _| collector.tell_advance());
    }
}

impl Handler<Counted> for Collector {
    type Result = ();

    fn handle(&mut self, counted: Counted, _: &mut Self::Context) {
        let start = Instant::now();
        let tasks = counted.results.len();
        let plan = counted.plan;
        for costed in counted.results {
            self.panicked.remove(&costed.result.key);
            self.hear(counted.worker, plan, costed);
        }
        if let Some((task, message)) = counted.mismatch {
            let error = self.task_error(plan, task, message);
            self.failure.do_send(RunFailed(error));
        }
        for (task, message) in counted.panicked {
            self.note_panic(counted.worker, plan, task, message);
        }
        self.tell_advance();
        if let Some(left) = counted.left {
            self.settle(left);
        }
        let observers = &self.shared.observers;
        let time = observers.span(start, Instant::now());
        observers.tell(EventKind::Collected { tasks, time });
    }
}

impl Handler<LostBatch> for Collector {
    type Result = ();

    fn handle(&mut self, lost: LostBatch, _: &mut Self::Context) {
        let LostBatch(mut batch) = lost;
        let plan = batch.plan;
        let retry = batch.only.is_some();
        // What the worker reported before it died is recorded. What panicked is on its way to another
        // worker, unless this batch is that second try.
        batch.tasks.retain(|&task| {
            let panicked = self.panicked.contains(&self.shared.key(plan, task));
            !self.tasks.plans[plan.0].contains(task) && (retry || !panicked)
        });
        self.settle(batch);
    }
}

impl Handler<Sum> for Collector {
    type Result = ();

    fn handle(&mut self, _: Sum, context: &mut Self::Context) {
        self.withdraw_doubted();
        self.tell_speed(self.tasks.total().nodes);
        let collector = context.address();
        match &self.shared.spec.recorder {
            Some(recorder) => recorder.flush(Flushed::new(move |result| {
                collector.do_send(Durable(result));
            })),
            None => collector.do_send(Durable(Ok(()))),
        }
    }
}

impl Handler<Durable> for Collector {
    type Result = ();

    fn handle(&mut self, durable: Durable, _: &mut Self::Context) {
        if let Err(error) = durable.0 {
            // Before the sums, so that the run hears of it before it ends.
            self.failure.do_send(RunFailed(self.record_error(error)));
        }
        self.sums.do_send(Sums {
            plans: self.tasks.sums(),
            twice: self.tasks.twice(),
        });
    }
}
