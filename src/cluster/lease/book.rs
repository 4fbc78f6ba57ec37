//! The leases that are out, and who holds which task.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::time::Duration;

use super::pool::Pool;
use super::protocol::{Lease, ranges};

/// A task: the number of its pool, and its index.
type Task = (usize, u64);

/// The leases that are out.
pub struct Book {
    leases: BTreeMap<u64, Granted>,
    /// The leases that have a task.
    holders: HashMap<Task, Vec<u64>>,
    next: u64,
    /// Whether the task that was settled last had been held.
    pub was_held: bool,
}

/// A lease that is out.
pub struct Granted {
    /// Who holds it.
    pub worker: String,
    /// Of which pool its tasks are.
    pub pool: usize,
    /// Tasks that are not recorded, in the order in which they are to be counted.
    left: Vec<u64>,
    renewed: Duration,
    /// When it was sent, until the worker says that it has it.
    unseen: Option<Duration>,
    copy_of: Option<u64>,
    copied: bool,
}

/// A lease whose last task was recorded.
pub struct Ended {
    /// Its name.
    pub id: u64,
    /// Who held it.
    pub worker: String,
}

impl Granted {
    /// A lease of these tasks.
    pub fn new(worker: &str, pool: usize, tasks: Vec<u64>, now: Duration) -> Self {
        Self {
            worker: worker.to_owned(),
            pool,
            left: tasks,
            renewed: now,
            unseen: Some(now),
            copy_of: None,
            copied: false,
        }
    }

    /// The worker has it already.
    pub const fn seen(mut self) -> Self {
        self.unseen = None;
        self
    }

    /// It has tasks of another lease.
    pub const fn copy_of(mut self, other: Option<u64>) -> Self {
        self.copy_of = other;
        self
    }

    /// How many of its tasks are not recorded.
    pub const fn left(&self) -> usize {
        self.left.len()
    }
}

impl Book {
    /// No lease is out. The names of all have `series` in front.
    pub fn new(series: u32) -> Self {
        Self {
            leases: BTreeMap::new(),
            holders: HashMap::new(),
            next: u64::from(series) << 32,
            was_held: false,
        }
    }

    /// A name that no lease has.
    pub const fn next_id(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Whether a lease may have had this name: of an earlier coordinator, or one that this one has given.
    pub const fn was_named(&self, id: u64) -> bool {
        id >> 32 != self.next >> 32 || id <= self.next
    }

    /// Whether a lease is out.
    pub fn holds(&self, id: u64) -> bool {
        self.leases.contains_key(&id)
    }

    /// How many tasks of a lease are not recorded.
    pub fn left(&self, id: u64) -> u64 {
        self.leases
            .get(&id)
            .map_or(0, |granted| granted.left() as u64)
    }

    /// Whether a lease that is out has this task.
    pub fn is_held(&self, task: Task) -> bool {
        self.holders.contains_key(&task)
    }

    /// Notes that a lease is out.
    pub fn open(&mut self, id: u64, granted: Granted) {
        if let Some(other) = granted.copy_of
            && let Some(other) = self.leases.get_mut(&other)
        {
            other.copied = true;
        }
        for task in &granted.left {
            self.holders
                .entry((granted.pool, *task))
                .or_default()
                .push(id);
        }
        self.leases.insert(id, granted);
    }

    /// Ends a lease. Returns it with the tasks of it that no other lease has.
    pub fn close(&mut self, id: u64) -> Option<(Granted, Vec<u64>)> {
        let granted = self.leases.remove(&id)?;
        self.release(&granted);
        let mut free = Vec::new();
        for task in &granted.left {
            let key = (granted.pool, *task);
            if let Some(holders) = self.holders.get_mut(&key) {
                holders.retain(|holder| *holder != id);
                if holders.is_empty() {
                    self.holders.remove(&key);
                    free.push(*task);
                }
            }
        }
        Some((granted, free))
    }

    /// The original of a copy may be copied again.
    fn release(&mut self, copy: &Granted) {
        if let Some(original) = copy.copy_of
            && let Some(original) = self.leases.get_mut(&original)
        {
            original.copied = false;
        }
    }

    /// Notes that a task is recorded. Returns the leases that have no task left.
    pub fn settle(&mut self, task: Task) -> Vec<Ended> {
        let holders = self.holders.remove(&task);
        self.was_held = holders.is_some();
        let mut ended = Vec::new();
        for id in holders.into_iter().flatten() {
            let Some(granted) = self.leases.get_mut(&id) else {
                continue;
            };
            // The first ones are counted first.
            if let Some(at) = granted.left.iter().position(|left| *left == task.1) {
                granted.left.remove(at);
            }
            if granted.left.is_empty()
                && let Some(granted) = self.leases.remove(&id)
            {
                self.release(&granted);
                ended.push(Ended {
                    id,
                    worker: granted.worker,
                });
            }
        }
        ended
    }

    /// Notes that a worker has a lease. Returns whether it is its own.
    pub fn renew(&mut self, id: u64, worker: &str, now: Duration) -> bool {
        match self.leases.get_mut(&id) {
            Some(granted) if granted.worker == worker => {
                granted.renewed = now;
                granted.unseen = None;
                true
            }
            _ => false,
        }
    }

    /// When a lease was sent, if nobody has said yet that it arrived.
    pub fn unseen_since(&self, id: u64) -> Option<Duration> {
        self.leases.get(&id).and_then(|granted| granted.unseen)
    }

    /// A lease once more, because it did not arrive.
    pub fn again(&mut self, id: u64, now: Duration, pools: &[Pool]) -> Option<Lease> {
        let granted = self.leases.get_mut(&id)?;
        granted.unseen = Some(now);
        Some(Lease {
            id,
            engine: pools[granted.pool].engine(),
            ranges: ranges(granted.left.iter().copied()),
        })
    }

    /// The leases that were not renewed for so long.
    pub fn expired(&self, now: Duration, lease: Duration) -> Vec<u64> {
        let old = |granted: &Granted| now.saturating_sub(granted.renewed) > lease;
        let leases = self.leases.iter();
        leases
            .filter(|(_, granted)| old(granted))
            .map(|(id, _)| *id)
            .collect()
    }

    /// The leases that may be copied, those that will end last in front. Each is copied at most once, and copies
    /// are not.
    pub fn slowest(&self, seconds_left: impl Fn(&Granted) -> f64) -> VecDeque<u64> {
        let may = |granted: &Granted| !granted.copied && granted.copy_of.is_none();
        let leases = self.leases.iter().filter(|(_, granted)| may(granted));
        let mut leases: Vec<_> = leases
            .map(|(id, granted)| (seconds_left(granted), *id))
            .collect();
        leases.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        leases.into_iter().map(|(_, id)| id).collect()
    }

    /// Who holds a lease.
    pub fn worker(&self, id: u64) -> Option<&str> {
        self.leases.get(&id).map(|granted| granted.worker.as_str())
    }

    /// The pool of a lease, and what is left of it.
    pub fn tasks(&self, id: u64) -> Option<(usize, Vec<u64>)> {
        let granted = self.leases.get(&id)?;
        Some((granted.pool, granted.left.clone()))
    }
}
