//! Devices that CPU workers feed: the workers prepare launches, and count what no device has room for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use queenfold::actors::{Control, DeviceSpec, Report, RunError, run_on};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::device::{Fault, Trouble};
use queenfold::engine::{
    Completed, Counter, CounterSettings, DeviceCanary, DeviceProgram, Engine, Launch, LaunchBatch,
    LaunchError, Launcher, Mismatch, NoLauncher, NotCounted, PartTaker, Plan, Preparer, Tally,
    Task, TaskWatch, WorkerId,
};

use super::runs::{device, exact_by, healthy, size, spec};

/// The chain plan, whose launches CPU workers prepare: each task in two parts, and a third that the worker
/// counts itself.
struct Fed {
    plan: Arc<ChainPlan>,
    /// Whether workers keep parts that they could leave to a device.
    keeps: Arc<AtomicBool>,
    /// Parts left to devices.
    left: Arc<AtomicU64>,
}

impl Fed {
    fn new(n: u32) -> Self {
        Self {
            plan: Arc::new(ChainPlan::new(size(n))),
            keeps: Arc::default(),
            left: Arc::default(),
        }
    }
}

impl Plan for Fed {
    fn engine(&self) -> Engine {
        Engine::Chain
    }

    fn version(&self) -> u32 {
        self.plan.version()
    }

    fn size(&self) -> Size {
        self.plan.size()
    }

    fn tasks(&self) -> u64 {
        self.plan.tasks()
    }

    fn task(&self, index: u64) -> Task {
        self.plan.task(index)
    }

    fn total_cost(&self) -> f64 {
        self.plan.total_cost()
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        self.plan.counter(settings)
    }

    fn oracle(&self) -> Box<dyn Counter> {
        self.plan.oracle()
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        Ok(Arc::new(FedLauncher {
            launcher: self.plan.launcher()?,
            plan: Arc::clone(&self.plan),
            keeps: Arc::clone(&self.keeps),
            left: Arc::clone(&self.left),
        }))
    }
}

struct FedLauncher {
    launcher: Arc<dyn Launcher>,
    plan: Arc<ChainPlan>,
    keeps: Arc<AtomicBool>,
    left: Arc<AtomicU64>,
}

impl Launcher for FedLauncher {
    fn program(&self) -> DeviceProgram {
        self.launcher.program()
    }

    fn work(&self) -> f64 {
        self.launcher.work()
    }

    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError> {
        self.launcher.batch(tasks, seed)
    }

    fn canary(&self, copies: u32) -> Result<DeviceCanary, LaunchError> {
        self.launcher.canary(copies)
    }

    fn preparer(&self, settings: &CounterSettings) -> Option<Box<dyn Preparer>> {
        Some(Box::new(FedPreparer {
            counter: self.plan.counter(settings),
            launcher: Arc::clone(&self.launcher),
            keeps: Arc::clone(&self.keeps),
            left: Arc::clone(&self.left),
        }))
    }
}

struct FedPreparer {
    counter: Box<dyn Counter>,
    launcher: Arc<dyn Launcher>,
    keeps: Arc<AtomicBool>,
    left: Arc<AtomicU64>,
}

/// A third of the ranks of a task.
fn third(task: &Task, which: u64) -> Task {
    let ranks = task.ranks.end - task.ranks.start;
    let border = |which| task.ranks.start + ranks * which / 3;
    Task {
        ranks: border(which)..border(which + 1),
        ..task.clone()
    }
}

/// What is left to a device of a batch, as a part of a task.
struct Third(Box<dyn LaunchBatch>);

impl LaunchBatch for Third {
    fn launch(&self) -> Option<&Launch> {
        self.0.launch()
    }

    fn tallies(self: Box<Self>, completed: Option<&Completed>) -> Result<Vec<Tally>, Mismatch> {
        self.0.tallies(completed)
    }
}

impl Preparer for FedPreparer {
    fn prepare(
        &mut self,
        task: &Task,
        watch: &TaskWatch,
        device: &mut dyn PartTaker,
    ) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        for which in 0..3 {
            let part = third(task, which);
            if which < 2 && !self.keeps.load(Ordering::Relaxed) {
                let batch = self.launcher.batch(&[part.clone()], which).unwrap();
                let bytes = batch.launch().map(Launch::bytes);
                if bytes.is_some_and(|bytes| device.has_room(bytes)) {
                    self.left.fetch_add(1, Ordering::Relaxed);
                    device.take(Box::new(Third(batch)), task.cost / 3.0);
                    continue;
                }
            }
            tally += self.counter.count_watched(&part, watch)?;
        }
        Ok(tally)
    }
}

/// Counts board `n` on workers and the devices that they feed. Returns the report, and how many parts were left
/// to devices.
fn exact(n: u32, workers: usize, devices: &[DeviceSpec]) -> (Report, u64) {
    let fed = Fed::new(n);
    let left = Arc::clone(&fed.left);
    let mut spec = spec(n, workers);
    spec.plans[0] = Arc::new(fed);
    let report = exact_by(&spec, devices);
    let tasks: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
    assert_eq!(tasks, report.tasks_done, "n = {n}");
    (report, left.load(Ordering::Relaxed))
}

#[test]
fn workers_and_the_devices_they_feed_count_every_board_of_8_to_15_queens() {
    let mut on_devices = 0;
    for n in 8..=15 {
        for (workers, devices) in [(1, 1), (2, 1), (1, 2), (0, 1)] {
            let (report, _) = exact(n, workers, &vec![healthy(); devices]);
            let of_devices = &report.workers[workers..];
            on_devices += of_devices
                .iter()
                .map(|device| device.device_tasks)
                .sum::<u64>();
        }
    }
    assert!(on_devices > 0);
}

#[test]
fn a_device_that_fails_while_it_is_fed_loses_nothing() {
    for fault in [
        Fault::Lost,
        Fault::JobMissing,
        Fault::OutOfMemory,
        Fault::Hangs,
    ] {
        let launches = Arc::new(AtomicU64::new(0));
        let trouble: Arc<Trouble> = Arc::new(move |number, _: &Launch| {
            // Submission 0 of each opening is the test. Every third one after it fails.
            let fails = number > 0 && launches.fetch_add(1, Ordering::SeqCst) % 3 == 0;
            fails.then_some(fault)
        });
        let mut device = device(trouble);
        device.settings.least_patience = Duration::from_millis(300);
        device.settings.restarts = 3;
        let (_, left) = exact(16, 1, &[device]);
        assert!(left > 0, "{fault:?}: the device was never fed");
    }
}

#[test]
fn a_device_that_counts_wrongly_while_it_is_fed_is_taken_out() {
    let wrong = device(Arc::new(|number, _| {
        (number > 0).then_some(Fault::WrongSum)
    }));
    let (report, left) = exact(16, 1, &[wrong]);
    assert!(left > 0, "the device was never fed");
    assert_eq!(report.taken_out[0].worker, WorkerId::Device(0));
}

#[test]
fn a_device_without_memory_for_parts_leaves_them_to_the_workers() {
    let mut small = healthy();
    small.settings.part_bytes = Some(64);
    let (report, left) = exact(14, 1, &[small]);
    assert_eq!((left, report.workers[1].tasks), (0, 0));
}

#[test]
fn parts_that_nobody_leaves_to_a_device_are_no_loss() {
    let fed = Fed::new(14);
    fed.keeps.store(true, Ordering::Relaxed);
    let mut spec = spec(14, 1);
    spec.plans[0] = Arc::new(fed);
    let report = exact_by(&spec, &[healthy()]);
    assert_eq!(report.workers[1].device_tasks, 0);
}

#[test]
fn a_run_that_stops_gets_prepared_tasks_back() {
    let mut spec = spec(18, 1);
    spec.plans[0] = Arc::new(Fed::new(18));
    spec.time_limit = Some(Duration::from_millis(700));
    let report = run_on(&spec, &[healthy()], &Control::new());
    match report {
        Ok(report) => assert!(!report.is_whole()),
        Err(error) => assert!(matches!(error, RunError::Sick { .. }), "{error}"),
    }
}
