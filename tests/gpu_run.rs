//! Runs on CPU workers and devices together, the devices emulated.
#![cfg(feature = "emulated-gpu")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use queenfold::actors::{Control, DeviceSpec, Report, RunError, RunSpec, run_on};
use queenfold::board::{Size, known};
use queenfold::census::CensusPlan;
use queenfold::chain::ChainPlan;
use queenfold::engine::{CounterSettings, Engine};
use queenfold::gpu::{
    Device, Emulated, EmulatedSettings, Fault, Launch, OpenError, OwnerSettings, Trouble,
};
use queenfold::simd::Isa;

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn spec(n: u32, workers: usize) -> RunSpec {
    RunSpec {
        plans: vec![
            Arc::new(ChainPlan::new(size(n))),
            Arc::new(CensusPlan::new(size(n))),
        ],
        workers,
        counter: CounterSettings {
            isa: Isa::best(),
            memory: 64 << 20,
        },
        queue_per_worker: 2,
        batch_time: Duration::from_millis(2),
        time_limit: None,
        audit: 0.0,
        recorder: None,
    }
}

fn settings() -> OwnerSettings {
    OwnerSettings {
        batch_time: Duration::from_millis(50),
        first_cost: 0.01,
        least_patience: Duration::from_secs(5),
        ..OwnerSettings::default()
    }
}

fn device(trouble: Arc<Trouble>) -> DeviceSpec {
    DeviceSpec {
        open: Arc::new(move || {
            Ok(Box::new(Emulated::new(EmulatedSettings {
                fault: Arc::clone(&trouble),
                ..EmulatedSettings::default()
            })) as Box<dyn Device>)
        }),
        settings: settings(),
    }
}

fn healthy() -> DeviceSpec {
    device(Arc::new(|_, _| None))
}

/// Runs board `n`, and holds the result to what is known.
fn exact(n: u32, workers: usize, devices: &[DeviceSpec]) -> Report {
    let report = run_on(&spec(n, workers), devices, &Control::new()).unwrap();
    assert!(report.finished, "n = {n}, {workers} workers");
    let known = known(size(n)).unwrap();
    let total = report.tallies[&Engine::Chain].completions.solutions();
    assert_eq!(total, known.total, "n = {n}, {workers} workers");
    assert_eq!(report.tallies[&Engine::Census].r180, known.r180, "n = {n}");
    assert_eq!(report.workers.len(), workers + devices.len());
    report
}

#[test]
fn a_device_alone_counts_every_board_of_5_to_13_queens() {
    for n in 5..=13 {
        let report = exact(n, 0, &[healthy()]);
        assert_eq!(report.workers[0].tasks, report.tasks_done, "n = {n}");
        assert_eq!(report.workers[0].backend, "emulated");
    }
}

#[test]
fn workers_and_devices_share_every_board_of_5_to_14_queens() {
    for n in 5..=14 {
        for (workers, devices) in [(1, 1), (2, 1), (1, 2)] {
            let devices = vec![healthy(); devices];
            let report = exact(n, workers, &devices);
            let tasks: u64 = report.workers.iter().map(|worker| worker.tasks).sum();
            assert_eq!(tasks, report.tasks_done, "n = {n}");
        }
    }
}

#[test]
fn a_long_run_keeps_worker_and_device_busy() {
    let report = exact(17, 1, &[healthy()]);
    for worker in &report.workers {
        assert!(worker.tasks > 0, "{} had nothing to do", worker.name);
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
    let error = run_on(&spec(15, 0), std::slice::from_ref(&dying), &Control::new()).unwrap_err();
    assert!(error.to_string().contains("no device is left"), "{error}");
}

#[test]
fn a_device_that_counts_wrongly_fails_the_run() {
    let wrong = device(Arc::new(|number, _| {
        (number == 1).then_some(Fault::WrongSum)
    }));
    let error = run_on(&spec(14, 0), std::slice::from_ref(&wrong), &Control::new()).unwrap_err();
    assert!(matches!(error, RunError::Mismatch { .. }), "{error}");
}

#[test]
fn a_drain_ends_within_a_second() {
    for workers in [0, 1] {
        let control = Control::new();
        let stopper = control.clone();
        let stopping = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(400));
            stopper.drain();
            Instant::now()
        });
        let report = run_on(&spec(18, workers), &[healthy()], &control).unwrap();
        let ended = Instant::now();
        assert!(!report.finished);
        let took = ended - stopping.join().unwrap();
        assert!(
            took < Duration::from_secs(1),
            "{took:?} with {workers} workers"
        );
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
    let report = run_on(&spec(14, 1), &[healthy()], &control).unwrap();
    pauser.join().unwrap();
    assert!(report.finished);
    let total = report.tallies[&Engine::Chain].completions.solutions();
    assert_eq!(total, known(size(14)).unwrap().total);
}
