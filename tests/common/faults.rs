//! Injected faults, to test how a run deals with them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;
use queenfold::actors::{CountKind, FaultHook};
use queenfold::engine::{Completions, Tally, TaskKey, WorkerId};

/// Which faults are still to come in the runs under one control.
///
/// Written as `panics=0.1,again=1,deaths=2,errors=1`, in any order. What is left out is 0. A worker or device that
/// counts wrongly now and then: `faulty=worker-1,wrong=0.01`, and with `after=100` from its 100th count on. Its canaries
/// are wrong as well, unless `tame=true`.
#[derive(Default)]
pub struct Faults {
    /// The share of tasks that panic, 0 to 1: always the same ones.
    panics: f64,
    /// How many more times such a task panics before it is counted.
    again: u32,
    /// How many worker threads die, each in the middle of a batch.
    deaths: AtomicU32,
    /// How many counts are wrong, each by one completion, as by a fault of the kernel of the run: what
    /// another kernel counts is right.
    errors: AtomicU32,
    /// The name of the worker that counts wrongly now and then.
    faulty: String,
    /// The chance that a count of it is wrong, 0 to 1.
    wrong: f64,
    /// How many counts of it are right before that.
    after: u64,
    /// Whether its canaries are right.
    tame: bool,
    /// How often each task that panics was tried.
    tries: Mutex<HashMap<TaskKey, u32>>,
    /// Counts of the faulty worker.
    counts: AtomicU64,
}

impl Faults {
    /// The faults that a text names.
    pub fn of(text: &str) -> Arc<Self> {
        let mut faults = Self::default();
        for fault in text.split(',') {
            let (name, value) = fault.split_once('=').expect("a name and a value");
            match name {
                "panics" => faults.panics = value.parse().unwrap(),
                "again" => faults.again = value.parse().unwrap(),
                "deaths" => *faults.deaths.get_mut() = value.parse().unwrap(),
                "errors" => *faults.errors.get_mut() = value.parse().unwrap(),
                "faulty" => value.clone_into(&mut faults.faulty),
                "wrong" => faults.wrong = value.parse().unwrap(),
                "after" => faults.after = value.parse().unwrap(),
                "tame" => faults.tame = value.parse().unwrap(),
                _ => panic!("there is no fault `{name}`"),
            }
        }
        Arc::new(faults)
    }
}

impl FaultHook for Faults {
    /// Panics if this try of the task must panic.
    fn before_task(&self, task: TaskKey) {
        // A multiplicative hash spreads the share over the plan.
        let hash = (task.index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        if (hash as f64) < self.panics * (1u64 << 53) as f64 {
            let mut tries = self.tries.lock();
            let tried = tries.entry(task).or_default();
            *tried += 1;
            let panics = *tried <= 1 + self.again;
            drop(tries);
            assert!(!panics, "injected panic");
        }
    }

    /// Panics if a worker must die here.
    fn after_task(&self) {
        assert!(!take_one(&self.deaths), "injected death");
    }

    fn tally(&self, worker: WorkerId, kind: CountKind, mut tally: Tally) -> Tally {
        let is_right = self.faulty != worker.to_string()
            || (self.tame && kind == CountKind::Canary)
            || self.counts.fetch_add(1, Ordering::Relaxed) < self.after
            || fastrand::f64() >= self.wrong;
        let too_many = if is_right { 0 } else { fastrand::u128(1..=999) };
        // Of a weight that the task has.
        let counts = tally.completions.by_weight();
        if tally.r180 > 0 {
            tally.r180 += too_many;
        } else if let Some(at) = counts.iter().rposition(|&count| count > 0) {
            let one_more = kind == CountKind::Task && take_one(&self.errors);
            let too_many = too_many + u128::from(one_more);
            tally.completions.add(Completions::WEIGHTS[at], too_many);
        }
        tally
    }
}

/// Whether there was one left to take.
fn take_one(left: &AtomicU32) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
        left.checked_sub(1)
    })
    .is_ok()
}
