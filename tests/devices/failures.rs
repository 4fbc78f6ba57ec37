//! Runs on devices that fail: nothing is lost, and a wrong count ends the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::faulty_device::{Fault, Faulty, Trouble};
use parking_lot::Mutex;
use queenfold::actors::{Control, DeviceSpec, EventKind, Observer, RunError, RunEvent};
use queenfold::board::GivenBoard;
use queenfold::chain::ChainPlan;
use queenfold::device::{Device, OpenError};
use queenfold::engine::{
    Counter, CounterSettings, Engine, Launch, Launcher, NoLauncher, NotCounted, Plan, PlanName,
    Tally, Task, TaskWatch, WorkerId,
};

use super::runs::{device, exact, exact_by, healthy, in_time, settings, size, spec};

/// The chain plan in small tasks. The workers count none of them until the device counts: otherwise
/// they would finish a small board before the device is open.
struct Patient {
    plan: ChainPlan,
    tasks: u64,
    ranks: u64,
    /// Set as soon as a worker has a task.
    in_hand: Arc<AtomicBool>,
    /// Set as soon as the device has a launch that it will count.
    at_work: Arc<AtomicBool>,
}

impl Patient {
    fn new(n: u32, in_hand: Arc<AtomicBool>, at_work: Arc<AtomicBool>) -> Self {
        let plan = ChainPlan::new(size(n));
        let ranks = plan.task(plan.tasks() - 1).ranks.end;
        Self {
            tasks: ranks.min(40),
            ranks,
            plan,
            in_hand,
            at_work,
        }
    }
}

impl Plan for Patient {
    fn name(&self) -> PlanName {
        PlanName {
            engine: Engine::Chain,
            version: 1,
        }
    }

    fn given(&self) -> GivenBoard {
        self.plan.given()
    }

    fn tasks(&self) -> u64 {
        self.tasks
    }

    fn task(&self, index: u64) -> Task {
        let border = |index| self.ranks * index / self.tasks;
        Task {
            key: self.key(index),
            ranks: border(index)..border(index + 1),
            cost: self.total_cost() / self.tasks as f64,
        }
    }

    fn total_cost(&self) -> f64 {
        self.plan.total_cost()
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        Box::new(PatientCounter {
            counter: self.plan.counter(settings),
            in_hand: Arc::clone(&self.in_hand),
            at_work: Arc::clone(&self.at_work),
        })
    }

    fn oracle(&self) -> Box<dyn Counter> {
        self.plan.oracle()
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        self.plan.launcher()
    }
}

struct PatientCounter {
    counter: Box<dyn Counter>,
    in_hand: Arc<AtomicBool>,
    at_work: Arc<AtomicBool>,
}

/// Waits until `flag` is set.
fn wait_for(flag: &AtomicBool, what: &str) {
    let begin = Instant::now();
    while !flag.load(Ordering::SeqCst) {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Counter for PatientCounter {
    fn backend(&self) -> &'static str {
        self.counter.backend()
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        self.in_hand.store(true, Ordering::SeqCst);
        wait_for(&self.at_work, "the device never counts");
        self.counter.count_watched(task, watch)
    }
}

/// Why devices failed.
#[derive(Default)]
struct Failures(Mutex<Vec<String>>);

impl Observer for Failures {
    fn event(&self, event: &RunEvent) {
        if let EventKind::DeviceGivenUp { reason, .. } = &event.kind {
            self.0.lock().push(reason.clone());
        }
    }
}

/// What a device fails of.
const FAULTS: [Fault; 3] = [Fault::Lost, Fault::JobMissing, Fault::Hangs];

/// A device of one slot, whose launch of this number, counted from 1, fails. `at_work` is set as soon as it has a launch.
fn failing(fault: Option<(u64, Fault)>, at_work: Arc<AtomicBool>) -> DeviceSpec {
    let trouble: Arc<Trouble> = Arc::new(move |number, _: &Launch| {
        // The first submission is the self-test.
        at_work.fetch_or(number > 0, Ordering::SeqCst);
        fault.and_then(|(at, fault)| (number == at).then_some(fault))
    });
    let mut device = DeviceSpec {
        open: Arc::new(move || {
            let device = Faulty::with_slots(1, Arc::clone(&trouble));
            Ok(Box::new(device) as Box<dyn Device>)
        }),
        ..healthy()
    };
    if fault.is_some() {
        device.settings.least_patience = Duration::from_millis(50);
    }
    device
}

/// Counts board `n` on one worker and a device that fails so, which both have tasks.
fn exact_together(n: u32, fault: Option<(u64, Fault)>) {
    let at_work = Arc::new(AtomicBool::new(false));
    let mut spec = spec(n, 1);
    let in_hand = Arc::new(AtomicBool::new(false));
    let patient = Patient::new(n, Arc::clone(&in_hand), Arc::clone(&at_work));
    spec.plans[0] = Arc::new(patient);
    let mut device = failing(fault, Arc::clone(&at_work));
    // The device would count a small board alone before the worker has started.
    let open = Arc::clone(&device.open);
    device.open = Arc::new(move || {
        wait_for(&in_hand, "the worker never counts");
        open()
    });
    let report = exact_by(&spec, &[device]);
    for worker in report.workers.iter().filter(|_| fault.is_none()) {
        assert!(worker.tasks > 0, "n = {n}: {} took no part", worker.id);
    }
    let tasks: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
    assert_eq!(tasks, report.tasks_done, "n = {n}");
    assert!(at_work.load(Ordering::SeqCst), "n = {n}");
}

#[test]
fn on_every_board_of_5_to_13_queens_worker_and_device_both_count() {
    for n in 5..=13 {
        exact_together(n, None);
    }
}

#[test]
fn a_device_that_fails_beside_a_worker_loses_nothing() {
    for n in [5, 8, 9, 12, 13] {
        for fault in FAULTS {
            exact_together(n, Some((1, fault)));
            exact_together(n, Some((2, fault)));
        }
    }
}

#[test]
fn a_device_that_fails_beside_another_loses_nothing() {
    for n in [5, 8, 9, 12, 13] {
        for fault in FAULTS {
            let at_work = Arc::new(AtomicBool::new(false));
            let bad = failing(Some((1, fault)), Arc::clone(&at_work));
            let open = healthy().open;
            let good = DeviceSpec {
                index: 1,
                open: Arc::new(move || {
                    wait_for(&at_work, "the device never counts");
                    open()
                }),
                ..healthy()
            };
            let report = exact(n, 0, &[bad, good]);
            assert_eq!(report.workers[1].tasks, 0, "n = {n}");
        }
    }
}

#[test]
fn devices_that_fail_at_random_lose_nothing() {
    for seed in 0..6_u64 {
        let state = Arc::new(AtomicU64::new(seed));
        let trouble: Arc<Trouble> = Arc::new(move |number, _: &Launch| {
            let random = state
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                >> 32;
            match (number, random % 6) {
                (1.., 0) => Some(Fault::Lost),
                (1.., 1) => Some(Fault::JobMissing),
                (1.., 2) => Some(Fault::OutOfMemory),
                (1.., 3) if seed == 0 => Some(Fault::Hangs),
                _ => None,
            }
        });
        let mut devices = [device(Arc::clone(&trouble)), device(trouble)];
        for device in &mut devices {
            device.settings.least_patience = Duration::from_millis(300);
        }
        exact(13, 1, &devices);
    }
}

#[test]
fn a_device_that_does_not_open_leaves_the_run_to_the_workers() {
    let absent = DeviceSpec {
        index: 1,
        name: "absent".to_owned(),
        open: Arc::new(|| Err(OpenError("gone".to_owned()))),
        settings: settings(),
    };
    let report = exact(12, 1, &[absent.clone(), healthy()]);
    assert_eq!(report.workers[1].tasks, 0);
    let error = in_time(&spec(12, 0), &[absent], &Control::new()).unwrap_err();
    assert!(
        matches!(&error, RunError::Runtime(why) if why.contains("gone")),
        "{error}"
    );
}

#[test]
fn a_device_that_dies_early_leaves_the_run_to_the_workers() {
    let dying = device(Arc::new(|number, _| (number > 1).then_some(Fault::Lost)));
    exact(15, 1, std::slice::from_ref(&dying));
    let failures = Arc::new(Failures::default());
    let mut alone = spec(15, 0);
    alone.observers.push(Arc::clone(&failures) as _);
    let error = in_time(&alone, std::slice::from_ref(&dying), &Control::new()).unwrap_err();
    assert!(error.to_string().contains("no device is left"), "{error}");
    let told = failures.0.lock();
    assert!(told.len() == 1 && !told[0].is_empty(), "{told:?}");
}

#[test]
fn a_device_that_counts_wrongly_fails_the_run() {
    let wrong = device(Arc::new(|number, _| {
        (number == 1).then_some(Fault::WrongSum)
    }));
    let error = in_time(&spec(14, 0), std::slice::from_ref(&wrong), &Control::new()).unwrap_err();
    assert!(
        matches!(&error, RunError::Faulty { worker: WorkerId::Device(0), reason } if reason.contains("sampled")),
        "{error}"
    );
    // With a CPU worker, the run goes on without the device.
    let report = exact(15, 1, std::slice::from_ref(&wrong));
    if report.workers[1].tasks > 0 {
        assert_eq!(report.faulty[0].worker, WorkerId::Device(0));
    }
}
