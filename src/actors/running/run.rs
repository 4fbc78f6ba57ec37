//! The run: owns all other actors, and the state machine.

use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Addr, AsyncContext, Context, Handler, SpawnHandle, System};
use crossbeam::channel::Sender;
use tracing::{debug, info};

use crate::actors::{
    Collector, Control, CountedPlan, CountedTasks, EventKind, Fresh, GRACE, Mapped, PlanIndex,
    PlannedTasks, Producer, QUEUE_PER_WORKER, Report, RunEnd, RunError, RunLink, RunShared,
    RunState, StopCause, Sums, ToCollector, ToProducer, ToRun, Worker, WorkerIndex, queue,
};
use crate::engine::{Plan, WorkerId};

pub(crate) struct Run {
    shared: Arc<RunShared>,
    control: Control,
    state: RunState,
    team: Team,
    /// The first thing that failed.
    error: Option<RunError>,
    /// How many workers have left.
    left: usize,
    /// The device whose loss ends the run.
    lost_device: Option<WorkerId>,
    /// Will give up the tasks in flight, while the run drains or pauses.
    gives_up: Option<SpawnHandle>,
    outcome: Sender<Result<Report, RunError>>,
    _end: StopSystem,
}

/// What takes long to make, and is therefore made before the actors start.
pub(crate) struct Prepared {
    fresh: Vec<Fresh>,
    counted: CountedTasks,
    mapped: Vec<Mapped>,
}

impl Prepared {
    pub(crate) fn new(shared: &RunShared) -> Self {
        let open = |(at, plan): (usize, &Arc<dyn Plan>)| {
            let supply = shared.spec.source.open(plan.as_ref());
            let expected = shared.expected_seconds(PlanIndex(at));
            let counted = CountedPlan::new(supply.size, &supply.restored, expected);
            let recorded = Arc::clone(&supply.restored.tasks);
            let part = supply.part.clone();
            let mapped = (plan.engine(), plan.tasks(), part, recorded);
            ((Fresh::new(supply, plan.as_ref()), counted), mapped)
        };
        let (opened, mapped): (Vec<_>, _) = shared.spec.plans.iter().enumerate().map(open).unzip();
        let (fresh, counted) = opened.into_iter().unzip();
        Self {
            fresh,
            counted: CountedTasks::new(counted),
            mapped,
        }
    }
}

/// The actors of a run; they live as long as their addresses are held here.
struct Team {
    producer: Addr<Producer>,
    collector: Addr<Collector>,
    _workers: Vec<Addr<Worker>>,
}

/// Ends the actix system with the run, even after a panic.
struct StopSystem;

impl Drop for StopSystem {
    fn drop(&mut self) {
        System::current().stop();
    }
}

impl Team {
    fn start(shared: &Arc<RunShared>, prepared: Prepared, run: &Addr<Run>) -> Self {
        let link = |actor| RunLink {
            actor,
            run: run.clone().recipient(),
        };
        // So many may wait, and each worker counts one.
        let limit = shared.roster.cpu_workers() * (QUEUE_PER_WORKER + 1);
        let (inlet, outlets) = queue::queue(shared.roster.workers(), limit);
        let (fresh, of) = (prepared.fresh, Arc::clone(shared));
        let producer = Producer::new(of, link("producer"), fresh, inlet, limit).start();
        let (counted, of) = (prepared.counted, Arc::clone(shared));
        let collector = Collector::new(of, link("collector"), producer.clone(), counted).start();
        let workers = outlets.into_iter().enumerate().map(|(index, outlet)| {
            Worker {
                shared: Arc::clone(shared),
                index: WorkerIndex(index),
                outlet,
                producer: producer.clone(),
                collector: collector.clone(),
                run: link("worker"),
                thread: None,
                deaths: Default::default(),
            }
            .start()
        });
        Self {
            _workers: workers.collect(),
            producer,
            collector,
        }
    }
}

impl Run {
    /// Begins a run of these tasks with all its actors.
    pub(crate) fn begin(
        shared: RunShared,
        prepared: Prepared,
        control: &Control,
        outcome: Sender<Result<Report, RunError>>,
        context: &mut Context<Self>,
    ) -> Self {
        let shared = Arc::new(shared);
        let (plans, observers) = (shared.spec.plans.iter(), &shared.observers);
        let plans: Vec<_> = plans.map(|plan| PlannedTasks::of(plan.as_ref())).collect();
        let tasks: u64 = plans.iter().map(|plan| plan.tasks).sum();
        info!(workers = shared.roster.workers(), tasks, "run begins");
        observers.progress().map_tasks(&prepared.mapped);
        let workers = shared.roster.ids().to_vec();
        observers.tell(EventKind::Planned { plans, workers });
        if let Some(recorder) = &shared.spec.recorder {
            let observers = observers.clone();
            recorder.on_checkpoint(Box::new(move |tasks| {
                // A recorder may also commit what is no result, such as that the run has begun.
                if tasks > 0 {
                    observers.tell(EventKind::Checkpoint { tasks });
                }
            }));
        }
        let mut run = Self {
            team: Team::start(&shared, prepared, &context.address()),
            control: control.clone(),
            state: RunState::Planning,
            error: None,
            left: 0,
            lost_device: None,
            gives_up: None,
            outcome,
            shared: Arc::clone(&shared),
            _end: StopSystem,
        };
        control.attach(context.address().recipient());
        if let Some(limit) = shared.spec.time_limit {
            // To open the sources took a part of it.
            match limit.checked_sub(shared.observers.start().elapsed()) {
                Some(left) => drop(context.run_later(left, Self::reach_limit)),
                None => run.reach_limit(context),
            }
        }
        run.obey(context);
        run
    }

    /// Goes to `next` if the state machine allows it. Returns whether it did.
    fn go(&mut self, next: RunState, context: &mut Context<Self>) -> bool {
        let allowed = self.state.allows(next);
        if allowed {
            debug!("{:?} → {next:?}", self.state);
            self.state = next;
            self.shared.observers.tell(EventKind::State(next));
            match next {
                RunState::Running => {
                    self.team.producer.do_send(ToProducer::Offer);
                    if let Some(timer) = self.gives_up.take() {
                        context.cancel_future(timer);
                    }
                    self.shared.in_flight.set_give_up(false);
                }
                RunState::Paused | RunState::Draining => {
                    self.team.producer.do_send(ToProducer::Halt);
                    // Tasks in flight get a limited time, from the first of such requests on.
                    let give_up =
                        |run: &mut Self, _: &mut _| run.shared.in_flight.set_give_up(true);
                    let timer = || context.run_later(GRACE, give_up);
                    self.gives_up.get_or_insert_with(timer);
                }
                RunState::Planning | RunState::Finished | RunState::Stopped | RunState::Failed => {}
            }
        }
        allowed
    }

    fn reach_limit(&mut self, context: &mut Context<Self>) {
        info!("the time limit is reached");
        self.go(RunState::Draining, context);
    }

    /// Follows the control.
    fn obey(&mut self, context: &mut Context<Self>) {
        let reasons = self.control.paused_for();
        if self.control.is_draining() {
            self.go(RunState::Draining, context);
        } else if reasons.is_empty() {
            self.go(RunState::Running, context);
        } else {
            // A run that has not begun cannot pause: it begins and pauses at once.
            if self.state == RunState::Planning {
                self.go(RunState::Running, context);
            }
            self.go(RunState::Paused, context);
            let observers = &self.shared.observers;
            let told = || observers.progress().now().paused_for;
            if self.state == RunState::Paused && told() != reasons {
                observers.tell(EventKind::PausedFor { reasons });
            }
        }
    }

    /// Drains, because there can be no result. The first failure is what the run returns and tells.
    fn fail(&mut self, error: RunError, context: &mut Context<Self>) {
        if self.error.is_none() {
            // Not an error of the log: the caller gets it, and would report it a second time.
            info!("the run fails: {error}");
            let reason = error.to_string();
            self.shared.observers.tell(EventKind::Failed { reason });
            self.error = Some(error);
        }
        self.go(RunState::Draining, context);
    }

    /// What contradicts the sums of a whole run. They were checked when everything was said to be counted; a count that
    /// came later was not.
    fn contradiction(&self, sums: &Sums) -> Option<RunError> {
        let spec = &self.shared.spec;
        Some(RunError::Contradiction {
            reason: spec.contradiction(&sums.plans)?,
            tasks: spec.plans.iter().map(|plan| plan.tasks()).sum(),
            again: 0,
        })
    }

    /// What stopped the run before its end.
    fn stop_cause(&self) -> StopCause {
        match self.lost_device {
            _ if self.control.is_draining() => StopCause::Request,
            Some(device) => StopCause::LostDevice(device),
            None => StopCause::TimeLimit,
        }
    }

    fn finish(&mut self, sums: &Sums, context: &mut Context<Self>) {
        if self.state.is_final() {
            return;
        }
        let plans = &self.shared.spec.plans;
        let tasks_done = sums.plans.iter().map(|(tasks, _)| tasks).sum();
        let tasks_planned = plans.iter().map(|plan| plan.tasks()).sum();
        let progress = self.shared.observers.progress().now();
        // A run that was stopped before its first event has told none.
        let tasks_total = progress.tasks_total.unwrap_or(tasks_planned);
        let outcome = match self.error.take().or_else(|| self.contradiction(sums)) {
            Some(error) => Err(error),
            None => Ok(Report {
                end: match tasks_done {
                    done if done == tasks_planned => RunEnd::Whole,
                    done if done >= tasks_total => RunEnd::Part,
                    _ => RunEnd::Stopped(self.stop_cause()),
                },
                tallies: plans
                    .iter()
                    .zip(&sums.plans)
                    .map(|(plan, (_, tally))| (plan.engine(), *tally))
                    .collect(),
                tasks_done,
                tasks_total,
                tasks_planned,
                twice: sums.twice,
                corrected: progress.corrected,
                faulty: progress.faulty,
                given_up: progress.given_up,
                lost: progress.lost,
                elapsed: self.shared.observers.progress().counting(),
                // `run` fills it in: it is the CPU time of the whole process.
                cpu: Duration::ZERO,
                workers: progress.workers,
            }),
        };
        let state = match outcome.as_ref().map(|report| report.end) {
            Ok(RunEnd::Whole | RunEnd::Part) => RunState::Finished,
            Ok(RunEnd::Stopped(_)) => RunState::Stopped,
            Err(_) => RunState::Failed,
        };
        self.go(state, context);
        // The receiver exists until it has this message.
        let _ = self.outcome.send(outcome);
        System::current().stop();
    }
}

impl Actor for Run {
    type Context = Context<Self>;
}

impl Handler<ToRun> for Run {
    type Result = ();

    fn handle(&mut self, message: ToRun, context: &mut Self::Context) {
        match message {
            ToRun::Wake => self.obey(context),
            ToRun::Failed(error) => self.fail(error, context),
            ToRun::DeviceLost(device) => {
                self.lost_device = Some(device);
                self.go(RunState::Draining, context);
            }
            ToRun::ActorDied(actor) => {
                // What it held is lost, and nobody will answer for it: there is nothing to wait for.
                let error = RunError::Runtime(format!("the {actor} is gone"));
                self.fail(error, context);
                self.finish(&Sums::default(), context);
            }
            ToRun::Complete => self.team.collector.do_send(ToCollector::Check),
            ToRun::Checked => {
                self.go(RunState::Draining, context);
            }
            // A pause is quiet too, and so is the end of a run that was paused.
            ToRun::Quiet => {
                if self.state == RunState::Draining {
                    self.team.producer.do_send(ToProducer::Close);
                }
            }
            ToRun::Left => {
                self.left += 1;
                if self.left == self.shared.roster.workers() {
                    self.team.collector.do_send(ToCollector::Sum);
                }
            }
            ToRun::Summed(sums) => self.finish(&sums, context),
        }
    }
}
