//! Runs on devices that fail: nothing is lost, and a wrong count ends the run.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::faulty_device::{Fault, Faulty, Trouble};
use parking_lot::Mutex;
use queenfold::actors::{Control, DeviceSpec, EventKind, Observer, RunError, RunEvent, run_on};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::device::{Device, EmulatedSettings, OpenError};
use queenfold::engine::{
    Counter, CounterSettings, Engine, Launch, Launcher, NoLauncher, NotCounted, Plan, Tally, Task,
    TaskWatch, WorkerId,
};

use super::emulated::opened_again;
use super::runs::{device, exact, exact_by, healthy, settings, size, spec};

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
    fn engine(&self) -> Engine {
        Engine::Chain
    }

    fn version(&self) -> u32 {
        1
    }

    fn size(&self) -> Size {
        self.plan.size()
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

/// What became of devices: whether each was given up, and why it failed.
#[derive(Default)]
struct Failures(Mutex<Vec<(bool, String)>>);

impl Observer for Failures {
    fn event(&self, event: &RunEvent) {
        let (given_up, reason) = match &event.kind {
            EventKind::DeviceLost { reason, .. } => (false, reason),
            EventKind::DeviceGivenUp { reason, .. } => (true, reason),
            _ => return,
        };
        self.0.lock().push((given_up, reason.clone()));
    }
}

fn random(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

fn random_fault(seed: u64) -> Fault {
    // `Hangs` is rarer, because the owner waits until its patience ends.
    match random(seed) % 7 {
        0..=2 => Fault::Lost,
        3..=5 => Fault::JobMissing,
        _ => Fault::Hangs,
    }
}

/// A device of one slot that is opened again after each failure.
fn failing(trouble: Arc<Trouble>) -> DeviceSpec {
    let mut device = DeviceSpec {
        open: Arc::new(move || {
            let settings = EmulatedSettings {
                slots: 1,
                ..EmulatedSettings::default()
            };
            Ok(Box::new(Faulty::new(settings, Arc::clone(&trouble))) as Box<dyn Device>)
        }),
        ..healthy()
    };
    device.settings.restarts = 10_000;
    device.settings.least_patience = Duration::from_millis(300);
    device
}

/// Counts board `n` on one worker and a device whose first `strikes` launches fail. Checks that both
/// take part in every case.
fn exact_together(n: u32, strikes: u64, seed: u64) {
    let at_work = Arc::new(AtomicBool::new(false));
    let struck = Arc::new(AtomicU64::new(0));
    let trouble: Arc<Trouble> = Arc::new({
        let (at_work, struck) = (Arc::clone(&at_work), Arc::clone(&struck));
        move |number, _: &Launch| {
            // The first submission is the self-test.
            if number == 0 {
                return None;
            }
            if struck.load(Ordering::SeqCst) < strikes {
                return Some(random_fault(seed + struck.fetch_add(1, Ordering::SeqCst)));
            }
            at_work.store(true, Ordering::SeqCst);
            None
        }
    });
    let mut spec = spec(n, 1);
    let in_hand = Arc::new(AtomicBool::new(false));
    spec.plans[0] = Arc::new(Patient::new(n, Arc::clone(&in_hand), at_work));
    spec.queue_per_worker = 1;
    // The device would count a small board alone before the worker has started.
    let mut device = failing(trouble);
    let open = Arc::clone(&device.open);
    device.open = Arc::new(move || {
        wait_for(&in_hand, "the worker never counts");
        open()
    });
    let report = exact_by(&spec, &[device]);
    for worker in &report.workers {
        assert!(worker.tasks > 0, "n = {n}: {} took no part", worker.id);
    }
    let tasks: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
    assert_eq!(tasks, report.tasks_done, "n = {n}");
    assert_eq!(struck.load(Ordering::SeqCst), strikes, "n = {n}");
}

#[test]
fn on_every_board_of_5_to_13_queens_worker_and_device_both_count() {
    for n in 5..=13 {
        exact_together(n, 0, 0);
    }
}

#[test]
fn failures_of_a_device_beside_a_worker_lose_nothing_of_any_board_of_5_to_13_queens() {
    for n in 5..=13 {
        for seed in 0..3 {
            exact_together(n, 1 + seed, 100 * u64::from(n) + 10 * seed);
        }
    }
}

#[test]
fn failures_of_a_device_alone_lose_nothing_of_any_board_of_5_to_13_queens() {
    for n in 5..=13 {
        for seed in 0..3 {
            let launches = AtomicU64::new(0);
            let struck = Arc::new(AtomicU64::new(0));
            let trouble: Arc<Trouble> = Arc::new({
                let struck = Arc::clone(&struck);
                move |number, _: &Launch| {
                    if number == 0 {
                        return None;
                    }
                    // The first launch always fails, so that every seed has a failure.
                    let launch = launches.fetch_add(1, Ordering::SeqCst);
                    let drawn = 1000 * u64::from(n) + 100 * seed + launch;
                    (launch == 0 || random(drawn).is_multiple_of(3)).then(|| {
                        struck.fetch_add(1, Ordering::SeqCst);
                        random_fault(drawn + 50)
                    })
                }
            });
            let mut spec = spec(n, 0);
            let [in_hand, at_work] = [false, true].map(|set| Arc::new(AtomicBool::new(set)));
            spec.plans[0] = Arc::new(Patient::new(n, in_hand, at_work));
            let report = exact_by(&spec, &[failing(trouble)]);
            let tasks = report.workers[1].tasks;
            assert_eq!(tasks, spec.plans[0].tasks(), "n = {n}");
            assert!(struck.load(Ordering::SeqCst) > 0, "n = {n}");
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
    let error = run_on(&spec(12, 0), &[absent], &Control::new()).unwrap_err();
    assert!(
        matches!(&error, RunError::Runtime(why) if why.contains("gone")),
        "{error}"
    );
}

#[test]
fn a_device_that_dies_early_leaves_the_run_to_the_workers() {
    let mut dying = device(Arc::new(|number, _| (number > 1).then_some(Fault::Lost)));
    dying.settings.restarts = 0;
    exact(15, 1, std::slice::from_ref(&dying));
    dying.settings.restarts = 1;
    let failures = Arc::new(Failures::default());
    let mut alone = spec(15, 0);
    alone.observers.push(Arc::clone(&failures) as _);
    let error = run_on(&alone, std::slice::from_ref(&dying), &Control::new()).unwrap_err();
    assert!(error.to_string().contains("no device is left"), "{error}");
    let told = failures.0.lock();
    let given_up: Vec<_> = told.iter().map(|(given_up, _)| *given_up).collect();
    assert_eq!(given_up, [false, true], "{told:?}");
    assert!(told.iter().all(|(_, why)| !why.is_empty()), "{told:?}");
}

#[test]
fn a_device_that_counts_wrongly_fails_the_run() {
    let wrong = device(Arc::new(|number, _| {
        (number == 1).then_some(Fault::WrongSum)
    }));
    let error = run_on(&spec(14, 0), std::slice::from_ref(&wrong), &Control::new()).unwrap_err();
    assert!(
        matches!(&error, RunError::Sick { worker: WorkerId::Device(0), reason } if reason.contains("sampled")),
        "{error}"
    );
    // With a CPU worker, the run goes on without the device.
    let report = exact(15, 1, std::slice::from_ref(&wrong));
    if report.workers[1].tasks > 0 {
        assert_eq!(report.taken_out[0].worker, WorkerId::Device(0));
    }
}

#[test]
fn what_a_device_counted_that_miscounts_when_it_is_opened_again_is_counted_again() {
    let opened = Arc::new(AtomicU64::new(0));
    let open = opened_again(&opened, |is_first, number| match is_first {
        // The first device counts two launches and is lost; the second one counts wrongly from the start.
        true => (number > 2).then_some(Fault::Lost),
        false => Some(Fault::WrongSum),
    });
    let bad = DeviceSpec {
        open: Arc::new(open),
        ..healthy()
    };
    let good = DeviceSpec {
        index: 1,
        ..healthy()
    };
    let mut spec = spec(15, 0);
    spec.canary = Some(Duration::from_secs(900));
    let report = exact_by(&spec, &[bad, good]);
    assert_eq!(opened.load(Ordering::Relaxed), 2);
    let [taken_out] = &report.taken_out[..] else {
        panic!("{:?}", report.taken_out);
    };
    assert_eq!(taken_out.worker, WorkerId::Device(0));
    assert!(taken_out.suspects > 0, "{taken_out:?}");
}
