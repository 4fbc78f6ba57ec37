use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::{DeviceSpec, Recorder, RunSpec};
use crate::engine::{CounterSettings, Plan, TaskId};

/// What all actors and worker threads of a run share: what is to be counted, and three facts that
/// workers must see at once.
pub(super) struct Floor {
    pub(super) plans: Vec<Arc<dyn Plan>>,
    pub(super) settings: CounterSettings,
    /// CPU workers, numbered from 0.
    pub(super) workers: usize,
    /// Devices, whose numbers follow those of the CPU workers.
    pub(super) devices: Vec<DeviceSpec>,
    /// Devices not given up.
    devices_left: AtomicUsize,
    pub(super) start: Instant,
    pub(super) audit: f64,
    pub(super) recorder: Option<Arc<dyn Recorder>>,
    /// Whether to begin no task more.
    halted: AtomicBool,
    /// Nanoseconds from `start` to when the last task was handed out; `u64::MAX` before that.
    exhausted: AtomicU64,
    #[cfg(feature = "fault-injection")]
    pub(super) injector: super::faults::Injector,
}

impl Floor {
    pub(super) fn new(
        spec: &RunSpec,
        devices: &[DeviceSpec],
        #[cfg(feature = "fault-injection")] faults: super::Faults,
    ) -> Self {
        Self {
            plans: spec.plans.clone(),
            settings: spec.counter.clone(),
            workers: spec.workers.max(usize::from(devices.is_empty())),
            devices: devices.to_vec(),
            devices_left: AtomicUsize::new(devices.len()),
            start: Instant::now(),
            audit: spec.audit,
            recorder: spec.recorder.clone(),
            halted: AtomicBool::new(false),
            exhausted: AtomicU64::new(u64::MAX),
            #[cfg(feature = "fault-injection")]
            injector: super::faults::Injector::new(faults),
        }
    }

    /// CPU workers and devices.
    pub(super) fn hands(&self) -> usize {
        self.workers + self.devices.len()
    }

    /// Notes that a device is given up; whether nobody is left to count.
    pub(super) fn give_device_up(&self) -> bool {
        self.devices_left.fetch_sub(1, Ordering::Relaxed) == 1 && self.workers == 0
    }

    pub(super) fn id(&self, plan: usize, task: u64) -> TaskId {
        TaskId {
            engine: self.plans[plan].engine(),
            index: task,
        }
    }

    /// Whether this run is to count the task.
    pub(super) fn is_pending(&self, plan: usize, task: u64) -> bool {
        self.recorder
            .as_ref()
            .is_none_or(|recorder| recorder.is_pending(self.id(plan, task)))
    }

    pub(super) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    pub(super) fn set_halted(&self, halted: bool) {
        self.halted.store(halted, Ordering::Relaxed);
    }

    /// Notes whether every task has been handed out.
    pub(super) fn set_exhausted(&self, exhausted: bool) {
        let since = if !exhausted {
            u64::MAX
        } else if self.exhausted.load(Ordering::Relaxed) == u64::MAX {
            self.start.elapsed().as_nanos() as u64
        } else {
            return;
        };
        self.exhausted.store(since, Ordering::Relaxed);
    }

    /// Splits a wait that ends now into the part while there were tasks to hand out, and the part
    /// after that.
    pub(super) fn split_wait(&self, from: Instant) -> (Duration, Duration) {
        let waited = from.elapsed();
        let exhausted = self.exhausted.load(Ordering::Relaxed);
        if exhausted == u64::MAX {
            return (waited, Duration::ZERO);
        }
        let starved = waited.min((self.start + Duration::from_nanos(exhausted)).elapsed());
        (waited - starved, starved)
    }
}
