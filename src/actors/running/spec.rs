//! What a run is asked to do: plans, workers, devices, audits, source, recorder, observers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::actors::{Observer, Recorder, Source};
use crate::device::{Device, OpenError, OwnerSettings};
use crate::engine::{CounterSettings, Engine, Plan, Tally};

/// How many batches may wait in the queue for each worker of a job: a longer queue hides a slow producer, a shorter one
/// divides the end of a run more evenly.
pub(crate) const QUEUE_PER_WORKER: usize = 2;

/// How long a batch should take a worker of a job.
pub const BATCH_TIME: Duration = Duration::from_millis(50);

/// What a run counts, and how.
#[derive(Clone)]
pub struct RunSpec {
    /// The plans to count, at most one of each engine, all for the same board. Results name their plan by its engine.
    pub plans: Vec<Arc<dyn Plan>>,
    /// CPU workers, at least 1. With 0 there is one, but it leaves the plan that devices count to them: it takes the
    /// census, audits and rechecks.
    pub workers: usize,
    /// What each worker's counter may use.
    pub counter: CounterSettings,
    /// How long a batch should take a worker. Batches shrink toward the end of the run.
    pub batch_time: Duration,
    /// Stop (drain) after this long.
    pub time_limit: Option<Duration>,
    /// The share of the tasks, 0 to 1, that is counted a second time by another kernel before it
    /// is recorded. Such recounts take at most eight times this share of the counting time; 1
    /// recounts every task, without a bound.
    pub audit: f64,
    /// All tasks are counted a second time, whatever that share is, while this is expected to take each worker at
    /// most so long. It is for boards of which nothing is known that would show a wrong count. Without audits,
    /// which are a share of 0, it has no effect.
    pub audit_all: Duration,
    /// How often each worker and device counts its canary, besides the start and the end of the run.
    /// `None`: never.
    pub canary: Option<Duration>,
    /// Says what contradicts the sums of all plans, once everything is counted. Then tasks are counted
    /// again elsewhere to find the wrong ones.
    pub check: Option<SumCheck>,
    /// Decides which tasks of the plans are counted. [`WholePlans`](crate::actors::producing::source::WholePlans): all.
    pub source: Arc<dyn Source>,
    /// Keeps results, if anything does.
    pub recorder: Option<Arc<dyn Recorder>>,
    /// Hear of what happens in the run.
    pub observers: Vec<Arc<dyn Observer>>,
}

/// Says what contradicts the sums of all plans.
type Compare = dyn Fn(&BTreeMap<Engine, Tally>) -> Result<(), String> + Send + Sync;

/// Compares the sums of all plans with what is known.
#[derive(Clone)]
pub struct SumCheck {
    compare: Arc<Compare>,
    /// Whether nothing but the right sums passes.
    pub(crate) is_exact: bool,
}

impl SumCheck {
    /// A check that says what contradicts the sums. `is_exact`: it compares them with known counts, so that wrong sums
    /// never pass. Otherwise, as with identities, some wrong sums do, and a worker that is known to count wrongly is not
    /// believed because of it.
    pub fn new(
        is_exact: bool,
        compare: impl Fn(&BTreeMap<Engine, Tally>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let compare = Arc::new(compare);
        Self { compare, is_exact }
    }
}

impl RunSpec {
    /// What contradicts the sums of the plans, if all tasks of all of them are counted.
    pub(crate) fn contradiction(&self, sums: &[(u64, Tally)]) -> Option<String> {
        let check = self.check.as_ref()?;
        let mut tallies = BTreeMap::new();
        for (plan, (tasks, sum)) in self.plans.iter().zip(sums) {
            if *tasks != plan.tasks() {
                return None;
            }
            tallies.insert(plan.engine(), *sum);
        }
        (check.compare)(&tallies).err()
    }
}

/// A device that takes part in a run.
#[derive(Clone)]
pub struct DeviceSpec {
    /// Its number among devices of its sort, from 0: its lane and records are named `gpu-0`, ….
    pub index: usize,
    /// What its maker calls it: in records.
    pub name: String,
    /// Opens it. Called on the thread that will own it.
    pub open: Arc<dyn Fn() -> Result<Box<dyn Device>, OpenError> + Send + Sync>,
    /// How its owner treats it.
    pub settings: OwnerSettings,
}
