//! Injected faults, to test how a run deals with them. Not part of release builds.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::CountKind;
use crate::engine::{Completions, Counter, NotCounted, Tally, Task, TaskKey, TaskWatch, WorkerId};
use parking_lot::Mutex;

/// Which faults a run suffers.
///
/// Written as `panics=0.1,tries=1,deaths=2,errors=1`, in any order. What is left out is 0 (`tries`:
/// 1). A worker or device that counts wrongly now and then: `sick=worker-1,wrong=0.01`, and with
/// `after=100` from its 100th count on. Its canaries are wrong as well, unless `tame=1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Faults {
    /// The share of tasks that panic, 0 to 1: always the same ones.
    pub panics: f64,
    /// How many times such a task panics before it is counted.
    pub tries: u32,
    /// How many worker threads die, each in the middle of a batch.
    pub deaths: u32,
    /// How many counts are wrong, each by one completion, as by a fault of the kernel of the run: what
    /// another kernel counts is right.
    pub errors: u32,
    /// The worker that counts wrongly now and then.
    pub sick: Option<WorkerId>,
    /// The chance that a count of it is wrong, 0 to 1.
    pub wrong: f64,
    /// How many counts of it are right before that.
    pub after: u64,
    /// Whether its canaries are right.
    pub tame: bool,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            panics: 0.0,
            tries: 1,
            deaths: 0,
            errors: 0,
            sick: None,
            wrong: 0.0,
            after: 0,
            tame: false,
        }
    }
}

impl FromStr for Faults {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut faults = Self::default();
        for part in text.split(',') {
            let error = |why: String| format!("faults `{part}`: {why}");
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| error("no `=`".to_owned()))?;
            match key {
                "panics" => faults.panics = value.parse().map_err(|e| error(format!("{e}")))?,
                "tries" => faults.tries = value.parse().map_err(|e| error(format!("{e}")))?,
                "deaths" => faults.deaths = value.parse().map_err(|e| error(format!("{e}")))?,
                "errors" => faults.errors = value.parse().map_err(|e| error(format!("{e}")))?,
                "wrong" => faults.wrong = value.parse().map_err(|e| error(format!("{e}")))?,
                "after" => faults.after = value.parse().map_err(|e| error(format!("{e}")))?,
                "tame" => faults.tame = value == "1",
                "sick" => {
                    faults.sick = Some(value.parse().map_err(|e| error(format!("{e}")))?);
                }
                _ => return Err(error("no fault of this name".to_owned())),
            }
        }
        Ok(faults)
    }
}

/// The faults still to come in the runs under one control.
#[derive(Default)]
pub(super) struct Injector {
    faults: Faults,
    tries: Mutex<HashMap<TaskKey, u32>>,
    deaths: AtomicU32,
    errors: AtomicU32,
    /// Counts of the sick worker.
    counts: AtomicU64,
}

impl Injector {
    pub(super) fn new(faults: Faults) -> Self {
        Self {
            faults,
            tries: Mutex::default(),
            deaths: AtomicU32::new(faults.deaths),
            errors: AtomicU32::new(faults.errors),
            counts: AtomicU64::new(0),
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
            let panics = *tried <= self.faults.tries;
            drop(tries);
            assert!(!panics, "injected panic");
        }
    }

    /// Panics if a worker must die here.
    pub(super) fn die(&self) {
        assert!(!take_one(&self.deaths), "injected death");
    }

    /// A counter as this worker has it: with its faults.
    pub(super) fn infect(
        self: &Arc<Self>,
        worker: WorkerId,
        kind: CountKind,
        counter: Box<dyn Counter>,
    ) -> Box<dyn Counter> {
        Box::new(FaultyCounter {
            worker,
            kind,
            injector: Arc::clone(self),
            counter,
        })
    }

    /// A tally as this worker gives it.
    pub(super) fn distort(&self, worker: WorkerId, kind: CountKind, tally: Tally) -> Tally {
        let is_right = self.faults.sick != Some(worker)
            || (self.faults.tame && kind == CountKind::Canary)
            || self.counts.fetch_add(1, Ordering::Relaxed) < self.faults.after
            || fastrand::f64() >= self.faults.wrong;
        let mut tally = if is_right { tally } else { off(tally) };
        let counts = tally.completions.by_weight().into_iter();
        let mut there = counts
            .zip(Completions::WEIGHTS)
            .filter(|(count, _)| *count > 0);
        if let Some((_, weight)) = there.next_back()
            && kind == CountKind::Task
            && take_one(&self.errors)
        {
            tally.completions.add(weight, 1);
        }
        tally
    }
}

/// A counter with the faults of its worker.
struct FaultyCounter {
    worker: WorkerId,
    kind: CountKind,
    injector: Arc<Injector>,
    counter: Box<dyn Counter>,
}

impl Counter for FaultyCounter {
    fn backend(&self) -> &'static str {
        self.counter.backend()
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let tally = self.counter.count_watched(task, watch)?;
        Ok(self.injector.distort(self.worker, self.kind, tally))
    }
}

/// A little more or less.
fn off(tally: Tally) -> Tally {
    let off = |count: u128| match fastrand::u128(1..=999) {
        less if fastrand::bool() && less <= count => count - less,
        more => count + more,
    };
    if tally.r180 > 0 {
        let r180 = off(tally.r180);
        return Tally { r180, ..tally };
    }
    let mut completions = Completions::default();
    let counts = tally.completions.by_weight();
    // Of a weight that the task has.
    let Some(first) = counts.iter().rposition(|&count| count > 0) else {
        return tally;
    };
    for (at, (count, weight)) in counts.into_iter().zip(Completions::WEIGHTS).enumerate() {
        completions.add(weight, if at == first { off(count) } else { count });
    }
    Tally {
        completions,
        ..tally
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
        let faults: Faults = "deaths=2,panics=0.1".parse().unwrap();
        assert_eq!(
            faults,
            Faults {
                panics: 0.1,
                tries: 1,
                deaths: 2,
                ..Faults::default()
            }
        );
        let sick: Faults = "sick=gpu-0,wrong=0.01,after=7,tame=1".parse().unwrap();
        assert_eq!(
            (sick.sick, sick.after, sick.tame),
            (Some(WorkerId::Device(0)), 7, true)
        );
        assert!("sick=tpu-0".parse::<Faults>().is_err());
        assert!("panic=1".parse::<Faults>().is_err());
        assert!("panics=x".parse::<Faults>().is_err());
        assert!("panics".parse::<Faults>().is_err());
    }
}
