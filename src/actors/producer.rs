//! The producer: takes tasks from their sources, makes batches, and keeps the queue full.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use actix::fut::wrap_future;
use actix::{Actor, ActorFutureExt, AsyncContext, Context, Handler, Recipient, SpawnHandle};

use super::balance::{Balance, Grant};
use super::fresh::Fresh;
use super::lifeline::Lifeline;
use super::messages::{Close, Complete, Failure, Halt, Leave, Offer, Quiet, Retry, Settled, Want};
use super::queue::{Batch, Inlet};
use super::shared::RunShared;
use super::{EventKind, RunError};

/// The most tasks in a batch. It bounds memory: the results of a batch may wait for its end.
const LARGEST: usize = 1024;

/// How many batches each worker should still get from what is left. Batches that shrink with what
/// is left let the workers finish together (guided self-scheduling: Polychronopoulos and Kuck, IEEE
/// Transactions on Computers 36, 1987, with 1 in place of this). With more than 1 a batch that takes
/// three times as long as expected does not end last.
const SHARES: f64 = 3.0;

/// The shortest batch, in seconds, however close the end: its messages take about 10 µs, 1 % of
/// this.
const SHORTEST: f64 = 1e-3;

pub(super) struct Producer {
    shared: Arc<RunShared>,
    run: (Recipient<Quiet>, Recipient<Complete>, Recipient<Failure>),
    _lifeline: Lifeline,
    batch_time: Duration,
    fresh: Vec<Fresh>,
    /// Batches of tasks that panicked, each for one worker alone.
    retries: VecDeque<Batch>,
    /// Batches taken back, or given up half done.
    returned: VecDeque<Batch>,
    /// `None` once closed.
    inlet: Option<Inlet>,
    /// What devices asked for and did not get yet.
    wants: Vec<Want>,
    balance: Balance,
    /// Batches that devices hold.
    on_devices: usize,
    /// Batches offered to CPU workers and not settled yet.
    in_flight: usize,
    /// The most of these.
    limit: usize,
    halted: bool,
    /// When the sources will be asked again, and what will do it.
    asks_again: Option<(Instant, SpawnHandle)>,
}

impl Producer {
    /// The most batches that may be offered and not settled: those that may wait, and one for each
    /// worker to count. The queue has room for all of them, so an offer never fails for lack of it.
    pub(super) fn limit(workers: usize, queue_per_worker: usize) -> usize {
        workers * (queue_per_worker + 1)
    }

    pub(super) fn new(
        shared: Arc<RunShared>,
        run: (Recipient<Quiet>, Recipient<Complete>, Recipient<Failure>),
        lifeline: Lifeline,
        batch_time: Duration,
        fresh: Vec<Fresh>,
        inlet: Inlet,
        limit: usize,
    ) -> Self {
        let balance = Balance::new(shared.workers);
        Self {
            shared,
            run,
            _lifeline: lifeline,
            batch_time,
            fresh,
            retries: VecDeque::new(),
            returned: VecDeque::new(),
            inlet: Some(inlet),
            wants: Vec::new(),
            balance,
            on_devices: 0,
            in_flight: 0,
            limit,
            halted: true,
            asks_again: None,
        }
    }

    /// Fills the queue: what must be tried again first, then what came back, then fresh tasks.
    fn offer(&mut self, context: &mut Context<Self>) {
        let Some(inlet) = self.inlet.take() else {
            return;
        };
        for (fresh, plan) in self.fresh.iter_mut().zip(&self.shared.plans) {
            fresh.look(plan.as_ref());
        }
        if !self.halted {
            self.fill(&inlet);
        }
        for (fresh, plan) in self.fresh.iter_mut().zip(&self.shared.plans) {
            if let Some(index) = fresh.take_beyond() {
                let (engine, tasks) = (plan.engine(), plan.tasks());
                let why = format!(
                    "the source gave task {index} of the {engine} plan, which has {tasks} tasks"
                );
                self.run.2.do_send(Failure(RunError::Runtime(why)));
            }
        }
        // A paused run also ends when its last tasks come back.
        let exhausted = self.retries.is_empty()
            && self.returned.is_empty()
            && self.fresh.iter().all(Fresh::is_over);
        self.shared.set_exhausted(exhausted);
        if exhausted && self.nothing_is_out() {
            self.run.1.do_send(Complete);
        }
        self.ask_again(context);
        self.inlet = Some(inlet);
    }

    fn fill(&mut self, inlet: &Inlet) {
        let start = Instant::now();
        self.serve_devices(inlet);
        let limit = if self.shared.workers == 0 {
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

    /// Arranges that the sources are asked again at the first moment that one of them named.
    fn ask_again(&mut self, context: &mut Context<Self>) {
        let Some(wait) = self.fresh.iter().filter_map(Fresh::wait).min() else {
            return;
        };
        let at = Instant::now() + wait;
        if let Some((armed, handle)) = self.asks_again {
            if armed <= at {
                return;
            }
            context.cancel_future(handle);
        }
        let ask = |producer: &mut Self, context: &mut Context<Self>| {
            producer.asks_again = None;
            producer.offer(context);
        };
        let handle = if wait.is_zero() {
            // A timer would take a millisecond or more. The other actors have their turn first.
            let turn = wrap_future(next_turn());
            context.spawn(turn.map(move |(), producer, context| ask(producer, context)))
        } else {
            context.run_later(wait, ask)
        };
        self.asks_again = Some((at, handle));
    }

    /// Whether every batch has come back.
    const fn nothing_is_out(&self) -> bool {
        self.in_flight == 0 && self.on_devices == 0
    }

    fn offer_one(&mut self, inlet: &Inlet) -> bool {
        let next = self.retries.pop_front();
        let next = next.or_else(|| self.take_returned());
        let Some(batch) = next.or_else(|| self.cut()) else {
            return false;
        };
        self.hand_out(&batch);
        let taken = inlet.offer(batch);
        taken.map_err(|batch| self.withdraw(batch)).is_ok()
    }

    fn hand_out(&mut self, batch: &Batch) {
        if self.shared.devices_count(batch.plan) {
            self.balance.hand_out(batch);
        }
    }

    /// Forgets that somebody holds the batch.
    fn take_back(&mut self, batch: &Batch) {
        if self.shared.devices_count(batch.plan) {
            self.balance.take_back(batch);
        }
    }

    /// Keeps a batch that was not taken after all.
    fn withdraw(&mut self, batch: Batch) {
        self.take_back(&batch);
        if batch.for_device {
            self.scatter(batch);
        } else {
            self.keep(batch);
        }
    }

    /// A returned batch that a CPU worker may have.
    fn take_returned(&mut self) -> Option<Batch> {
        let at = (0..self.returned.len()).find(|&at| {
            let Batch { plan, cost, .. } = self.returned[at];
            !self.is_for_devices(plan, cost)
        })?;
        self.returned.remove(at)
    }

    /// Whether CPU workers are to leave a batch of this plan and cost to devices.
    fn is_for_devices(&self, plan: usize, cost: f64) -> bool {
        self.shared.devices_count(plan) && {
            let busy = self.in_flight >= self.shared.workers;
            self.balance.keeps_cpu_waiting(self.left(plan), cost, busy)
        }
    }

    /// The cost of a plan's tasks that nobody holds.
    fn left(&self, plan: usize) -> f64 {
        let waiting = self.retries.iter().chain(&self.returned);
        let waiting = waiting.filter(|batch| batch.plan == plan);
        self.fresh[plan].cost_left() + waiting.map(|batch| batch.cost).sum::<f64>()
    }

    /// Gives devices what they asked for, as far as there is something for them.
    fn serve_devices(&mut self, inlet: &Inlet) {
        for want in std::mem::take(&mut self.wants) {
            let Some(batch) = self.cut_for(&want) else {
                self.wants.push(want);
                continue;
            };
            self.hand_out(&batch);
            match inlet.offer(batch) {
                Ok(()) => self.on_devices += 1,
                Err(batch) => {
                    self.withdraw(batch);
                    self.wants.push(want);
                }
            }
        }
    }

    /// A batch for a device: of what came back, else of a plan that it counts.
    fn cut_for(&mut self, want: &Want) -> Option<Batch> {
        // Without CPU workers, the thread of a device counts what its device cannot.
        if self.shared.workers == 0
            && let Some(retry) = self.retries.pop_front()
        {
            return Some(Batch {
                only: Some(want.worker),
                for_device: true,
                ..retry
            });
        }
        let plan = (0..self.fresh.len()).find(|&plan| {
            (self.shared.workers == 0 || self.shared.devices_count(plan))
                && (self.fresh[plan].peek().is_some()
                    || self.returned.iter().any(|batch| batch.plan == plan))
        })?;
        let target = match self.next_cost(plan) {
            Some(task) if self.shared.devices_count(plan) => {
                let (left, hands) = (self.left(plan), self.shared.hands());
                match self
                    .balance
                    .grant(want.worker, want.cost, left, task, hands)
                {
                    Grant::UpTo(cost) => cost,
                    Grant::Nothing => return None,
                }
            }
            _ => want.cost,
        };
        let mut batch = Batch {
            plan,
            tasks: Vec::new(),
            cost: 0.0,
            only: Some(want.worker),
            for_device: true,
        };
        while (batch.tasks.is_empty() || batch.cost < target)
            && let Some(at) = self.returned.iter().position(|other| other.plan == plan)
            && let Some(mut returned) = self.returned.remove(at)
        {
            batch.cost += returned.cost;
            batch.tasks.append(&mut returned.tasks);
        }
        let fresh = &mut self.fresh[plan];
        while (batch.tasks.is_empty() || batch.cost < target)
            && let Some((task, cost)) = fresh.take(self.shared.plans[plan].as_ref())
        {
            batch.cost += cost;
            batch.tasks.push(task);
        }
        Some(batch)
    }

    /// The cost of the next batch that came back, or of the next fresh task.
    fn next_cost(&self, plan: usize) -> Option<f64> {
        let mut returned = self.returned.iter().filter(|batch| batch.plan == plan);
        let fresh = || Some(self.fresh[plan].peek()?.1);
        returned.next().map(|batch| batch.cost).or_else(fresh)
    }

    /// Keeps what a device did not count, one task a batch, so that CPU workers can take it.
    fn scatter(&mut self, batch: Batch) {
        let plan = Arc::clone(&self.shared.plans[batch.plan]);
        self.returned
            .extend(batch.tasks.into_iter().map(|task| Batch {
                plan: batch.plan,
                tasks: vec![task],
                cost: plan.task(task).cost,
                only: None,
                for_device: false,
            }));
    }

    /// Keeps a batch to offer it before any fresh task.
    fn keep(&mut self, mut batch: Batch) {
        let plan = &self.shared.plans[batch.plan];
        batch.cost = batch.tasks.iter().map(|&task| plan.task(task).cost).sum();
        let kept = match batch.only {
            Some(_) => &mut self.retries,
            None => &mut self.returned,
        };
        kept.push_front(batch);
    }

    /// Cuts a batch off the plan that is furthest behind, so that all plans advance alike.
    fn cut(&mut self) -> Option<Batch> {
        let seconds_left: f64 = self.fresh.iter().map(Fresh::seconds_left).sum();
        let hands = self.shared.workers as f64 + self.balance.devices_in_workers();
        // One worker alone has nobody to wait for.
        let fair = if hands > 1.0 {
            seconds_left / (SHARES * hands)
        } else {
            seconds_left
        };
        let target = fair.max(SHORTEST).min(self.batch_time.as_secs_f64());
        let index = (0..self.fresh.len())
            .filter(|&plan| {
                self.fresh[plan].peek().is_some()
                    && !(self.shared.devices_count(plan)
                        && self
                            .next_cost(plan)
                            .is_some_and(|cost| self.is_for_devices(plan, cost)))
            })
            .min_by(|&a, &b| self.fresh[a].issued().total_cmp(&self.fresh[b].issued()))?;
        let fresh = &mut self.fresh[index];
        let mut tasks = Vec::new();
        let (mut seconds, mut batch_cost) = (0.0, 0.0);
        while let Some((task, cost)) = fresh.peek() {
            // The first task goes anyway; before anything is measured it goes alone.
            let expected = fresh
                .seconds_per_cost
                .map(|per_cost| seconds + cost * per_cost);
            let fits = expected.is_some_and(|seconds| seconds <= target);
            if !tasks.is_empty() && (!fits || tasks.len() == LARGEST) {
                break;
            }
            fresh.take(self.shared.plans[index].as_ref());
            seconds = expected.unwrap_or(0.0);
            batch_cost += cost;
            tasks.push(task);
        }
        Some(Batch {
            plan: index,
            tasks,
            cost: batch_cost,
            only: None,
            for_device: false,
        })
    }

    /// Tells the run when it was halted and everything has come back.
    fn tell_if_quiet(&self) {
        if self.halted && self.nothing_is_out() {
            self.run.0.do_send(Quiet);
        }
    }
}

/// Ends when the other tasks of this thread have had their turn.
async fn next_turn() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Actor for Producer {
    type Context = Context<Self>;
}

impl Handler<Offer> for Producer {
    type Result = ();

    fn handle(&mut self, _: Offer, context: &mut Self::Context) {
        self.halted = false;
        self.shared.set_halted(false);
        self.offer(context);
    }
}

impl Handler<Halt> for Producer {
    type Result = ();

    fn handle(&mut self, _: Halt, _: &mut Self::Context) {
        self.halted = true;
        self.shared.set_halted(true);
        let back = self.inlet.as_ref().map(Inlet::take_back);
        for batch in back.into_iter().flatten() {
            if batch.for_device {
                self.on_devices -= 1;
            } else {
                self.in_flight -= 1;
            }
            self.withdraw(batch);
        }
        self.tell_if_quiet();
    }
}

impl Handler<Close> for Producer {
    type Result = ();

    fn handle(&mut self, _: Close, _: &mut Self::Context) {
        self.inlet = None;
    }
}

impl Handler<Settled> for Producer {
    type Result = ();

    fn handle(&mut self, settled: Settled, context: &mut Self::Context) {
        let plan = settled.left.plan;
        self.fresh[plan].seconds_per_cost = settled.seconds_per_cost;
        if self.shared.devices_count(plan) {
            self.balance.note_cpu(settled.seconds_per_cost);
        }
        self.take_back(&settled.left);
        if settled.left.for_device {
            self.on_devices -= 1;
            self.scatter(settled.left);
        } else {
            self.in_flight -= 1;
            if !settled.left.tasks.is_empty() {
                self.keep(settled.left);
            }
        }
        self.offer(context);
        self.tell_if_quiet();
    }
}

impl Handler<Retry> for Producer {
    type Result = ();

    fn handle(&mut self, retry: Retry, context: &mut Self::Context) {
        // With one worker it is the same one: the panic threw its counter away.
        let worker = (retry.not_on + 1) % self.shared.workers.max(1);
        self.keep(Batch {
            plan: retry.plan,
            tasks: vec![retry.task],
            cost: 0.0,
            only: Some(worker),
            for_device: false,
        });
        self.offer(context);
    }
}

impl Handler<Want> for Producer {
    type Result = ();

    fn handle(&mut self, want: Want, context: &mut Self::Context) {
        if let Some(speed) = want.speed {
            self.balance.note_device(want.worker, speed);
        }
        // A device asks again if it got no answer.
        self.wants.retain(|other| other.worker != want.worker);
        self.wants.push(want);
        self.offer(context);
    }
}

impl Handler<Leave> for Producer {
    type Result = ();

    fn handle(&mut self, leave: Leave, context: &mut Self::Context) {
        self.wants.retain(|want| want.worker != leave.worker);
        self.balance.forget(leave.worker);
        let back = self
            .inlet
            .as_ref()
            .map(|inlet| inlet.take_back_from(leave.worker));
        for batch in back.into_iter().flatten() {
            self.on_devices -= 1;
            self.withdraw(batch);
        }
        self.offer(context);
        self.tell_if_quiet();
    }
}
