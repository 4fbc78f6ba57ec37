//! The producer: keeps the queue full, gives devices what they ask for, and says when all has come
//! back.

use std::sync::Arc;
use std::time::Instant;

use actix::{Actor, Context, Handler, Recipient};

use super::death_notice::DeathNotice;
use super::events::EventKind;
use super::index::WorkerIndex;
use super::messages::{Recount, Retry, Settled, ToProducer, ToRun, Want};
use super::queue::{Batch, Inlet};
use super::report::RunError;
use super::shared::RunShared;
use super::stock::Stock;

/// The most tasks in a batch of tasks that are counted again.
const LARGEST_RECOUNT: usize = 64;

pub(super) struct Producer {
    shared: Arc<RunShared>,
    run: Recipient<ToRun>,
    _death_notice: DeathNotice,
    stock: Stock,
    /// `None` once closed.
    inlet: Option<Inlet>,
    /// What devices asked for and did not get yet.
    wants: Vec<Want>,
    /// Batches that devices hold.
    on_devices: usize,
    /// Batches offered to CPU workers and not settled yet.
    in_flight: usize,
    /// The most of these.
    limit: usize,
    halted: bool,
    /// Whether tasks were handed out since the workers were last asked for their canaries.
    untested: bool,
    /// Whether the run knows from this actor that all is complete.
    completed: bool,
}

impl Producer {
    /// The most batches that may be offered and not settled: those that may wait, and one for each
    /// worker to count. The queue has room for all of them, so an offer never fails for lack of it.
    pub(super) fn limit(workers: usize, queue_per_worker: usize) -> usize {
        workers * (queue_per_worker + 1)
    }

    pub(super) fn new(
        shared: Arc<RunShared>,
        run: Recipient<ToRun>,
        death_notice: DeathNotice,
        stock: Stock,
        inlet: Inlet,
        limit: usize,
    ) -> Self {
        Self {
            shared,
            run,
            _death_notice: death_notice,
            stock,
            inlet: Some(inlet),
            wants: Vec::new(),
            on_devices: 0,
            in_flight: 0,
            limit,
            halted: true,
            untested: true,
            completed: false,
        }
    }

    /// Fills the queue, and says so when everything is counted.
    fn offer(&mut self) {
        let Some(inlet) = self.inlet.take() else {
            return;
        };
        self.stock.note_workers();
        if !self.halted {
            self.fill(&inlet);
        }
        while let Some((plan, index)) = self.stock.take_beyond() {
            let plan = self.shared.plan(plan);
            let (engine, tasks) = (plan.engine(), plan.tasks());
            let why = format!(
                "the source gave task {index} of the {engine} plan, which has {tasks} tasks"
            );
            self.run.do_send(ToRun::Failed(RunError::Runtime(why)));
        }
        // A paused run also ends when its last tasks come back.
        let exhausted = self.stock.is_exhausted();
        self.shared.observers.progress().set_exhausted(exhausted);
        if exhausted && self.nothing_is_out() && !self.ask_for_canaries(&inlet) && !self.completed {
            self.completed = true;
            self.run.do_send(ToRun::Complete);
        }
        self.inlet = Some(inlet);
    }

    /// Asks all workers for their canaries, unless they counted no task since they were last asked.
    /// Returns whether something is to be waited for: while the run is paused, that it goes on.
    fn ask_for_canaries(&mut self, inlet: &Inlet) -> bool {
        let wanted = self.untested && self.shared.spec.canary.is_some();
        if !wanted || self.halted {
            return wanted;
        }
        self.untested = false;
        let shared = Arc::clone(&self.shared);
        for worker in shared.roster.left() {
            let canary = Batch::canary(worker, !shared.roster.is_cpu(worker));
            if inlet.offer(canary.clone()).is_ok() {
                self.stock.hand_out(&canary);
                *self.out(&canary) += 1;
            }
        }
        true
    }

    fn hand_out(&mut self, batch: &Batch) {
        self.untested = true;
        self.completed = false;
        self.stock.hand_out(batch);
    }

    fn fill(&mut self, inlet: &Inlet) {
        let start = Instant::now();
        self.serve_devices(inlet);
        let limit = if self.shared.roster.cpu_workers_left() == 0 {
            0
        } else {
            self.limit
        };
        while self.in_flight < limit && self.offer_one(inlet) {
            self.in_flight += 1;
        }
        let observers = &self.shared.observers;
        observers.tell(EventKind::Queued {
            batches: inlet.depth(),
        });
        let time = observers.span(start, Instant::now());
        observers.tell(EventKind::Offered { time });
    }

    /// Whether every batch has come back.
    const fn nothing_is_out(&self) -> bool {
        self.in_flight == 0 && self.on_devices == 0
    }

    fn offer_one(&mut self, inlet: &Inlet) -> bool {
        let busy = self.in_flight >= self.shared.roster.cpu_workers_left();
        let Some(batch) = self.stock.cut_for_cpu(busy) else {
            return false;
        };
        self.hand_out(&batch);
        let taken = inlet.offer(batch);
        taken.map_err(|batch| self.stock.withdraw(batch)).is_ok()
    }

    /// Gives devices what they asked for, as far as there is something for them.
    fn serve_devices(&mut self, inlet: &Inlet) {
        for want in std::mem::take(&mut self.wants) {
            let Some(batch) = self.stock.cut_for_device(&want) else {
                self.wants.push(want);
                continue;
            };
            self.hand_out(&batch);
            match inlet.offer(batch) {
                Ok(()) => self.on_devices += 1,
                Err(batch) => {
                    self.stock.withdraw(batch);
                    self.wants.push(want);
                }
            }
        }
    }

    /// Takes back what was not drawn yet.
    fn take_back(&mut self, from: impl FnOnce(&Inlet) -> Vec<Batch>) {
        for batch in self.inlet.as_ref().map(from).into_iter().flatten() {
            *self.out(&batch) -= 1;
            // Whoever was asked has not counted it.
            self.untested |= batch.is_canary();
            self.stock.withdraw(batch);
        }
    }

    /// The number of batches that are out like this one.
    const fn out(&mut self, batch: &Batch) -> &mut usize {
        if batch.for_device {
            &mut self.on_devices
        } else {
            &mut self.in_flight
        }
    }

    /// Tells the run when it was halted and everything has come back.
    fn tell_if_quiet(&self) {
        if self.halted && self.nothing_is_out() {
            self.run.do_send(ToRun::Quiet);
        }
    }
}

impl Actor for Producer {
    type Context = Context<Self>;
}

impl Producer {
    fn settle(&mut self, settled: Settled) {
        let plan = settled.left.plan;
        self.stock.note_cpu(plan, settled.seconds_per_cost);
        self.stock.take_back(&settled.left);
        *self.out(&settled.left) -= 1;
        if settled.left.for_device {
            self.stock.scatter(settled.left);
        } else {
            self.stock.keep(settled.left);
        }
    }

    fn retry(&mut self, retry: &Retry) {
        // With one worker it is the same one: the panic threw its counter away.
        let elsewhere = self.shared.roster.elsewhere(&[retry.not_on]);
        self.stock.keep(Batch {
            only: Some(elsewhere.unwrap_or(retry.not_on)),
            ..Batch::of(retry.plan, vec![retry.task])
        });
    }

    fn recount(&mut self, recount: &Recount) {
        for tasks in recount.tasks.chunks(LARGEST_RECOUNT) {
            self.stock.keep(Batch {
                only: recount.only,
                again: Some(recount.not_by.clone()),
                ..Batch::of(recount.plan, tasks.to_vec())
            });
        }
    }

    fn want(&mut self, want: Want) {
        if let Some(speed) = want.speed {
            self.stock.note_device(want.worker, speed);
        }
        // A device asks again if it got no answer.
        self.wants.retain(|other| other.worker != want.worker);
        self.wants.push(want);
    }

    fn leave(&mut self, worker: WorkerIndex) {
        self.wants.retain(|want| want.worker != worker);
        self.stock.forget(worker);
        if self.shared.roster.cpu_workers_left() == 0 {
            // Nobody draws from the queue any more.
            self.take_back(Inlet::take_back_shared);
        }
        self.take_back(|inlet| inlet.take_back_from(worker));
        self.stock.release(worker);
    }

    fn halt(&mut self, halted: bool) {
        self.halted = halted;
        self.shared.set_halted(halted);
    }
}

impl Handler<ToProducer> for Producer {
    type Result = ();

    fn handle(&mut self, message: ToProducer, _: &mut Self::Context) {
        match message {
            ToProducer::Close => {
                self.inlet = None;
                return;
            }
            ToProducer::Halt => {
                self.halt(true);
                self.take_back(Inlet::take_back);
                self.tell_if_quiet();
                return;
            }
            ToProducer::Offer => self.halt(false),
            ToProducer::Settled(settled) => self.settle(settled),
            ToProducer::Retry(retry) => self.retry(&retry),
            ToProducer::Recount(recount) => self.recount(&recount),
            ToProducer::Want(want) => self.want(want),
            ToProducer::Leave(worker) => self.leave(worker),
        }
        self.offer();
        self.tell_if_quiet();
    }
}
