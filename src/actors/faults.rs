//! Injected faults, to test how a run deals with them. Not part of release builds.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;
use serde::Deserialize;

use super::CountKind;
use crate::engine::{Completions, Tally, TaskKey, WorkerId};

/// Which faults a run suffers.
///
/// Written as `panics=0.1,again=1,deaths=2,errors=1`, in any order. What is left out is 0. A worker or device that counts wrongly now and then: `faulty='worker-1',wrong=0.01`, and with
/// `after=100` from its 100th count on. Its canaries are wrong as well, unless `tame=true`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// The share of tasks that panic, 0 to 1: always the same ones.
    pub panics: f64,
    /// How many more times such a task panics before it is counted.
    pub again: u32,
    /// How many worker threads die, each in the middle of a batch.
    pub deaths: u32,
    /// How many counts are wrong, each by one completion, as by a fault of the kernel of the run: what
    /// another kernel counts is right.
    pub errors: u32,
    /// The name of the worker that counts wrongly now and then.
    pub faulty: String,
    /// The chance that a count of it is wrong, 0 to 1.
    pub wrong: f64,
    /// How many counts of it are right before that.
    pub after: u64,
    /// Whether its canaries are right.
    pub tame: bool,
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        toml::from_str(&text.replace(',', "\n"))
            .map_err(|error| format!("faults `{text}`: {error}"))
    }
}

/// The faults still to come in the runs under one control.
#[derive(Default)]
pub(crate) struct Injector {
    faults: Faults,
    tries: Mutex<HashMap<TaskKey, u32>>,
    deaths: AtomicU32,
    errors: AtomicU32,
    /// Counts of the faulty worker.
    counts: AtomicU64,
}

impl Injector {
    pub(super) fn new(faults: Faults) -> Self {
        Self {
            deaths: AtomicU32::new(faults.deaths),
            errors: AtomicU32::new(faults.errors),
            faults,
            ..Self::default()
        }
    }

    /// Panics if this try of the task must panic.
    pub(super) fn try_task(&self, task: TaskKey) {
        // A multiplicative hash spreads the share over the plan.
        let hash = (task.index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        if (hash as f64) < self.faults.panics * (1u64 << 53) as f64 {
            let mut tries = self.tries.lock();
            let tried = tries.entry(task).or_default();
            *tried += 1;
            let panics = *tried <= 1 + self.faults.again;
            drop(tries);
            assert!(!panics, "injected panic");
        }
    }

    /// Panics if a worker must die here.
    pub(super) fn die(&self) {
        assert!(!take_one(&self.deaths), "injected death");
    }

    /// A tally as this worker gives it.
    pub(super) fn distort(&self, worker: WorkerId, kind: CountKind, mut tally: Tally) -> Tally {
        let is_right = self.faults.faulty != worker.to_string()
            || (self.faults.tame && kind == CountKind::Canary)
            || self.counts.fetch_add(1, Ordering::Relaxed) < self.faults.after
            || fastrand::f64() >= self.faults.wrong;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_read_and_bad_ones_refused() {
        let faults: Faults = "faulty='gpu-0',wrong=0.01,after=7,tame=true"
            .parse()
            .unwrap();
        assert_eq!(
            (&*faults.faulty, faults.after, faults.tame),
            ("gpu-0", 7, true)
        );
        for wrong in ["panic=1", "panics='x'", "panics"] {
            assert!(wrong.parse::<Faults>().is_err(), "{wrong}");
        }
    }
}
