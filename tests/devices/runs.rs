//! Runs on CPU workers and devices together.

use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use crate::common::faulty_device::{Faulty, Trouble};
use crate::common::run_spec::run_spec;
use crate::common::test_device::{self, TestDevice};
use parking_lot::Mutex;
use queenfold::actors::{
    Control, DeviceSpec, EventKind, Observer, Report, RunError, RunEvent, RunSpec, run,
};
use queenfold::board::{Size, known};
use queenfold::census::CensusPlan;
use queenfold::chain::ChainPlan;
use queenfold::device::{Device, OwnerSettings};
use queenfold::engine::{Engine, Plan, WorkerId};
use queenfold::simd::Isa;
use queenfold_cli::telemetry::profile;

pub fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

pub fn spec(n: u32, workers: usize) -> RunSpec {
    let plans: Vec<Arc<dyn Plan>> = vec![
        Arc::new(ChainPlan::new(size(n))),
        Arc::new(CensusPlan::new(size(n))),
    ];
    RunSpec {
        batch_time: Duration::from_millis(2),
        ..run_spec(plans, workers, Isa::best())
    }
}

pub fn settings() -> OwnerSettings {
    test_device::short_launches()
}

/// A device on which `trouble` strikes.
pub fn device(trouble: Arc<Trouble>) -> DeviceSpec {
    DeviceSpec {
        open: Arc::new(move || {
            let device = Faulty::new(Arc::clone(&trouble));
            Ok(Box::new(device) as Box<dyn Device>)
        }),
        ..healthy()
    }
}

pub fn healthy() -> DeviceSpec {
    test_device::device(settings())
}

/// Runs board `n` and compares the result with the known counts.
pub fn exact(n: u32, workers: usize, devices: &[DeviceSpec]) -> Report {
    exact_by(&spec(n, workers), devices)
}

/// What a run comes to, which must not take longer than two minutes.
pub fn in_time(
    spec: &RunSpec,
    devices: &[DeviceSpec],
    control: &Control,
) -> Result<Report, RunError> {
    let (spec, devices, control) = (spec.clone(), devices.to_vec(), control.clone());
    let (tell, outcome) = mpsc::channel();
    std::thread::spawn(move || {
        // Nobody hears of it if it took too long.
        let _ = tell.send(run(&spec, &devices, &control));
    });
    let outcome = outcome.recv_timeout(Duration::from_secs(120));
    outcome.expect("the run stands still")
}

/// The same for the board and the workers of `spec`.
pub fn exact_by(spec: &RunSpec, devices: &[DeviceSpec]) -> Report {
    let (n, workers) = (spec.plans[0].size().get(), spec.workers);
    let report = in_time(spec, devices, &Control::new()).unwrap();
    assert!(report.is_whole(), "n = {n}, {workers} workers");
    let known = known(size(n)).unwrap();
    let total = report.tallies[&spec.plans[0].engine()]
        .completions
        .solutions();
    assert_eq!(total, known.total, "n = {n}, {workers} workers");
    assert_eq!(report.tallies[&Engine::Census].r180, known.r180, "n = {n}");
    assert_eq!(report.workers.len(), workers.max(1) + devices.len());
    report
}

#[test]
fn a_device_alone_counts_every_board_of_5_to_13_queens() {
    for n in 5..=13 {
        let report = exact(n, 0, &[healthy()]);
        let [worker, device] = &report.workers[..] else {
            panic!("{report:?}");
        };
        // The worker counts the census, and nothing of the plan of the device.
        assert_eq!(device.tasks, ChainPlan::new(size(n)).tasks(), "n = {n}");
        assert_eq!(device.tasks + worker.tasks, report.tasks_done, "n = {n}");
        assert_eq!(device.counted_by_name(), "test device");
    }
}

#[test]
fn workers_and_devices_share_every_board_of_5_to_14_queens() {
    for n in 5..=14 {
        for (workers, devices) in [(0, 1), (1, 1), (2, 1), (1, 2)] {
            let devices = vec![healthy(); devices];
            let report = exact(n, workers, &devices);
            let tasks: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
            assert_eq!(tasks, report.tasks_done, "n = {n}");
        }
    }
}

/// What devices tell: that they are ready, and the tasks of launches that begin and end.
#[derive(Default)]
struct Launches(Mutex<Vec<EventKind>>);

impl Observer for Launches {
    fn event(&self, event: &RunEvent) {
        if matches!(
            event.kind,
            EventKind::DeviceReady { .. }
                | EventKind::LaunchBegun { .. }
                | EventKind::LaunchDone(_)
        ) {
            self.0.lock().push(event.kind.clone());
        }
    }
}

#[test]
fn every_launch_is_told_when_it_begins_and_when_it_ends() {
    let launches = Arc::new(Launches::default());
    let mut spec = spec(14, 0);
    spec.observers.push(Arc::clone(&launches) as _);
    exact_by(&spec, &[healthy()]);
    let told = launches.0.lock();
    assert!(
        matches!(&told[0], EventKind::DeviceReady { device, .. } if device.name == "test device"),
        "{told:?}"
    );
    let (mut begun, mut done) = (0, 0);
    for event in &told[1..] {
        match event {
            EventKind::LaunchBegun { tasks, .. } => begun += tasks,
            EventKind::LaunchDone(times) => done += times.tasks,
            other => panic!("{other:?}"),
        }
        assert!(done <= begun, "{told:?}");
    }
    assert!(done > 0 && done == begun, "{done} of {begun}");
}

#[test]
fn a_long_run_keeps_worker_and_device_busy() {
    // Wide vectors of a fast machine would count the board before the device is open.
    let mut slow = spec(17, 1);
    slow.counter.isa = Isa::Portable;
    let report = exact_by(&slow, &[healthy()]);
    for worker in &report.workers {
        assert!(worker.tasks > 0, "{} had nothing to do", worker.id);
    }
}

/// Asserts that one of three attempts takes less than its limit: other work on the machine may delay
/// the others. An attempt returns its time and its limit.
fn one_of_three_is_in_time(mut attempt: impl FnMut() -> (Duration, Duration)) {
    let tries: Vec<_> = (0..3)
        .map(|_| attempt())
        .take_while(|(took, limit)| took >= limit)
        .collect();
    assert!(tries.len() < 3, "{tries:?}");
}

/// Drains a run of minutes after `delay`, and checks that it ends soon. On an idle machine this takes less
/// than a second, on a busy one many times as long.
fn ends_when_drained_after(delay: Duration, spec: &RunSpec) {
    let control = Control::new();
    let stopper = control.clone();
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(delay);
        stopper.drain();
        Instant::now()
    });
    let report = in_time(spec, &[healthy()], &control).unwrap();
    let took = stopping.join().unwrap().elapsed();
    assert!(!report.is_whole());
    assert!(took < Duration::from_secs(60), "{took:?}");
}

#[test]
fn a_drain_ends_a_run_soon() {
    for workers in [0, 1] {
        ends_when_drained_after(Duration::from_millis(400), &spec(21, workers));
    }
}

#[test]
fn a_pause_is_not_the_end() {
    let control = Control::new();
    let pausing = control.clone();
    let pauser = std::thread::spawn(move || {
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(50));
            pausing.pause();
            std::thread::sleep(Duration::from_millis(50));
            pausing.resume();
        }
    });
    let report = in_time(&spec(14, 1), &[healthy()], &control).unwrap();
    pauser.join().unwrap();
    assert!(report.is_whole());
    let total = report.tallies[&Engine::Chain].completions.solutions();
    assert_eq!(total, known(size(14)).unwrap().total);
}

#[test]
fn workers_and_a_slow_device_finish_together() {
    // Tasks of n = 17 take the device 30 to 50 ms. On a busy machine everything takes longer, so the
    // bound is wide.
    one_of_three_is_in_time(|| {
        let report = exact(17, 1, &[healthy()]);
        print!("{}", profile(&report));
        assert!(profile(&report).contains("gpu-0"));
        let most = report.elapsed.mul_f64(0.5).max(Duration::from_secs(2));
        (report.skew(), most)
    });
}

#[test]
fn the_audit_counts_tasks_of_devices_again() {
    let wrong = || {
        let mut wrong = healthy();
        // The first sum is wrong from the third launch on. No sampled job has that sum.
        wrong.open = Arc::new(|| {
            let mut device = Faulty::new(Arc::new(|_, _| None));
            device.alter = |completed| {
                completed.sums[0] += u64::from(completed.ticket.0 >= 2);
            };
            Ok(Box::new(device) as Box<dyn Device>)
        });
        wrong
    };
    for workers in [0, 1] {
        let mut audited = spec(15, workers);
        audited.audit = 1.0;
        // A worker with wide vectors would count the whole board before the third launch of the
        // device.
        audited.counter.isa = Isa::Portable;
        match in_time(&audited, &[wrong()], &Control::new()) {
            // A third count decides against the device. What it counted before is not counted again
            // without canaries.
            Ok(report) => {
                assert!(report.is_whole());
                assert!(workers == 1 || !report.faulty.is_empty());
                // Where the device starts late, the worker counts the board before its third launch.
                if let Some(faulty) = report.faulty.first() {
                    assert_eq!(faulty.worker, WorkerId::Device(0));
                    assert!(faulty.reason.contains("test device"));
                }
                let total = report.tallies[&Engine::Chain].completions.solutions();
                assert_eq!(total, known(size(15)).unwrap().total);
            }
            Err(error) => {
                let gpu = WorkerId::Device(0);
                assert!(
                    matches!(&error, RunError::Faulty { worker, .. } if *worker == gpu),
                    "{error}"
                );
                assert_eq!(workers, 0, "{error}");
            }
        }
        let report = in_time(&audited, &[healthy()], &Control::new()).unwrap();
        let total = report.tallies[&Engine::Chain].completions.solutions();
        assert_eq!(total, known(size(15)).unwrap().total);
    }
    // Without the audit the run does not notice. A command would compare the total with the known one.
    let unaudited = in_time(&spec(15, 0), &[wrong()], &Control::new()).unwrap();
    let total = unaudited.tallies[&Engine::Chain].completions.solutions();
    assert_ne!(total, known(size(15)).unwrap().total);
}

#[test]
fn opening_a_device_is_no_part_of_a_run_without_workers() {
    let slow = DeviceSpec {
        open: Arc::new(|| {
            std::thread::sleep(Duration::from_millis(700));
            Ok(Box::new(TestDevice::default()) as Box<dyn Device>)
        }),
        ..healthy()
    };
    let begin = Instant::now();
    let report = exact(8, 0, &[slow]);
    let opening = begin.elapsed() - report.elapsed;
    assert!(opening >= Duration::from_millis(700), "{opening:?}");
}
