//! What all actors and threads of a run know: plans, workers, observers, and whether to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use crate::actors::{
    Audits, DeviceSpec, EventKind, FaultHook, InFlight, Observers, PlanIndex, Roster, RunSpec,
    TaskAudit, WorkerIndex,
};
use crate::engine::{Launcher, Plan, TaskKey, WorkerId, seconds_per_cost};

/// What all actors and worker threads of a run share: what is to be counted and by whom, who hears of
/// it, and what workers must see at once: whether to stop, and whether all tasks are handed out.
pub(crate) struct RunShared {
    /// What was asked for. How many CPU workers there are, the roster says.
    pub(crate) spec: RunSpec,
    pub(crate) roster: Arc<Roster>,
    pub(crate) devices: DeviceRoute,
    pub(crate) observers: Observers,
    audits: Audits,
    /// What the workers count on the CPU now.
    pub(crate) in_flight: InFlight,
    /// Whether workers must begin no more tasks.
    halted: AtomicBool,
    pub(crate) faults: Arc<dyn FaultHook>,
}

impl RunShared {
    pub(crate) fn new(
        spec: &RunSpec,
        devices: &[DeviceSpec],
        observers: Observers,
        faults: Arc<dyn FaultHook>,
    ) -> Self {
        let devices = DeviceRoute::new(&spec.plans, devices, spec.workers);
        let cpu_workers = spec.workers.max(1);
        let numbers = devices.devices.iter().map(|device| device.index);
        let roster = Roster::new(cpu_workers, numbers);
        if devices.is_theirs_alone {
            observers.progress().await_device();
        }
        Self {
            audits: Audits::new(spec, cpu_workers, (devices.devices.len(), devices.plan())),
            in_flight: InFlight::new(cpu_workers, spec.plans.len()),
            spec: spec.clone(),
            roster: Arc::new(roster),
            devices,
            observers,
            halted: AtomicBool::new(false),
            faults,
        }
    }

    pub(crate) fn plan(&self, plan: PlanIndex) -> &Arc<dyn Plan> {
        &self.spec.plans[plan.0]
    }

    pub(crate) fn plan_indices(&self) -> impl Iterator<Item = PlanIndex> + use<> {
        (0..self.spec.plans.len()).map(PlanIndex)
    }

    pub(crate) fn key(&self, plan: PlanIndex, task: u64) -> TaskKey {
        self.plan(plan).key(task)
    }

    /// How long each worker is expected to count, by the costs of the plans.
    pub(crate) fn expected(&self) -> Duration {
        let cost: f64 = self.spec.plans.iter().map(|plan| plan.total_cost()).sum();
        let seconds = cost / self.roster.workers().max(1) as f64;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// How many CPU workers are left that count what devices count, too.
    pub(crate) fn sharers_left(&self) -> usize {
        match self.devices.is_theirs_alone {
            true => 0,
            false => self.roster.cpu_workers_left(),
        }
    }

    /// How many are left that count the largest plan: these and the devices.
    pub(crate) fn counting_left(&self) -> usize {
        self.sharers_left() + self.roster.devices_left()
    }

    /// Seconds that a CPU worker is expected to take for a unit of cost of this plan, before anything is
    /// measured. `None` if devices count the plan, whose speed is not known, or for an own engine.
    pub(crate) fn expected_seconds(&self, plan: PlanIndex) -> Option<f64> {
        let (of, isa) = (self.plan(plan), self.spec.counter.isa);
        let expected = seconds_per_cost(of.engine(), of.size(), isa);
        expected.filter(|_| !self.devices.counts(plan))
    }

    /// The CPU worker that must not count this task, while there is another one.
    pub(crate) fn avoided(&self, plan: PlanIndex, task: u64) -> Option<WorkerIndex> {
        let cpu_workers = self.roster.cpu_workers();
        match self.spec.source.avoided(self.plan(plan).as_ref(), task) {
            Some(WorkerId::Cpu(worker)) if worker < cpu_workers && cpu_workers > 1 => {
                Some(WorkerIndex(worker))
            }
            _ => None,
        }
    }

    /// What draws the tasks that are recounted from what a worker counts of a plan.
    pub(crate) fn audit_of(
        &self,
        worker: WorkerIndex,
        plan: PlanIndex,
    ) -> MutexGuard<'_, TaskAudit> {
        self.audits.of(plan, self.roster.device(worker))
    }

    pub(crate) fn is_halted(&self) -> bool {
        self.halted.load(Ordering::Relaxed)
    }

    pub(crate) fn set_halted(&self, halted: bool) {
        self.halted.store(halted, Ordering::Relaxed);
    }

    /// Tells that a wait of a worker that began at `from` ends now. `has_batch`: a batch ended it, not
    /// the end of the queue.
    pub(crate) fn tell_waited(&self, worker: WorkerIndex, from: Instant, has_batch: bool) {
        let (waiting, starved) = self.observers.progress().split_wait(from);
        self.observers.tell(EventKind::Waited {
            worker: self.roster.id(worker),
            waiting,
            starved,
            has_batch,
        });
    }
}

/// The devices of a run, and the way from a plan to them.
pub(crate) struct DeviceRoute {
    /// None if they count none of the plans.
    pub(crate) devices: Vec<DeviceSpec>,
    /// The plan that they count, and what makes their launches: the first plan that has a launcher.
    pub(crate) launcher: Option<(PlanIndex, Arc<dyn Launcher>)>,
    /// Whether CPU workers leave that plan to them.
    pub(crate) is_theirs_alone: bool,
}

impl DeviceRoute {
    /// So many CPU workers were asked for beside the devices.
    pub(crate) fn new(plans: &[Arc<dyn Plan>], devices: &[DeviceSpec], workers: usize) -> Self {
        let mut plans = plans.iter().enumerate().filter(|_| !devices.is_empty());
        let launcher = plans.find_map(|(at, plan)| Some((PlanIndex(at), plan.launcher().ok()?)));
        Self {
            devices: devices
                .iter()
                .filter(|_| launcher.is_some())
                .cloned()
                .collect(),
            is_theirs_alone: launcher.is_some() && workers == 0,
            launcher,
        }
    }

    /// The plan that devices count; `None` if there are none.
    pub(crate) fn plan(&self) -> Option<PlanIndex> {
        self.launcher.as_ref().map(|(plan, _)| *plan)
    }

    /// Whether there are devices and they count this plan.
    pub(crate) fn counts(&self, plan: PlanIndex) -> bool {
        self.plan() == Some(plan)
    }
}
