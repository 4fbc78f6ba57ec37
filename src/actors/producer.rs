//! The producer: turns plans into batches and keeps the queue full.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Context, Handler, Recipient};
use tracing::{debug_span, trace};

use super::floor::Floor;
use super::lifeline::Lifeline;
use super::messages::{Close, Halt, Leave, Offer, Quiet, Retry, Settled, Want};
use super::queue::{Batch, Inlet};
use super::tasks::Scatter;
use super::{LANES, PRODUCER};
use crate::engine::Engine;

/// The most tasks in a batch: bounds what is in memory.
const LARGEST: usize = 1024;

/// How many batches each worker should still get from what is left: the more, the closer together
/// the workers finish.
const SHARES: f64 = 3.0;

/// The shortest batch worth its messages, in seconds, however close the end.
const SHORTEST: f64 = 1e-3;

/// The shortest batch worth a launch, in seconds of a device.
const SHORTEST_ON_DEVICE: f64 = 5e-3;

pub(super) struct Producer {
    floor: Arc<Floor>,
    run: Recipient<Quiet>,
    _lifeline: Lifeline,
    batch_time: Duration,
    fresh: Vec<Fresh>,
    /// Batches of tasks that panicked, each for one worker alone.
    retries: VecDeque<Batch>,
    /// Batches taken back, or given up half done.
    returned: VecDeque<Batch>,
    /// `None` once closed.
    inlet: Option<Inlet>,
    /// What devices have asked for and not got.
    wants: Vec<Want>,
    /// Cost that each device counts per second, by its worker number, once known.
    speeds: BTreeMap<usize, f64>,
    /// Batches in the hands of devices.
    on_devices: usize,
    /// Batches offered to CPU workers and not settled.
    in_flight: usize,
    /// The most of these.
    limit: usize,
    halted: bool,
}

/// Tasks of one plan that were never handed out.
struct Fresh {
    scatter: Scatter,
    /// The next task in scattered order that is to be counted, or the end.
    position: u64,
    tasks: u64,
    /// Of the tasks to be counted.
    cost: f64,
    cost_issued: f64,
    seconds_per_cost: Option<f64>,
}

impl Fresh {
    fn new(floor: &Floor, plan: usize) -> Self {
        let (tasks, cost) = match floor.recorder {
            None => (floor.plans[plan].tasks(), floor.plans[plan].total_cost()),
            Some(_) => {
                let of = &floor.plans[plan];
                let pending = (0..of.tasks()).filter(|&task| floor.is_pending(plan, task));
                (of.tasks(), pending.map(|task| of.task(task).cost).sum())
            }
        };
        let mut fresh = Self {
            scatter: Scatter::new(tasks),
            position: 0,
            tasks,
            cost,
            cost_issued: 0.0,
            seconds_per_cost: None,
        };
        fresh.skip(floor, plan);
        fresh
    }

    /// Moves on to a task that is to be counted.
    fn skip(&mut self, floor: &Floor, plan: usize) {
        while let Some(task) = self.scatter.task(self.position)
            && !floor.is_pending(plan, task)
        {
            self.position += 1;
        }
    }

    fn issued(&self) -> f64 {
        self.position as f64 / self.tasks as f64
    }

    fn seconds_left(&self) -> f64 {
        (self.cost - self.cost_issued).max(0.0) * self.seconds_per_cost.unwrap_or(0.0)
    }
}

impl Producer {
    /// The most batches that may be offered and not settled: as many as may wait, and one in the
    /// hands of each worker. The queue holds as many, so that it is full only when they are out.
    pub(super) fn limit(workers: usize, queue_per_worker: usize) -> usize {
        workers * (queue_per_worker + 1)
    }

    pub(super) fn new(
        floor: Arc<Floor>,
        run: Recipient<Quiet>,
        lifeline: Lifeline,
        batch_time: Duration,
        inlet: Inlet,
        limit: usize,
    ) -> Self {
        let fresh = (0..floor.plans.len())
            .map(|plan| Fresh::new(&floor, plan))
            .collect();
        Self {
            floor,
            run,
            _lifeline: lifeline,
            batch_time,
            fresh,
            retries: VecDeque::new(),
            returned: VecDeque::new(),
            inlet: Some(inlet),
            wants: Vec::new(),
            speeds: BTreeMap::new(),
            on_devices: 0,
            in_flight: 0,
            limit,
            halted: true,
        }
    }

    /// Fills the queue: what must be tried again first, then what came back, then fresh tasks.
    fn offer(&mut self) {
        let Some(inlet) = self.inlet.take() else {
            return;
        };
        if !self.halted {
            let _span = debug_span!(target: LANES, "offer", lane = PRODUCER).entered();
            self.serve_devices(&inlet);
            let limit = if self.floor.workers == 0 {
                0
            } else {
                self.limit
            };
            while self.in_flight < limit && self.offer_one(&inlet) {
                self.in_flight += 1;
            }
            trace!(target: LANES, counter = "queue depth", batches = inlet.depth());
            let exhausted = self.retries.is_empty()
                && self.returned.is_empty()
                && self.fresh.iter().all(|fresh| fresh.position == fresh.tasks);
            self.floor.set_exhausted(exhausted);
        }
        self.inlet = Some(inlet);
    }

    fn offer_one(&mut self, inlet: &Inlet) -> bool {
        let next = self.retries.pop_front();
        let next = next.or_else(|| self.returned.pop_front());
        let Some(batch) = next.or_else(|| self.cut()) else {
            return false;
        };
        inlet.offer(batch).map_err(|batch| self.keep(batch)).is_ok()
    }

    /// Gives devices what they have asked for, as far as there is something for them.
    fn serve_devices(&mut self, inlet: &Inlet) {
        for want in std::mem::take(&mut self.wants) {
            let Some(batch) = self.cut_for(&want) else {
                self.wants.push(want);
                continue;
            };
            match inlet.offer(batch) {
                Ok(()) => self.on_devices += 1,
                Err(batch) => {
                    self.scatter(batch);
                    self.wants.push(want);
                }
            }
        }
    }

    /// A batch for a device: of what came back, else of a plan that it counts.
    fn cut_for(&mut self, want: &Want) -> Option<Batch> {
        let floor = Arc::clone(&self.floor);
        // Without CPU workers, the thread of a device counts what the device cannot.
        let takes = |plan: usize| floor.workers == 0 || floor.plans[plan].engine() == Engine::Chain;
        let mut batch = None;
        if floor.workers == 0 {
            batch = self.retries.pop_front();
        }
        let mut filled = 0.0;
        while filled < want.cost
            && let Some(at) = self.returned.iter().position(|returned| {
                batch.as_ref().map_or_else(
                    || takes(returned.plan),
                    |batch: &Batch| batch.plan == returned.plan,
                )
            })
            && let Some(mut returned) = self.returned.remove(at)
        {
            let plan = &floor.plans[returned.plan];
            filled += returned
                .tasks
                .iter()
                .map(|&task| plan.task(task).cost)
                .sum::<f64>();
            match &mut batch {
                Some(batch) => batch.tasks.append(&mut returned.tasks),
                None => batch = Some(returned),
            }
        }
        let batch = batch.or_else(|| self.cut_fresh_for(want, takes))?;
        Some(Batch {
            only: Some(want.worker),
            for_device: true,
            ..batch
        })
    }

    /// Fresh tasks for a device: what it wants, or half of its share of what is left, so that at the
    /// end all finish together.
    fn cut_fresh_for(&mut self, want: &Want, takes: impl Fn(usize) -> bool) -> Option<Batch> {
        let devices: f64 = self.speeds.values().sum();
        let hands = self.floor.hands() as f64;
        let workers = self.floor.workers as f64;
        let (index, fresh) = self
            .fresh
            .iter_mut()
            .enumerate()
            .find(|(plan, fresh)| takes(*plan) && fresh.position < fresh.tasks)?;
        let cpu = fresh
            .seconds_per_cost
            .map_or(0.0, |seconds| workers / seconds);
        let share = want.speed.map_or(1.0 / hands, |own| own / (devices + cpu));
        let least = want.speed.map_or(0.0, |speed| speed * SHORTEST_ON_DEVICE);
        let left = (fresh.cost - fresh.cost_issued).max(0.0);
        let target = (0.5 * left * share).max(least).min(want.cost);
        let mut tasks = Vec::new();
        let mut filled = 0.0;
        while (tasks.is_empty() || filled < target)
            && let Some(task) = fresh.scatter.task(fresh.position)
        {
            let cost = self.floor.plans[index].task(task).cost;
            fresh.position += 1;
            fresh.skip(&self.floor, index);
            fresh.cost_issued += cost;
            filled += cost;
            tasks.push(task);
        }
        Some(Batch {
            plan: index,
            tasks,
            only: None,
            for_device: true,
        })
    }

    /// Keeps what a device did not count, in pieces that a CPU worker can take.
    fn scatter(&mut self, batch: Batch) {
        self.returned
            .extend(batch.tasks.into_iter().map(|task| Batch {
                plan: batch.plan,
                tasks: vec![task],
                only: None,
                for_device: false,
            }));
    }

    /// Keeps a batch to offer it before any fresh task.
    fn keep(&mut self, batch: Batch) {
        let kept = match batch.only {
            Some(_) => &mut self.retries,
            None => &mut self.returned,
        };
        kept.push_front(batch);
    }

    /// Cuts a batch off the plan that is behind the others, so that all advance alike.
    fn cut(&mut self) -> Option<Batch> {
        let seconds_left: f64 = self.fresh.iter().map(Fresh::seconds_left).sum();
        let seconds_per_cost = self.fresh.iter().filter_map(|fresh| fresh.seconds_per_cost);
        let devices: f64 = self.speeds.values().sum();
        // Workers, and what devices are worth in workers.
        let hands = self.floor.workers as f64 + devices * seconds_per_cost.fold(0.0, f64::max);
        let fair = seconds_left / (SHARES * hands);
        let target = fair.max(SHORTEST).min(self.batch_time.as_secs_f64());
        let (index, fresh) = self
            .fresh
            .iter_mut()
            .enumerate()
            .filter(|(_, fresh)| fresh.position < fresh.tasks)
            .min_by(|(_, a), (_, b)| a.issued().total_cmp(&b.issued()))?;
        let mut tasks = Vec::new();
        let mut seconds = 0.0;
        while let Some(task) = fresh.scatter.task(fresh.position) {
            let cost = self.floor.plans[index].task(task).cost;
            // The first task goes anyway; before anything is measured it goes alone.
            let expected = fresh
                .seconds_per_cost
                .map(|per_cost| seconds + cost * per_cost);
            let fits = expected.is_some_and(|seconds| seconds <= target);
            if !tasks.is_empty() && (!fits || tasks.len() == LARGEST) {
                break;
            }
            fresh.position += 1;
            fresh.skip(&self.floor, index);
            fresh.cost_issued += cost;
            seconds = expected.unwrap_or(0.0);
            tasks.push(task);
        }
        Some(Batch {
            plan: index,
            tasks,
            only: None,
            for_device: false,
        })
    }

    /// Tells the run when it was halted and everything has come back.
    fn tell_if_quiet(&self) {
        if self.halted && self.in_flight == 0 && self.on_devices == 0 {
            self.run.do_send(Quiet);
        }
    }
}

impl Actor for Producer {
    type Context = Context<Self>;
}

impl Handler<Offer> for Producer {
    type Result = ();

    fn handle(&mut self, _: Offer, _: &mut Self::Context) {
        self.halted = false;
        self.floor.set_halted(false);
        self.offer();
    }
}

impl Handler<Halt> for Producer {
    type Result = ();

    fn handle(&mut self, _: Halt, _: &mut Self::Context) {
        self.halted = true;
        self.floor.set_halted(true);
        if let Some(inlet) = &self.inlet {
            for batch in inlet.take_back() {
                if batch.for_device {
                    self.on_devices -= 1;
                    self.scatter(batch);
                } else {
                    self.in_flight -= 1;
                    self.keep(batch);
                }
            }
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

    fn handle(&mut self, settled: Settled, _: &mut Self::Context) {
        self.fresh[settled.left.plan].seconds_per_cost = settled.seconds_per_cost;
        if settled.left.for_device {
            self.on_devices -= 1;
            self.scatter(settled.left);
        } else {
            self.in_flight -= 1;
            if !settled.left.tasks.is_empty() {
                self.keep(settled.left);
            }
        }
        self.offer();
        self.tell_if_quiet();
    }
}

impl Handler<Retry> for Producer {
    type Result = ();

    fn handle(&mut self, retry: Retry, _: &mut Self::Context) {
        // With one worker it is the same one, whose counter was thrown away by the panic.
        let worker = (retry.not_on + 1) % self.floor.workers.max(1);
        self.keep(Batch {
            plan: retry.plan,
            tasks: vec![retry.task],
            only: Some(worker),
            for_device: false,
        });
        self.offer();
    }
}

impl Handler<Want> for Producer {
    type Result = ();

    fn handle(&mut self, want: Want, _: &mut Self::Context) {
        if let Some(speed) = want.speed {
            self.speeds.insert(want.worker, speed);
        }
        // A device asks again when it was not heard.
        self.wants.retain(|other| other.worker != want.worker);
        self.wants.push(want);
        self.offer();
    }
}

impl Handler<Leave> for Producer {
    type Result = ();

    fn handle(&mut self, leave: Leave, _: &mut Self::Context) {
        self.wants.retain(|want| want.worker != leave.worker);
        self.speeds.remove(&leave.worker);
        let back = self
            .inlet
            .as_ref()
            .map(|inlet| inlet.take_back_from(leave.worker));
        for batch in back.into_iter().flatten() {
            self.on_devices -= 1;
            self.scatter(batch);
        }
        self.offer();
        self.tell_if_quiet();
    }
}
