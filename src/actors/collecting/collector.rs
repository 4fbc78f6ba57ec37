//! The collector decides that a task is done. It is the only holder of what was counted.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, AsyncContext, Context, Handler};
use tracing::warn;

use crate::actors::{
    Batch, CanaryCounted, Costed, Counted, CountedTasks, Effect, EventKind, FaultyWorker, Finding,
    Flushed, PlanIndex, Producer, Rechecker, RecordError, RecordedResult, RunError, RunLink,
    RunShared, Sums, ToCollector, ToProducer, ToRun, WorkerIndex,
};
use crate::engine::{TaskKey, TaskResult};

/// How often the progress is reported while no task ends.
const TELL_EVERY: Duration = Duration::from_millis(200);

pub(crate) struct Collector {
    shared: Arc<RunShared>,
    run: RunLink,
    producer: Addr<Producer>,
    rechecker: Rechecker,
    tasks: CountedTasks,
    /// Tasks that panicked once and are not counted yet.
    panicked: HashSet<TaskKey>,
}

impl Collector {
    pub(crate) fn new(
        shared: Arc<RunShared>,
        run: RunLink,
        producer: Addr<Producer>,
        tasks: CountedTasks,
    ) -> Self {
        let (spec, roster) = (&shared.spec, Arc::clone(&shared.roster));
        let (canaries, check) = (spec.canary.is_some(), spec.check.as_ref());
        Self {
            rechecker: Rechecker::new(spec.plans.clone(), roster, canaries, check),
            tasks,
            shared,
            run,
            producer,
            panicked: HashSet::new(),
        }
    }

    fn fail(&self, error: RunError) {
        self.run.do_send(ToRun::Failed(error));
    }

    /// Fails the run if the recorder did. Its error may be about an earlier result.
    fn expect_recorded(&self, recorded: Result<(), RecordError>) {
        match recorded {
            Ok(()) => {}
            Err(RecordError::Failed(message)) => self.fail(RunError::Recorder(message)),
            Err(RecordError::Mismatch { task, message }) => {
                let mut plans = self.shared.spec.plans.iter();
                let plan = plans.find(|plan| plan.engine() == task.engine);
                self.fail(RunError::mismatch(plan.map(AsRef::as_ref), task, message));
            }
        }
    }

    /// A task that panicked once is tried again elsewhere. A second panic fails the run.
    fn note_panic(&mut self, worker: WorkerIndex, plan: PlanIndex, task: u64, message: String) {
        let key = self.shared.key(plan, task);
        if !self.panicked.insert(key) {
            let ranks = self.shared.plan(plan).ranks_of(task);
            self.fail(RunError::TaskFailed {
                task: key,
                ranks,
                message,
            });
        } else if self.rechecker.is_open(&key) {
            // Not by the kernels that counted it, whoever tries.
            let effects = self.rechecker.failed_again(worker, &key);
            self.carry_out(effects);
        } else {
            self.retry(plan, task, worker);
        }
    }

    /// Has a task counted that this worker could not count, or that is not believed of it.
    fn retry(&self, plan: PlanIndex, task: u64, not_on: WorkerIndex) {
        let roster = &self.shared.roster;
        // With one worker it is the same one: the panic threw its counter away. Who counts no more draws nothing.
        let other = || roster.elsewhere(&[not_on]).unwrap_or(not_on);
        self.producer.do_send(ToProducer::Keep(Batch {
            only: (!roster.is_retired(not_on)).then(other),
            ..Batch::of(plan, vec![task])
        }));
    }

    /// Tells how far the run is, with what is in flight.
    fn tell_advance(&mut self) {
        let shared = &self.shared;
        let workers = match shared.is_halted() {
            true => 0,
            false => shared.counting_left(),
        };
        let advanced = self.tasks.advanced(workers, shared.in_flight.work());
        shared.observers.tell(advanced);
    }

    /// Does what the rechecker asks for.
    fn carry_out(&mut self, effects: Vec<Effect>) {
        let observers = self.shared.observers.clone();
        for effect in effects {
            match effect {
                Effect::Sum(worker, plan, costed) => self.sum_up(worker, plan, costed),
                Effect::Drop(worker, plan, costed) => self.land(worker, plan, &costed),
                Effect::Retry(plan, task, not_on) => self.retry(plan, task, not_on),
                Effect::Recount(batch) => self.producer.do_send(ToProducer::Keep(batch)),
                Effect::CountedTwice(plan, task) => self.tasks.note_second(plan, task),
                Effect::AuditTook(worker, plan, [first, expected, took]) => {
                    let mut audit = self.shared.audit_of(worker, plan);
                    audit.note(first, expected, took);
                }
                Effect::Replace { plan, wrong, right } => self.tasks.replace(plan, &wrong, &right),
                Effect::Correct(correction) => {
                    if let Some(recorder) = &self.shared.spec.recorder {
                        let finding = Finding::Correction(Box::new(correction));
                        self.expect_recorded(recorder.take(finding));
                    }
                }
                Effect::Faulty(faulty, leaves) => {
                    if let Some(index) = leaves {
                        let (worker, reason) = (faulty.worker, faulty.reason.clone());
                        let missed = RunError::Faulty { worker, reason };
                        self.producer.do_send(ToProducer::Leave(index, missed));
                    }
                    self.tell_faulty(faulty);
                }
                Effect::Withdraw(plan, result) => self.withdraw(plan, &result),
                Effect::Tell(kind) => observers.tell(kind),
                Effect::Done => self.run.do_send(ToRun::Checked),
                Effect::Fail(error) => self.fail(error),
            }
        }
    }

    /// Adds a result to the sums, and has it recorded.
    fn sum_up(&mut self, worker: WorkerIndex, plan: PlanIndex, costed: Costed) {
        if !self.tasks.add(plan, &costed) {
            // The source that gave it twice may have left another out.
            let (key, of) = (costed.result.key, self.shared.plan(plan).as_ref());
            return self.fail(RunError::mismatch(
                Some(of),
                key,
                "its source gave it twice".into(),
            ));
        }
        if self.shared.roster.is_cpu(worker) {
            let cpu = &mut self.tasks.plans[plan.0].cpu;
            cpu.0 += costed.cost;
            cpu.1 += costed.result.duration.as_secs_f64();
        }
        self.land(worker, plan, &costed);
        if let Some(recorder) = &self.shared.spec.recorder {
            self.expect_recorded(recorder.take(Finding::Result(costed.result)));
        }
    }

    /// Notes that a result is no longer in flight.
    fn land(&self, worker: WorkerIndex, plan: PlanIndex, costed: &Costed) {
        if self.shared.roster.is_cpu(worker) {
            let in_flight = &self.shared.in_flight;
            in_flight.collect(worker, plan, &costed.result, costed.cost);
        }
    }

    /// Tells all that a worker counted wrongly.
    fn tell_faulty(&self, mut faulty: FaultyWorker) {
        let observers = &self.shared.observers;
        let mut workers = observers.progress().now().workers.into_iter();
        let of = workers.find(|worker| worker.id == faulty.worker);
        faulty.counted_by = of.and_then(|worker| worker.counted_by);
        warn!(
            "{} is faulty and counts nothing more (tasks counted since its last good canary, \
             and now doubted: {}): {}",
            faulty.worker, faulty.suspects, faulty.reason
        );
        if let Some(recorder) = &self.shared.spec.recorder {
            // If the recorder is gone, the run hears of that with its next result.
            let _ = recorder.take(Finding::Faulty(faulty.clone()));
        }
        observers.tell(EventKind::Faulty(faulty));
    }

    fn take(&mut self, counted: Counted) {
        let start = Instant::now();
        let tasks = counted.results.len();
        let plan = counted.plan;
        for costed in counted.results {
            self.panicked.remove(&costed.result.key);
            let effects = self.rechecker.hear(counted.worker, plan, costed);
            self.carry_out(effects);
        }
        if let Some((task, message)) = counted.mismatch {
            let plan = self.shared.plan(plan).as_ref();
            self.fail(RunError::mismatch(Some(plan), plan.key(task), message));
        }
        for (task, message) in counted.panicked {
            self.note_panic(counted.worker, plan, task, message);
        }
        self.tell_advance();
        if let Some(left) = counted.left {
            let (cost, seconds) = self.tasks.plans[plan.0].cpu;
            let per_cost = (cost > 0.0).then(|| seconds / cost);
            self.producer.do_send(ToProducer::Settled(left, per_cost));
        }
        let observers = &self.shared.observers;
        let time = observers.span(start, Instant::now());
        observers.tell(EventKind::Collected { tasks, time });
    }

    fn note_canary(&mut self, canary: CanaryCounted) {
        let CanaryCounted {
            worker,
            outcome,
            took,
        } = canary;
        match outcome {
            Ok(counts) => {
                self.rechecker.passed_canary(worker);
                let worker = self.shared.roster.id(worker);
                self.shared.observers.tell(EventKind::CanaryPassed {
                    worker,
                    counts,
                    took,
                });
            }
            Err(reason) => {
                let effects = self.rechecker.failed_canary(worker, reason);
                self.carry_out(effects);
            }
        }
    }

    /// Takes a result out of the sums and out of the record.
    fn withdraw(&mut self, plan: PlanIndex, result: &TaskResult) {
        self.tasks.remove(plan, result);
        if let Some(recorder) = &self.shared.spec.recorder
            && let Err(error) = recorder.take(Finding::Withdrawal(result.key))
        {
            warn!("{} could not be withdrawn: {error}", result.key);
        }
    }
}

/// What the recorder has.
fn recorded(shared: &RunShared) -> Vec<RecordedResult> {
    let recorder = shared.spec.recorder.as_ref();
    let results = recorder.map(|recorder| recorder.results());
    results.unwrap_or(Ok(Vec::new())).unwrap_or_else(|error| {
        warn!("what is recorded cannot be read: {error}");
        Vec::new()
    })
}

impl Actor for Collector {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Self::Context) {
        self.tell_advance();
        context.run_interval(TELL_EVERY, |collector, _| collector.tell_advance());
    }
}

impl Handler<ToCollector> for Collector {
    type Result = ();

    fn handle(&mut self, message: ToCollector, context: &mut Self::Context) {
        match message {
            ToCollector::Counted(counted) => self.take(counted),
            ToCollector::Canary(canary) => self.note_canary(canary),
            ToCollector::Check => {
                let contradiction = self.shared.spec.contradiction(&self.tasks.sums());
                let recorded = || recorded(&self.shared);
                let effects = self.rechecker.check(contradiction, recorded);
                self.carry_out(effects);
            }
            ToCollector::Sum => {
                let effects = self.rechecker.end();
                self.carry_out(effects);
                let collector = context.address();
                let durable = move |result| collector.do_send(ToCollector::Durable(result));
                match &self.shared.spec.recorder {
                    Some(recorder) => recorder.flush(Flushed::new(durable)),
                    None => durable(Ok(())),
                }
            }
            ToCollector::Durable(durable) => {
                // Before the sums, so that the run hears of it before it ends.
                self.expect_recorded(durable);
                self.run.do_send(ToRun::Summed(Sums {
                    plans: self.tasks.sums(),
                    twice: self.tasks.twice(),
                }));
            }
        }
    }
}
