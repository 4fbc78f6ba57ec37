//! The producer: what is left to hand out. It cuts that into batches, keeps the queue full, gives devices what they ask
//! for, and says when all has come back.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use actix::{Actor, Context, Handler};

use crate::actors::{
    Balance, Batch, EventKind, Inlet, PlanIndex, RunError, RunLink, RunShared, Supply, SupplySize,
    ToProducer, ToRun, Want, WorkerIndex,
};
use crate::engine::Plan;

/// The most tasks in a batch. It bounds memory: the results of a batch may wait for its end.
const LARGEST: usize = 1024;

/// The most tasks in a batch of tasks that are counted again.
const LARGEST_RECOUNT: usize = 64;

/// The tasks of one plan that were never handed out: what its source still gives.
pub(crate) struct Fresh {
    walk: Box<dyn Iterator<Item = u64> + Send>,
    /// The next task with its cost; `None` if the source has ended.
    next: Option<(u64, f64)>,
    /// What the source was expected to give.
    expected: SupplySize,
    issued: u64,
    cost_issued: f64,
}

impl Fresh {
    pub(crate) fn new(supply: Supply, plan: &dyn Plan) -> Self {
        let mut fresh = Self {
            walk: supply.walk,
            next: None,
            expected: supply.size,
            issued: 0,
            cost_issued: 0.0,
        };
        fresh.step(plan);
        fresh
    }

    fn step(&mut self, plan: &dyn Plan) {
        let next = self.walk.next();
        self.next = next.map(|task| (task, plan.task(task).cost));
    }

    /// Takes the next task into a batch.
    fn take(&mut self, plan: &dyn Plan, batch: &mut Batch) {
        if let Some((task, cost)) = self.next {
            self.issued += 1;
            self.cost_issued += cost;
            batch.tasks.push(task);
            batch.cost += cost;
            self.step(plan);
        }
    }

    /// The cost of what the source still gives. The costs of a plan's tasks may be more together than the plan expects, so
    /// this is at least the cost of the next one.
    fn cost_left(&self) -> f64 {
        let next = self.next.map_or(0.0, |(_, cost)| cost);
        (self.expected.cost - self.cost_issued).max(next)
    }

    /// The share of the tasks that was handed out.
    fn issued(&self) -> f64 {
        self.issued as f64 / self.expected.tasks.max(1) as f64
    }
}

pub(crate) struct Producer {
    shared: Arc<RunShared>,
    run: RunLink,
    balance: Balance,
    fresh: Vec<Fresh>,
    /// Batches for one CPU worker alone: of tasks that panicked, or are counted again.
    retries: VecDeque<Batch>,
    /// Batches taken back, or given up half done.
    returned: VecDeque<Batch>,
    /// `None` once closed.
    inlet: Option<Inlet>,
    /// What devices asked for and did not get yet.
    wants: Vec<Want>,
    /// The most batches that are offered to CPU workers and not settled yet. The queue has room for all of them, so an offer never fails for lack of it.
    limit: u64,
    halted: bool,
    /// Whether tasks were handed out since the workers were last asked for their canaries.
    untested: bool,
    /// Whether the run knows from this actor that all is complete.
    completed: bool,
    /// Who left last, and the error if the last worker of the largest plan has left and tasks of it remain.
    missed: Option<(WorkerIndex, RunError)>,
}

impl Producer {
    pub(crate) fn new(
        shared: Arc<RunShared>,
        run: RunLink,
        fresh: Vec<Fresh>,
        inlet: Inlet,
        limit: usize,
    ) -> Self {
        Self {
            balance: Balance::new(&shared.roster, fresh.len(), shared.devices.plan()),
            shared,
            run,
            fresh,
            retries: VecDeque::new(),
            returned: VecDeque::new(),
            inlet: Some(inlet),
            wants: Vec::new(),
            limit: limit as u64,
            halted: true,
            untested: true,
            completed: false,
            missed: None,
        }
    }

    /// Fills the queue, and says so when everything is counted.
    fn offer(&mut self) {
        if self.inlet.is_none() {
            return;
        }
        let (sharers, roster) = (self.shared.sharers_left(), &self.shared.roster);
        self.balance.note_left(sharers, roster.devices_left());
        if !self.halted {
            self.fill();
        }
        // A paused run also ends when its last tasks come back.
        let exhausted = self.retries.is_empty()
            && self.returned.is_empty()
            && self.fresh.iter().all(|fresh| fresh.next.is_none());
        self.shared.observers.progress().set_exhausted(exhausted);
        if exhausted && self.balance.nothing_is_out() && !self.ask_for_canaries() && !self.completed
        {
            self.completed = true;
            self.run.do_send(ToRun::Complete);
        }
    }

    fn fill(&mut self) {
        let start = Instant::now();
        for want in std::mem::take(&mut self.wants) {
            match self.cut_for_device(&want) {
                Some(batch) => _ = self.hand_out(batch),
                None => self.wants.push(want),
            }
        }
        while self.balance.batches_on_cpu() < self.limit
            && let Some(batch) = self.cut_for_cpu()
            && self.hand_out(batch)
        {}
        let batches = self.inlet.as_ref().map_or(0, Inlet::depth);
        let observers = &self.shared.observers;
        observers.tell(EventKind::Queued { batches });
        let time = observers.span(start, Instant::now());
        observers.tell(EventKind::Offered { time });
        if self.next_cost().is_some()
            && let Some(lost) = self.lost()
        {
            self.run.do_send(lost);
        }
    }

    /// The message to the run about the worker that left last; `None` if the run goes on.
    ///
    /// It ends in order if a directory keeps it and devices failed that did more of its work than all others together.
    /// Without them it would take more than twice as long: a process that begins again may have them back.
    fn lost(&mut self) -> Option<ToRun> {
        let (worker, error) = self.missed.take()?;
        let roster = &self.shared.roster;
        let workers = self.shared.observers.progress().now().workers;
        let nodes = |is_lost: bool| -> u64 {
            let all = workers.iter().enumerate();
            let of = all.filter(|(at, _)| {
                let worker = WorkerIndex(*at);
                (roster.device(worker).is_some() && roster.is_retired(worker)) == is_lost
            });
            of.map(|(_, worker)| worker.nodes).sum()
        };
        let is_failure = matches!(error, RunError::Runtime(_));
        let is_kept = self.shared.spec.recorder.is_some();
        if is_failure && is_kept && nodes(true) > nodes(false) {
            return Some(ToRun::DeviceLost(roster.id(worker)));
        }
        (self.shared.counting_left() == 0).then_some(ToRun::Failed(error))
    }

    /// Asks all workers for their canaries, unless they counted no task since they were last asked.
    /// Returns whether something is to be waited for: while the run is paused, that it goes on.
    fn ask_for_canaries(&mut self) -> bool {
        let wanted = self.untested && self.shared.spec.canary.is_some();
        if wanted && !self.halted {
            self.untested = false;
            let shared = Arc::clone(&self.shared);
            for worker in shared.roster.left() {
                self.hand_out(Batch::canary(worker));
            }
        }
        wanted
    }

    /// Offers a batch. Returns whether it was taken; otherwise it is kept.
    fn hand_out(&mut self, batch: Batch) -> bool {
        self.balance.hand_out(&batch);
        if !batch.is_canary() {
            self.untested = true;
            self.completed = false;
        }
        let offered = self.inlet.as_ref().map(|inlet| inlet.offer(batch));
        match offered {
            Some(Err(batch)) => {
                self.comes_back(batch);
                false
            }
            taken => taken.is_some(),
        }
    }

    fn is_on_device(&self, batch: &Batch) -> bool {
        let mut only = batch.only.iter();
        only.any(|&worker| !self.shared.roster.is_cpu(worker))
    }

    /// Notes that nobody holds a batch any more, and keeps what is left of it.
    fn comes_back(&mut self, batch: Batch) {
        self.balance.take_back(&batch);
        self.keep(batch);
    }

    /// Takes back what was not drawn yet.
    fn take_back(&mut self, from: impl FnOnce(&Inlet) -> Vec<Batch>) {
        for batch in self.inlet.as_ref().map(from).into_iter().flatten() {
            // Whoever was asked has not counted it.
            self.untested |= batch.is_canary();
            self.comes_back(batch);
        }
    }

    /// Keeps a batch to offer it before any fresh task.
    fn keep(&mut self, mut batch: Batch) {
        let plan = Arc::clone(self.shared.plan(batch.plan));
        let cost = |task: &u64| plan.task(*task).cost;
        if self.is_on_device(&batch) {
            batch.only = None;
            if batch.again.is_none() {
                // One task a batch, so that CPU workers can take it.
                let tasks = batch.tasks.into_iter();
                return self.returned.extend(tasks.map(|task| Batch {
                    cost: cost(&task),
                    ..Batch::of(batch.plan, vec![task])
                }));
            }
        }
        if !batch.tasks.is_empty() {
            batch.cost = batch.tasks.iter().map(cost).sum();
            let kept = match batch.only {
                Some(_) => &mut self.retries,
                None => &mut self.returned,
            };
            kept.push_front(batch);
        }
    }

    /// A batch for a CPU worker: what must be tried again first, then what came back, then fresh tasks.
    fn cut_for_cpu(&mut self) -> Option<Batch> {
        let roster = &self.shared.roster;
        if let Some(mut batch) = self.retries.pop_front() {
            let only = batch.only.filter(|worker| !roster.is_retired(*worker));
            batch.only = only.or_else(|| roster.elsewhere(batch.only.as_slice()));
            return Some(batch);
        }
        let left = self.left_for_devices();
        let at = self.returned.iter().position(|batch| {
            !self.is_for_devices(batch.plan, batch.cost, left, batch.again.is_some())
        });
        if let Some(mut batch) = at.and_then(|at| self.returned.remove(at)) {
            let mut avoided = batch.tasks.iter();
            let avoided = avoided.find_map(|&task| self.shared.avoided(batch.plan, task));
            batch.only = avoided.and_then(|avoided| self.other_worker(avoided));
            return Some(batch);
        }
        self.cut_fresh(left)
    }

    /// The CPU worker other than `avoided` that holds the fewest batches.
    fn other_worker(&self, avoided: WorkerIndex) -> Option<WorkerIndex> {
        let roster = &self.shared.roster;
        let others = roster
            .left()
            .filter(|&worker| worker != avoided && roster.is_cpu(worker));
        others.min_by_key(|&worker| self.balance.batches_of(worker))
    }

    /// Whether CPU workers are to leave tasks of such a cost to devices, where so much is left for devices in all.
    fn is_for_devices(&self, plan: PlanIndex, cost: f64, left: f64, again: bool) -> bool {
        let (devices, roster) = (&self.shared.devices, &self.shared.roster);
        if devices.is_theirs_alone {
            // A CPU worker counts again what nobody else can.
            return devices.counts(plan) && (!again || roster.devices_left() > 0);
        }
        let busy = self.balance.batches_on_cpu() >= roster.cpu_workers_left() as u64;
        devices.counts(plan) && self.balance.keeps_cpu_waiting(left, cost, busy)
    }

    /// The cost of the tasks that nobody holds of the plan that devices count.
    fn left_for_devices(&self) -> f64 {
        let Some(plan) = self.shared.devices.plan() else {
            return 0.0;
        };
        let waiting = self.retries.iter().chain(&self.returned);
        let waiting = waiting.filter(|batch| batch.plan == plan);
        self.fresh[plan.0].cost_left() + waiting.map(|batch| batch.cost).sum::<f64>()
    }

    /// The first batch that came back of what devices count, to be counted again or for the first time.
    fn returned_for_devices(&self, again: bool) -> Option<usize> {
        let plan = self.shared.devices.plan()?;
        let is_such = |batch: &Batch| match &batch.again {
            None => !again,
            Some(not_by) => again && not_by.is_empty(),
        };
        let mut returned = self.returned.iter();
        returned.position(|batch| batch.plan == plan && is_such(batch))
    }

    /// The cost of the next batch for a device: of what came back, or of the next fresh task.
    fn next_cost(&self) -> Option<f64> {
        let fresh = || Some(self.fresh[self.shared.devices.plan()?.0].next?.1);
        let returned = self.returned_for_devices(false);
        returned.map_or_else(fresh, |at| Some(self.returned[at].cost))
    }

    /// A batch for a device: of what came back, else of fresh tasks.
    fn cut_for_device(&mut self, want: &Want) -> Option<Batch> {
        let mut batch = Batch {
            only: Some(want.worker),
            ..Batch::of(self.shared.devices.plan()?, Vec::new())
        };
        // What is counted again stays apart: others must not take it for tasks without a count.
        let again = self.returned_for_devices(true);
        if let Some(again) = again.and_then(|at| self.returned.remove(at)) {
            return Some(Batch {
                only: batch.only,
                ..again
            });
        }
        let (left, task) = (self.left_for_devices(), self.next_cost()?);
        let target = self.balance.grant(want.worker, want.cost, left, task)?;
        let is_enough = |batch: &Batch| !batch.tasks.is_empty() && batch.cost >= target;
        while !is_enough(&batch)
            && let Some(at) = self.returned_for_devices(false)
            && let Some(mut returned) = self.returned.remove(at)
        {
            batch.cost += returned.cost;
            batch.tasks.append(&mut returned.tasks);
        }
        let plan = self.shared.plan(batch.plan).as_ref();
        let fresh = &mut self.fresh[batch.plan.0];
        while !is_enough(&batch) && fresh.next.is_some() {
            fresh.take(plan, &mut batch);
        }
        Some(batch)
    }

    /// Cuts a batch off the plan that is furthest behind, so that all plans advance alike.
    fn cut_fresh(&mut self, left_for_devices: f64) -> Option<Batch> {
        let plans = self.shared.plan_indices().zip(&self.fresh);
        let seconds = plans.filter_map(|(plan, of)| self.balance.seconds(plan, of.cost_left()));
        let most = self.shared.spec.batch_time;
        let target = self.balance.batch_seconds(seconds.sum(), most);
        let open = |plan: &PlanIndex| {
            let next = self.fresh[plan.0].next;
            let is_for_devices =
                |(_, cost)| self.is_for_devices(*plan, cost, left_for_devices, false);
            next.is_some_and(|next| !is_for_devices(next))
        };
        let issued = |plan: PlanIndex| self.fresh[plan.0].issued();
        let plans = self.shared.plan_indices().filter(open);
        let index = plans.min_by(|&a, &b| issued(a).total_cmp(&issued(b)))?;
        // Tasks that a worker must not count are for one of the others alone.
        let avoided = |(task, _)| self.shared.avoided(index, task);
        let first = self.fresh[index.0].next.and_then(avoided);
        let mut batch = Batch {
            only: first.and_then(|avoided| self.other_worker(avoided)),
            ..Batch::of(index, Vec::new())
        };
        let plan = self.shared.plan(index).as_ref();
        let fresh = &mut self.fresh[index.0];
        while let Some(next) = fresh.next {
            // The first task goes anyway; before anything is measured it goes alone.
            let expected = self.balance.seconds(index, batch.cost + next.1);
            let fits = expected.is_some_and(|seconds| seconds <= target)
                && batch.tasks.len() < LARGEST
                && avoided(next)
                    .is_none_or(|avoided| batch.only.is_some_and(|only| only != avoided));
            if !batch.tasks.is_empty() && !fits {
                break;
            }
            fresh.take(plan, &mut batch);
        }
        Some(batch)
    }

    /// Tells the run when it was halted and everything has come back.
    fn tell_if_quiet(&self) {
        if self.halted && self.balance.nothing_is_out() {
            self.run.do_send(ToRun::Quiet);
        }
    }

    fn want(&mut self, want: Want) {
        if let Some(speed) = want.speed {
            self.balance.note_device(want.worker, speed);
        }
        // A device asks again if it got no answer.
        self.wants.retain(|other| other.worker != want.worker);
        self.wants.push(want);
    }

    fn leave(&mut self, worker: WorkerIndex, missed: RunError) {
        self.wants.retain(|want| want.worker != worker);
        self.balance.forget(worker);
        self.take_back(|inlet| inlet.take_back_from(worker));
        self.missed = Some((worker, missed));
    }

    fn halt(&mut self, halted: bool) {
        self.halted = halted;
        self.shared.set_halted(halted);
    }
}

impl Actor for Producer {
    type Context = Context<Self>;
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
            ToProducer::Settled(left, seconds_per_cost) => {
                self.balance.note_cpu(left.plan, seconds_per_cost);
                self.comes_back(left);
            }
            ToProducer::Keep(batch) => {
                for tasks in batch.tasks.chunks(LARGEST_RECOUNT) {
                    self.keep(batch.with(tasks));
                }
            }
            ToProducer::Want(want) => self.want(want),
            ToProducer::Leave(worker, missed) => self.leave(worker, missed),
        }
        self.offer();
        self.tell_if_quiet();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::producing::source::{Source, WholePlans};
    use crate::colour::ColourPlan;

    #[test]
    fn as_long_as_there_is_a_task_its_cost_is_left() {
        let plan = ColourPlan::new(crate::board::Size::new(16).unwrap());
        // The source expects next to nothing.
        let size = SupplySize {
            tasks: plan.tasks(),
            cost: 1e-9,
        };
        let whole = WholePlans.open(&plan);
        let mut fresh = Fresh::new(Supply { size, ..whole }, &plan);
        let mut batch = Batch::of(PlanIndex(0), Vec::new());
        while let Some((_, cost)) = fresh.next {
            assert!(fresh.cost_left() >= cost);
            fresh.take(&plan, &mut batch);
        }
        assert_eq!(batch.tasks.len() as u64, plan.tasks());
        assert_eq!(fresh.cost_left(), 0.0);
    }
}
