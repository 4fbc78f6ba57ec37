//! What a worker holds: the tasks of its leases, and what it counted until that has its receipt.
//!
//! Like the coordinator, it is a state machine without any network.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use super::protocol::{Beat, Finish, Hello, Lease, Plans, Up, ranges};
use super::report::{LARGEST_REPORT, Report};
use super::run_key::RunKey;
use super::times::LeaseTimes;
use crate::actors::Finding;
use crate::actors::Step;
use crate::engine::{Engine, Plan, TaskResult, WorkerId};

/// How long a source with nothing to give is left alone. A lease that arrives waits for so long at most.
const LATER: Duration = Duration::from_millis(10);

/// How long results wait for others, so that a message has more than one.
const GATHER: Duration = Duration::from_millis(200);

/// How long a worker waits for an answer to its wish for a lease, and at first for a receipt, before it says it
/// again.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most reports without a receipt.
const WINDOW: u64 = 8;

/// How many names of ended leases are remembered: a message that comes twice must not begin one again.
const REMEMBERED: usize = 1 << 10;

/// Measured speeds fade with this time of counting, in seconds.
const FADING: f64 = 60.0;

/// What a worker holds.
pub struct Holder {
    plans: Vec<Arc<dyn Plan>>,
    key: RunKey,
    times: LeaseTimes,
    /// Tasks that are to be counted, for each engine.
    queues: BTreeMap<Engine, VecDeque<u64>>,
    leases: BTreeMap<u64, Held>,
    ended: BTreeSet<u64>,
    /// The leases of each task that is not counted yet.
    of_task: HashMap<(Engine, u64), Vec<u64>>,
    /// Items without a receipt.
    outbox: VecDeque<Finding>,
    /// The number of the first of them.
    first: u64,
    /// The number of the next one to send.
    unsent: u64,
    /// Since when an item waits to be sent.
    waiting: Option<Duration>,
    /// When something was sent for the first time, or a receipt came.
    moved: Duration,
    /// Tasks counted, and the seconds that took, by worker.
    measured: HashMap<(Engine, WorkerId), (f64, f64)>,
    /// The tasks that all of them count in a second.
    speeds: BTreeMap<Engine, f64>,
    hands: usize,
    beaten: Option<Duration>,
    asked: Option<Duration>,
    paused_since: Option<Duration>,
    finish: Option<Finish>,
}

/// A lease that is held.
struct Held {
    engine: Engine,
    /// Tasks that are not counted.
    left: BTreeSet<u64>,
    /// Once all are counted: the number behind the last item.
    end: Option<u64>,
}

impl Holder {
    /// Nothing is held yet. `hands`: CPU workers and devices. The first item is `first`.
    pub fn new(plans: Vec<Arc<dyn Plan>>, key: RunKey, hands: usize, first: u64) -> Self {
        Self {
            plans,
            key,
            times: LeaseTimes {
                lease: Duration::from_secs(30),
                work: Duration::from_secs(10),
            },
            queues: BTreeMap::new(),
            leases: BTreeMap::new(),
            ended: BTreeSet::new(),
            of_task: HashMap::new(),
            outbox: VecDeque::new(),
            first,
            unsent: first,
            waiting: None,
            moved: Duration::ZERO,
            measured: HashMap::new(),
            speeds: BTreeMap::new(),
            hands,
            beaten: None,
            asked: None,
            paused_since: None,
            finish: None,
        }
    }

    /// Notes whether the worker is paused. One that is for long gives up its leases, so that others count them.
    pub fn pause(&mut self, now: Duration, paused: bool) {
        if !paused {
            self.paused_since = None;
            return;
        }
        let since = *self.paused_since.get_or_insert(now);
        if now.saturating_sub(since) >= self.times.lease / 2 {
            let open = self.leases.iter().filter(|(_, held)| held.end.is_none());
            let open: Vec<u64> = open.map(|(id, _)| *id).collect();
            self.revoke(&open);
        }
    }

    /// How the coordinator cuts leases.
    pub const fn set_times(&mut self, times: LeaseTimes) {
        self.times = times;
    }

    /// Says hello. What was sent before may be lost.
    pub fn hello(&mut self, facts: String, names: Vec<String>) -> Hello {
        self.unsent = self.first;
        self.asked = None;
        let open = self.leases.iter().filter(|(_, held)| !held.left.is_empty());
        let lease = |(id, held): (&u64, &Held)| Lease {
            id: *id,
            engine: held.engine,
            ranges: ranges(held.left.iter().copied()),
        };
        Hello {
            facts,
            plans: Some(Plans {
                names,
                key: self.key,
            }),
            first: self.first,
            leases: open.map(lease).collect(),
        }
    }

    /// Takes a lease. It may come more than once.
    pub fn take(&mut self, lease: &Lease) {
        let Some(plan) = self.plans.iter().find(|plan| plan.engine() == lease.engine) else {
            return;
        };
        if self.leases.contains_key(&lease.id)
            || self.ended.contains(&lease.id)
            || self.finish.is_some()
        {
            return;
        }
        self.asked = None;
        let mut left = BTreeSet::new();
        for task in lease.tasks().filter(|task| *task < plan.tasks()) {
            let holders = self.of_task.entry((lease.engine, task)).or_default();
            if holders.is_empty() {
                self.queues.entry(lease.engine).or_default().push_back(task);
            }
            holders.push(lease.id);
            left.insert(task);
        }
        let held = Held {
            engine: lease.engine,
            left,
            end: None,
        };
        self.leases.insert(lease.id, held);
    }

    /// Gives leases up.
    pub fn revoke(&mut self, ids: &[u64]) {
        for id in ids {
            let Some(held) = self.leases.remove(id) else {
                continue;
            };
            self.remember(*id);
            for task in held.left {
                let key = (held.engine, task);
                if let Some(holders) = self.of_task.get_mut(&key) {
                    holders.retain(|holder| holder != id);
                    if holders.is_empty() {
                        self.of_task.remove(&key);
                    }
                }
            }
        }
    }

    fn remember(&mut self, id: u64) {
        self.ended.insert(id);
        if self.ended.len() > REMEMBERED {
            self.ended.pop_first();
        }
    }

    /// The next task of an engine.
    pub fn step(&mut self, engine: Engine) -> Step {
        if self.finish.is_some() {
            return Step::End;
        }
        let queue = self.queues.entry(engine).or_default();
        while let Some(task) = queue.pop_front() {
            // Unless its lease was revoked.
            if self.of_task.contains_key(&(engine, task)) {
                return Step::Task(task);
            }
        }
        Step::Later(LATER)
    }

    /// Whether another lease is wanted: the work in the queues will soon be over.
    pub fn is_low(&self) -> bool {
        if self.finish.is_some() || self.paused_since.is_some() {
            return false;
        }
        let work = self.times.work.as_secs_f64();
        let seconds = |(engine, queue): (&Engine, &VecDeque<u64>)| match self.speeds.get(engine) {
            Some(speed) => queue.len() as f64 / speed,
            // Before anything is measured, nothing more is asked for while there is something.
            None if !queue.is_empty() => work,
            None => 0.0,
        };
        let seconds: f64 = self.queues.iter().map(seconds).sum();
        seconds < work / 2.0
    }

    /// Whether the coordinator was asked for a lease and has not answered.
    pub const fn has_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Adds up the speeds of all workers for each engine.
    fn add_speeds(&mut self) {
        self.speeds.clear();
        for ((engine, _), (tasks, seconds)) in &self.measured {
            if *seconds > 0.0 {
                *self.speeds.entry(*engine).or_default() += tasks / seconds;
            }
        }
    }

    /// Takes something that was counted or noticed. Returns its number.
    pub fn record(&mut self, now: Duration, item: Finding) -> u64 {
        let number = self.first + self.outbox.len() as u64;
        if let Finding::Result(result) = &item {
            let task = (result.key.engine, result.key.index);
            for id in self.of_task.remove(&task).unwrap_or_default() {
                if let Some(held) = self.leases.get_mut(&id) {
                    held.left.remove(&task.1);
                    if held.left.is_empty() {
                        held.end = Some(number + 1);
                    }
                }
            }
        }
        self.outbox.push_back(item);
        self.waiting.get_or_insert(now);
        number
    }

    /// Notes how long a task took.
    pub fn measure(&mut self, result: &TaskResult) {
        let key = (result.key.engine, result.origin.worker);
        let measured = self.measured.entry(key).or_default();
        measured.0 += 1.0;
        measured.1 += result.duration.as_secs_f64();
        if measured.1 > FADING {
            *measured = (measured.0 / 2.0, measured.1 / 2.0);
        }
    }

    /// All items below this number are in the ledger.
    pub fn receipt(&mut self, now: Duration, number: u64) {
        let known = number
            .saturating_sub(self.first)
            .min(self.outbox.len() as u64);
        if known == 0 {
            return;
        }
        self.outbox.drain(..known as usize);
        self.first += known;
        self.unsent = self.unsent.max(self.first);
        self.moved = now;
        let first = self.first;
        let over = |held: &Held| held.end.is_some_and(|end| end <= first);
        let ended = self.leases.iter().filter(|(_, held)| over(held));
        let ended: Vec<u64> = ended.map(|(id, _)| *id).collect();
        for id in ended {
            self.leases.remove(&id);
            self.remember(id);
        }
    }

    /// Nothing more is to be counted.
    pub fn finish(&mut self, finish: Finish) {
        self.finish.get_or_insert(finish);
        self.queues.clear();
    }

    /// Why nothing more is to be counted, if that is so.
    pub const fn finished(&self) -> Option<&Finish> {
        self.finish.as_ref()
    }

    /// The number of the first item without a receipt.
    pub const fn first(&self) -> u64 {
        self.first
    }

    /// Items without a receipt.
    pub fn unreceipted(&self) -> usize {
        self.outbox.len()
    }

    /// Everything goes out at once from now on, because somebody waits for it.
    pub fn hurry(&mut self) {
        self.waiting = self.waiting.map(|_| Duration::ZERO);
    }

    /// What is to be said now.
    pub fn speak(&mut self, now: Duration) -> Vec<Up> {
        let mut said = Vec::new();
        self.add_speeds();
        let is_low = self.is_low();
        let answered = self
            .asked
            .is_none_or(|asked| now.saturating_sub(asked) >= PATIENCE);
        let due = |beaten: Duration| now.saturating_sub(beaten) >= self.times.beat();
        if self.beaten.is_none_or(due) || (is_low && answered) {
            self.beaten = Some(now);
            if is_low {
                self.asked = Some(now);
            }
            said.push(Up::Beat(Beat {
                key: self.key,
                leases: self.leases.keys().copied().collect(),
                wants: is_low,
                paused: self.paused_since.is_some(),
                speeds: self
                    .speeds
                    .iter()
                    .map(|(engine, speed)| (*engine, *speed))
                    .collect(),
            }));
        }
        if self.unsent > self.first && now.saturating_sub(self.moved) >= PATIENCE {
            self.unsent = self.first;
            self.moved = now;
        }
        let end = self.first + self.outbox.len() as u64;
        let gathered = |since: Duration| now.saturating_sub(since) >= GATHER;
        let many = self.hands.max(1) as u64 * 64;
        while self.unsent < end
            && self.unsent - self.first < WINDOW * LARGEST_REPORT as u64
            && (is_low || self.waiting.is_none_or(gathered) || end - self.unsent >= many)
        {
            let from = self.unsent;
            let at = (from - self.first) as usize;
            let items = self.outbox.range(at..).take(LARGEST_REPORT).cloned();
            let items: Vec<Finding> = items.collect();
            if self.unsent == self.first {
                self.moved = now;
            }
            self.unsent += items.len() as u64;
            said.push(Up::Report(Report {
                key: self.key,
                from,
                items,
            }));
        }
        if self.unsent == end {
            self.waiting = None;
        }
        said
    }
}
