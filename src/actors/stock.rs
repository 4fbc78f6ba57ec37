//! What is left to hand out, and how it is cut into batches for CPU workers and devices.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::balance::Balance;
use super::fresh::Fresh;
use super::index::{PlanIndex, WorkerIndex};
use super::messages::Want;
use super::queue::Batch;
use super::shared::RunShared;

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

/// The tasks that nobody holds: those that were never handed out, and those that came back.
pub(super) struct Stock {
    shared: Arc<RunShared>,
    batch_time: Duration,
    fresh: Vec<Fresh>,
    /// Batches for one worker alone that came back, or of tasks that panicked.
    retries: VecDeque<Batch>,
    /// Batches taken back, or given up half done.
    returned: VecDeque<Batch>,
    balance: Balance,
    /// How many batches each CPU worker holds that are for it alone.
    held: Vec<usize>,
}

impl Stock {
    pub(super) fn new(shared: Arc<RunShared>, batch_time: Duration, fresh: Vec<Fresh>) -> Self {
        Self {
            balance: Balance::new(shared.roster.cpu_workers()),
            held: vec![0; shared.roster.cpu_workers()],
            shared,
            batch_time,
            fresh,
            retries: VecDeque::new(),
            returned: VecDeque::new(),
        }
    }

    /// Notes how many CPU workers are left.
    pub(super) fn note_workers(&mut self) {
        self.balance
            .note_workers(self.shared.roster.cpu_workers_left());
    }

    /// The first index past the end of its plan that a source gave, with the number of the plan; once.
    pub(super) fn take_beyond(&mut self) -> Option<(PlanIndex, u64)> {
        let mut plans = self.fresh.iter_mut().enumerate();
        plans.find_map(|(plan, fresh)| Some((PlanIndex(plan), fresh.take_beyond()?)))
    }

    /// Whether nothing is left, and nothing more will come from the sources.
    pub(super) fn is_exhausted(&self) -> bool {
        self.retries.is_empty() && self.returned.is_empty() && self.fresh.iter().all(Fresh::is_over)
    }

    /// Notes what a CPU worker takes for a unit of cost of this plan, once known.
    pub(super) fn note_cpu(&mut self, plan: PlanIndex, seconds_per_cost: Option<f64>) {
        self.fresh[plan.0].seconds_per_cost = seconds_per_cost;
        if self.shared.devices.counts(plan) {
            self.balance.note_cpu(seconds_per_cost);
        }
    }

    /// Notes how much cost a device counts per second.
    pub(super) fn note_device(&mut self, device: WorkerIndex, speed: f64) {
        self.balance.note_device(device, speed);
    }

    /// Notes that a device takes no more.
    pub(super) fn forget(&mut self, device: WorkerIndex) {
        self.balance.forget(device);
    }

    /// A batch for a CPU worker: what must be tried again first, then what came back, then fresh
    /// tasks. `busy`: whether all CPU workers have something to count.
    pub(super) fn cut_for_cpu(&mut self, busy: bool) -> Option<Batch> {
        let roster = &self.shared.roster;
        let own = |batch: &Batch| batch.only.is_some_and(|worker| roster.is_cpu(worker));
        let at = self.retries.iter().position(own);
        let next = at.and_then(|at| self.retries.remove(at));
        let next = next.or_else(|| {
            let mut batch = self.take_returned(busy)?;
            let mut avoided = batch.tasks.iter();
            let avoided = avoided.find_map(|&task| self.shared.avoided(batch.plan, task));
            batch.only = avoided.and_then(|avoided| self.other_worker(avoided));
            Some(batch)
        });
        next.or_else(|| self.cut_fresh(busy))
    }

    /// Notes that somebody holds the batch.
    pub(super) fn hand_out(&mut self, batch: &Batch) {
        if let Some(held) = self.held_alone(batch) {
            *held += 1;
        }
        if self.shared.devices.counts(batch.plan) {
            self.balance.hand_out(batch);
        }
    }

    /// Forgets that somebody holds the batch.
    pub(super) fn take_back(&mut self, batch: &Batch) {
        if let Some(held) = self.held_alone(batch) {
            *held = held.saturating_sub(1);
        }
        if self.shared.devices.counts(batch.plan) {
            self.balance.take_back(batch);
        }
    }

    /// The number of batches of the CPU worker that a batch is for, if it is for one alone.
    fn held_alone(&mut self, batch: &Batch) -> Option<&mut usize> {
        let worker = batch.only.filter(|_| !batch.for_device)?;
        self.held.get_mut(worker.0)
    }

    /// The CPU worker other than `avoided` that holds the fewest batches.
    fn other_worker(&self, avoided: WorkerIndex) -> Option<WorkerIndex> {
        let roster = &self.shared.roster;
        let others = roster
            .left()
            .filter(|&worker| worker != avoided && roster.is_cpu(worker));
        others.min_by_key(|worker| self.held[worker.0])
    }

    /// Keeps a batch that was not taken after all.
    pub(super) fn withdraw(&mut self, batch: Batch) {
        self.take_back(&batch);
        if batch.for_device {
            self.scatter(batch);
        } else {
            self.keep(batch);
        }
    }

    /// A returned batch that a CPU worker may have.
    fn take_returned(&mut self, busy: bool) -> Option<Batch> {
        let at = (0..self.returned.len()).find(|&at| {
            let Batch { plan, cost, .. } = self.returned[at];
            !self.is_for_devices(plan, cost, busy)
        })?;
        self.returned.remove(at)
    }

    /// Whether CPU workers are to leave a batch of this plan and cost to devices.
    fn is_for_devices(&self, plan: PlanIndex, cost: f64, busy: bool) -> bool {
        self.shared.devices.counts(plan)
            && self.balance.keeps_cpu_waiting(self.left(plan), cost, busy)
    }

    /// The cost of a plan's tasks that nobody holds.
    fn left(&self, plan: PlanIndex) -> f64 {
        let waiting = self.retries.iter().chain(&self.returned);
        let waiting = waiting.filter(|batch| batch.plan == plan);
        self.fresh[plan.0].cost_left() + waiting.map(|batch| batch.cost).sum::<f64>()
    }

    /// A batch for a device: of what came back, else of a plan that it counts.
    pub(super) fn cut_for_device(&mut self, want: &Want) -> Option<Batch> {
        // Without CPU workers, the thread of a device counts what its device cannot.
        let no_cpu = self.shared.roster.cpu_workers_left() == 0;
        let own = |batch: &Batch| batch.only == Some(want.worker);
        // What is counted again stays apart: others must not take it for tasks without a count.
        let again = |batch: &Batch| {
            batch.again.is_some() && (no_cpu || self.shared.devices.counts(batch.plan))
        };
        let kept = match self.retries.iter().position(own) {
            Some(at) => self.retries.remove(at),
            None => {
                let at = self.returned.iter().position(again);
                at.and_then(|at| self.returned.remove(at))
            }
        };
        if let Some(kept) = kept {
            return Some(Batch {
                only: Some(want.worker),
                for_device: true,
                ..kept
            });
        }
        let plan = self.shared.plan_indices().find(|&plan| {
            (no_cpu || self.shared.devices.counts(plan))
                && (self.fresh[plan.0].peek().is_some()
                    || self.returned.iter().any(|batch| batch.plan == plan))
        })?;
        let target = match self.next_cost(plan) {
            Some(task) if self.shared.devices.counts(plan) => {
                let (left, workers) = (self.left(plan), self.shared.roster.workers_left());
                self.balance
                    .grant(want.worker, want.cost, left, task, workers)?
            }
            _ => want.cost,
        };
        let mut batch = Batch {
            only: Some(want.worker),
            for_device: true,
            ..Batch::of(plan, Vec::new())
        };
        while (batch.tasks.is_empty() || batch.cost < target)
            && let Some(at) = self.returned.iter().position(|other| other.plan == plan)
            && let Some(mut returned) = self.returned.remove(at)
        {
            batch.cost += returned.cost;
            batch.tasks.append(&mut returned.tasks);
        }
        let fresh = &mut self.fresh[plan.0];
        while (batch.tasks.is_empty() || batch.cost < target)
            && let Some((task, cost)) = fresh.take(self.shared.plan(plan).as_ref())
        {
            batch.cost += cost;
            batch.tasks.push(task);
        }
        Some(batch)
    }

    /// The cost of the next batch that came back, or of the next fresh task.
    fn next_cost(&self, plan: PlanIndex) -> Option<f64> {
        let mut returned = self.returned.iter().filter(|batch| batch.plan == plan);
        let fresh = || Some(self.fresh[plan.0].peek()?.1);
        returned.next().map(|batch| batch.cost).or_else(fresh)
    }

    /// Keeps what a device did not count, one task a batch, so that CPU workers can take it.
    pub(super) fn scatter(&mut self, batch: Batch) {
        if batch.again.is_some() {
            return self.keep(batch);
        }
        let plan = Arc::clone(self.shared.plan(batch.plan));
        self.returned
            .extend(batch.tasks.into_iter().map(|task| Batch {
                cost: plan.task(task).cost,
                ..Batch::of(batch.plan, vec![task])
            }));
    }

    /// Keeps a batch to offer it before any fresh task.
    pub(super) fn keep(&mut self, mut batch: Batch) {
        if batch.is_canary() {
            return;
        }
        let plan = &self.shared.plan(batch.plan);
        batch.cost = batch.tasks.iter().map(|&task| plan.task(task).cost).sum();
        batch.for_device = false;
        if let Some(retired) = batch
            .only
            .filter(|&worker| self.shared.roster.is_retired(worker))
        {
            batch.only = self.shared.roster.elsewhere(&[retired]);
        }
        let kept = match batch.only {
            Some(_) => &mut self.retries,
            None => &mut self.returned,
        };
        kept.push_front(batch);
    }

    /// Lets others count what only a worker could that counts no more.
    pub(super) fn release(&mut self, worker: WorkerIndex) {
        let elsewhere = self.shared.roster.elsewhere(&[worker]);
        for batch in &mut self.retries {
            if batch.only == Some(worker) {
                batch.only = elsewhere;
            }
        }
        let (kept, free) = std::mem::take(&mut self.retries)
            .into_iter()
            .partition(|batch| batch.only.is_some());
        self.retries = kept;
        self.returned.extend::<VecDeque<_>>(free);
    }

    /// Cuts a batch off the plan that is furthest behind, so that all plans advance alike.
    fn cut_fresh(&mut self, busy: bool) -> Option<Batch> {
        let seconds_left: f64 = self.fresh.iter().map(Fresh::seconds_left).sum();
        let workers = self.shared.roster.cpu_workers() as f64 + self.balance.devices_in_workers();
        // One worker alone has nobody to wait for.
        let fair = if workers > 1.0 {
            seconds_left / (SHARES * workers)
        } else {
            seconds_left
        };
        let target = fair.max(SHORTEST).min(self.batch_time.as_secs_f64());
        let index = self
            .shared
            .plan_indices()
            .filter(|&plan| {
                self.fresh[plan.0].peek().is_some()
                    && !(self.shared.devices.counts(plan)
                        && self
                            .next_cost(plan)
                            .is_some_and(|cost| self.is_for_devices(plan, cost, busy)))
            })
            .min_by(|&a, &b| {
                self.fresh[a.0]
                    .issued()
                    .total_cmp(&self.fresh[b.0].issued())
            })?;
        // Tasks that a worker must not count are for one of the others alone.
        let (first, _) = self.fresh[index.0].peek()?;
        let avoided = self.shared.avoided(index, first);
        let only = avoided.and_then(|avoided| self.other_worker(avoided));
        let fresh = &mut self.fresh[index.0];
        let mut tasks = Vec::new();
        let (mut seconds, mut batch_cost) = (0.0, 0.0);
        while let Some((task, cost)) = fresh.peek() {
            // The first task goes anyway; before anything is measured it goes alone.
            let expected = fresh
                .seconds_per_cost
                .map(|per_cost| seconds + cost * per_cost);
            let fits = expected.is_some_and(|seconds| seconds <= target);
            let fits = fits && tasks.len() < LARGEST && {
                let avoided = self.shared.avoided(index, task);
                avoided.is_none() || (only.is_some() && avoided != only)
            };
            if !tasks.is_empty() && !fits {
                break;
            }
            fresh.take(self.shared.plan(index).as_ref());
            seconds = expected.unwrap_or(0.0);
            batch_cost += cost;
            tasks.push(task);
        }
        Some(Batch {
            cost: batch_cost,
            only,
            ..Batch::of(index, tasks)
        })
    }
}
