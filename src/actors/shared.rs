use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::audit::{TaskAudit, WholePlan};
use super::in_hand::InHand;
use super::observers::Observers;
use super::{DeviceSpec, EventKind, Recorder, RunSpec, Source};
use crate::engine::{CostTable, CounterSettings, Engine, Launcher, Plan, TaskKey, WorkerId};
use parking_lot::{Mutex, MutexGuard};

/// What all actors and worker threads of a run share: what is to be counted and by whom, who hears of
/// it, and what workers must see at once: whether to stop, and whether all tasks are handed out.
pub(super) struct RunShared {
    pub(super) plans: Vec<Arc<dyn Plan>>,
    pub(super) settings: CounterSettings,
    pub(super) costs: CostTable,
    /// CPU workers, numbered from 0.
    pub(super) workers: usize,
    /// Devices, whose numbers follow those of the CPU workers.
    pub(super) devices: Vec<DeviceSpec>,
    /// The plan that devices count, and what makes their launches: the first plan that has a
    /// launcher. `None` without devices.
    launcher: Option<(usize, Arc<dyn Launcher>)>,
    /// Workers and devices that count no more: given up, or taken out of the run.
    gone: Vec<AtomicBool>,
    /// Whether anything may show that results are wrong.
    can_keep: bool,
    /// How often canaries are counted, if they are.
    pub(super) canary: Option<Duration>,
    /// When the run began.
    pub(super) start: Instant,
    /// Draws them: from what CPU workers count, for each plan, then from what each device counts.
    audits: Vec<Mutex<TaskAudit>>,
    pub(super) recorder: Option<Arc<dyn Recorder>>,
    source: Arc<dyn Source>,
    pub(super) observers: Observers,
    /// The names of the workers, in the order of their numbers.
    ids: Vec<WorkerId>,
    /// Nanoseconds from `start` to when the first worker or device was ready to count.
    ready: AtomicU64,
    /// What the workers count on the CPU now.
    pub(super) in_hand: InHand,
    /// Whether workers must begin no more tasks.
    halted: AtomicBool,
    /// Nanoseconds from `start` to when the last task was handed out; `u64::MAX` before that.
    exhausted: AtomicU64,
    #[cfg(feature = "fault-injection")]
    pub(super) injector: super::faults::Injector,
}

impl RunShared {
    pub(super) fn new(
        spec: &RunSpec,
        devices: &[DeviceSpec],
        observers: Observers,
        #[cfg(feature = "fault-injection")] faults: super::Faults,
    ) -> Self {
        let workers = spec.workers.max(usize::from(devices.is_empty()));
        let launcher = launcher(spec, devices);
        let audits = audits(spec, workers, launcher.as_ref(), devices.len());
        let cpu = (0..workers).map(WorkerId::Cpu);
        let ids = cpu.chain(devices.iter().map(|device| WorkerId::Device(device.index)));
        Self {
            ids: ids.collect(),
            start: observers.start(),
            observers,
            plans: spec.plans.clone(),
            settings: spec.counter.clone(),
            costs: spec.costs.clone(),
            workers,
            ready: AtomicU64::new(if workers == 0 { u64::MAX } else { 0 }),
            launcher,
            devices: devices.to_vec(),
            gone: (0..workers + devices.len())
                .map(|_| AtomicBool::new(false))
                .collect(),
            can_keep: spec.canary.is_some() || spec.check.is_some(),
            canary: spec.canary,
            audits,
            recorder: spec.recorder.clone(),
            source: Arc::clone(&spec.source),
            in_hand: InHand::new(workers + devices.len(), spec.plans.len()),
            halted: AtomicBool::new(false),
            exhausted: AtomicU64::new(u64::MAX),
            #[cfg(feature = "fault-injection")]
            injector: super::faults::Injector::new(faults),
        }
    }

    /// Notes that a device is ready to count.
    pub(super) fn note_ready(&self) {
        let now = self.start.elapsed().as_nanos() as u64;
        self.ready.fetch_min(now, Ordering::Relaxed);
    }

    /// How long the run has been counting. CPU workers are ready at once, devices once they are open.
    pub(super) fn elapsed(&self) -> Duration {
        let all = self.start.elapsed();
        // If no device was ever ready: the whole time.
        let ready = Duration::from_nanos(self.ready.load(Ordering::Relaxed));
        all.checked_sub(ready).unwrap_or(all)
    }

    /// How long each worker is expected to count, by the costs of the plans.
    pub(super) fn expected(&self) -> Duration {
        let cost: f64 = self.plans.iter().map(|plan| plan.total_cost()).sum();
        let seconds = cost / self.hands().max(1) as f64;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// CPU workers and devices that still count.
    pub(super) fn hands_left(&self) -> usize {
        self.gone
            .iter()
            .filter(|gone| !gone.load(Ordering::Relaxed))
            .count()
    }

    /// CPU workers that still count.
    pub(super) fn cpu_left(&self) -> usize {
        (0..self.workers)
            .filter(|&worker| !self.is_gone(worker))
            .count()
    }

    /// Whether a worker or device counts no more.
    pub(super) fn is_gone(&self, worker: usize) -> bool {
        self.gone[worker].load(Ordering::Relaxed)
    }

    /// Notes that a worker or device counts no more. Returns whether it did until now.
    pub(super) fn set_gone(&self, worker: usize) -> bool {
        !self.gone[worker].swap(true, Ordering::Relaxed)
    }

    /// A worker or device that still counts and is none of `not_on`: a CPU worker if there is one. The
    /// next one after the first of these, so that work is spread.
    pub(super) fn elsewhere(&self, not_on: &[usize]) -> Option<usize> {
        let from = not_on.first().map_or(0, |worker| worker + 1);
        let cpu = (0..self.workers).map(|at| (from + at) % self.workers);
        cpu.chain(self.workers..self.hands())
            .find(|worker| !self.is_gone(*worker) && !not_on.contains(worker))
    }

    /// CPU workers and devices at the beginning of the run.
    pub(super) fn hands(&self) -> usize {
        self.workers + self.devices.len()
    }

    /// Notes that a device is given up. Returns whether nobody is left to count.
    pub(super) fn give_device_up(&self, worker: usize) -> bool {
        self.set_gone(worker) && self.hands_left() == 0
    }

    /// Whether results of a plan are kept in memory, because it may turn out that they are wrong.
    pub(super) fn keeps(&self, plan: usize) -> bool {
        self.can_keep && self.plans[plan].engine() != Engine::Own
    }

    /// What makes the launches of devices.
    pub(super) fn launcher(&self) -> Option<Arc<dyn Launcher>> {
        self.launcher
            .as_ref()
            .map(|(_, launcher)| Arc::clone(launcher))
    }

    /// The plan that devices count; `None` if they count none, or there are no devices.
    pub(super) fn device_plan(&self) -> Option<usize> {
        self.launcher.as_ref().map(|(plan, _)| *plan)
    }

    /// Whether there are devices and they count this plan.
    pub(super) fn devices_count(&self, plan: usize) -> bool {
        self.device_plan() == Some(plan)
    }

    /// Seconds that a CPU worker is expected to take for a unit of cost of this plan, before anything is
    /// measured. `None` if devices count the plan, whose speed is not known, or for an own engine.
    pub(super) fn expected_seconds(&self, plan: usize) -> Option<f64> {
        let of = &self.plans[plan];
        let expected = self
            .costs
            .seconds_per_cost(of.engine(), of.size(), self.settings.isa);
        expected.filter(|_| !self.devices_count(plan))
    }

    pub(super) fn key(&self, plan: usize, task: u64) -> TaskKey {
        self.plans[plan].key(task)
    }

    /// The CPU worker that must not count this task, while there is another one.
    pub(super) fn avoided(&self, plan: usize, task: u64) -> Option<usize> {
        match self.source.avoided(self.plans[plan].as_ref(), task) {
            Some(WorkerId::Cpu(worker)) if worker < self.workers && self.workers > 1 => {
                Some(worker)
            }
            _ => None,
        }
    }

    /// The name of a worker: of its thread, its lane and its results.
    pub(super) fn worker_id(&self, worker: usize) -> WorkerId {
        self.ids[worker]
    }

    /// The names of all workers: CPU workers, then devices.
    pub(super) fn worker_ids(&self) -> &[WorkerId] {
        &self.ids
    }

    /// What draws the tasks that are recounted from what a worker or device counts of a plan.
    pub(super) fn audit_of(&self, worker: usize, plan: usize) -> MutexGuard<'_, TaskAudit> {
        let device = worker.checked_sub(self.workers);
        let by_device = device.filter(|_| self.devices_count(plan));
        self.audits[by_device.map_or(plan, |device| self.plans.len() + device)].lock()
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

    /// Tells that a wait of a worker that began at `from` ends now. It is split into the part while
    /// there were tasks to hand out, and the part after that. `has_batch`: a batch ended it, not the
    /// end of the queue.
    pub(super) fn tell_waited(&self, worker: usize, from: Instant, has_batch: bool) {
        let waited = from.elapsed();
        let exhausted = Duration::from_nanos(self.exhausted.load(Ordering::Relaxed));
        let starved = self.start.elapsed().saturating_sub(exhausted).min(waited);
        self.observers.tell(EventKind::Waited {
            worker: self.worker_id(worker),
            waiting: waited - starved,
            starved,
            has_batch,
        });
    }
}

/// What draws the tasks that are recounted.
fn audits(
    spec: &RunSpec,
    workers: usize,
    launcher: Option<&(usize, Arc<dyn Launcher>)>,
    devices: usize,
) -> Vec<Mutex<TaskAudit>> {
    let of = |plan: usize, on_device: bool| {
        let all = !spec.audit_all.is_zero();
        let whole = all.then(|| WholePlan {
            cost: spec.plans[plan].total_cost(),
            budget: spec.audit_all.saturating_mul(workers.max(1) as u32),
            on_device,
        });
        Mutex::new(TaskAudit::new(spec.audit, whole))
    };
    let of_devices = launcher.map(|(plan, _)| (0..devices).map(move |_| of(*plan, true)));
    let of_workers = (0..spec.plans.len()).map(|plan| of(plan, false));
    of_workers.chain(of_devices.into_iter().flatten()).collect()
}

fn launcher(spec: &RunSpec, devices: &[DeviceSpec]) -> Option<(usize, Arc<dyn Launcher>)> {
    if devices.is_empty() {
        return None;
    }
    let mut plans = spec.plans.iter().enumerate();
    plans.find_map(|(index, plan)| Some((index, plan.launcher().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::super::live_progress::LiveProgress;
    use super::*;
    use crate::actors::WholePlans;
    use crate::board::Size;
    use crate::chain::ChainPlan;
    use crate::device::{OpenError, OwnerSettings};
    use crate::simd::Isa;

    #[test]
    fn a_device_that_is_given_up_lends_no_hand() {
        let spec = RunSpec {
            plans: vec![Arc::new(ChainPlan::new(Size::new(8).unwrap()))],
            workers: 2,
            counter: CounterSettings { isa: Isa::Portable },
            costs: CostTable::default(),
            queue_per_worker: 1,
            batch_time: Duration::from_millis(1),
            time_limit: None,
            audit: 0.0,
            audit_all: Duration::ZERO,
            canary: None,
            check: None,
            source: Arc::new(WholePlans),
            recorder: None,
            observers: Vec::new(),
        };
        let device = |index| DeviceSpec {
            index,
            name: "absent".to_owned(),
            open: Arc::new(|| Err(OpenError("gone".to_owned()))),
            settings: OwnerSettings::default(),
        };
        let shared = RunShared::new(
            &spec,
            &[device(0), device(1)],
            Observers::new(Arc::new(LiveProgress::begin()), &[]),
            #[cfg(feature = "fault-injection")]
            Default::default(),
        );
        assert_eq!((shared.hands(), shared.hands_left()), (4, 4));
        assert!(!shared.give_device_up(2));
        assert_eq!((shared.hands(), shared.hands_left()), (4, 3));
        assert_eq!(
            (shared.elsewhere(&[0]), shared.elsewhere(&[1])),
            (Some(1), Some(0))
        );
        shared.set_gone(0);
        assert_eq!((shared.elsewhere(&[1]), shared.cpu_left()), (Some(3), 1));
        shared.set_gone(1);
        assert_eq!(
            (shared.elsewhere(&[3]), shared.give_device_up(3)),
            (None, true)
        );
    }
}
