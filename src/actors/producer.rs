//! The producer: turns plans into batches and keeps the queue full.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, Context, Handler, Recipient};
use tracing::{debug_span, trace};

use super::floor::Floor;
use super::lifeline::Lifeline;
use super::messages::{Close, Halt, Offer, Quiet, Retry, Settled};
use super::queue::{Batch, Inlet};
use super::tasks::Scatter;
use super::{LANES, PRODUCER};

/// The most tasks in a batch: bounds what is in memory.
const LARGEST: usize = 1024;

/// How many batches each worker should still get from what is left: the more, the closer together
/// the workers finish.
const SHARES: f64 = 3.0;

/// The shortest batch worth its messages, in seconds, however close the end.
const SHORTEST: f64 = 1e-3;

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
    /// Batches offered and not settled.
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
            while self.in_flight < self.limit && self.offer_one(&inlet) {
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
        let fair = seconds_left / (SHARES * self.floor.workers as f64);
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
        })
    }

    /// Tells the run when it was halted and everything has come back.
    fn tell_if_quiet(&self) {
        if self.halted && self.in_flight == 0 {
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
            let back = inlet.take_back();
            self.in_flight -= back.len();
            for batch in back {
                self.keep(batch);
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
        self.in_flight -= 1;
        self.fresh[settled.left.plan].seconds_per_cost = settled.seconds_per_cost;
        if !settled.left.tasks.is_empty() {
            self.keep(settled.left);
        }
        self.offer();
        self.tell_if_quiet();
    }
}

impl Handler<Retry> for Producer {
    type Result = ();

    fn handle(&mut self, retry: Retry, _: &mut Self::Context) {
        // With one worker it is the same one, whose counter was thrown away by the panic.
        let worker = (retry.not_on + 1) % self.floor.workers;
        self.keep(Batch {
            plan: retry.plan,
            tasks: vec![retry.task],
            only: Some(worker),
        });
        self.offer();
    }
}
