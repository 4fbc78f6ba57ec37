//! The join on the emulated device: exact counts, runs on devices that fail, and on one that is too slow.
//!
//! The ignored test: `cargo test --release --test devices -- --ignored --nocapture pairs::`

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

use crate::run_spec::run_spec;
use crate::runs::{device, healthy, size};
use queenfold::actors::{Control, DeviceSpec, Report, RunError, RunSpec, run_on};
use queenfold::board::known;
use queenfold::census::CensusPlan;
use queenfold::device::{Device, Emulated, EmulatedSettings, Fault};
use queenfold::engine::{
    Completed, CounterSettings, Engine, Launch, Launcher, Plan, Task, WorkerId,
};
use queenfold::join::{JoinPlan, launcher_of_small_blocks};
use queenfold::simd::Isa;

fn submit(device: &mut Emulated, launch: &Launch) -> Completed {
    device.submit(launch).unwrap();
    let completed = device.poll(Duration::from_secs(600)).unwrap().unwrap();
    assert_eq!(completed.jobs_done, launch.job_count());
    completed
}

/// The ranks, each a task of its own, have the tallies of the counter, counted in blocks of `threads` threads.
fn ranks_agree(
    plan: &JoinPlan,
    launcher: &dyn Launcher,
    ranks: impl Iterator<Item = u64>,
    threads: usize,
) {
    let tasks: Vec<Task> = ranks
        .map(|rank| Task {
            ranks: rank..rank + 1,
            ..plan.task(0)
        })
        .collect();
    let batch = launcher.batch(&tasks, 5).unwrap();
    let mut device = Emulated::new(EmulatedSettings {
        threads,
        ..EmulatedSettings::default()
    });
    let completed = batch.launch().map(|launch| submit(&mut device, launch));
    let tallies = batch.tallies(completed.as_ref()).unwrap();
    let mut counter = plan.counter(&CounterSettings {
        isa: Isa::best(),
        memory: 1 << 30,
    });
    for (task, tally) in tasks.iter().zip(tallies) {
        let expected = counter.count(task).unwrap();
        let (n, rank) = (plan.size(), task.ranks.start);
        assert_eq!(tally, expected, "n = {n}, rank {rank}, {threads} threads");
    }
}

#[test]
fn every_set_of_8_to_14_queens_is_counted_on_every_path_of_the_kernel() {
    for n in 8..=14 {
        let plan = JoinPlan::new(size(n));
        for (keys, threads) in [(96, 1), (96, 3), (1024, 2)] {
            let launcher = launcher_of_small_blocks(size(n), keys);
            ranks_agree(&plan, launcher.as_ref(), 0..plan.ranks(), threads);
        }
    }
}

#[test]
fn sets_of_larger_boards_are_counted_with_tables() {
    let some = |plan: &JoinPlan, sets: u64| -> Vec<Range<u64>> {
        let apart = plan.ranks() / sets;
        (0..sets)
            .map(|set| set * apart + 1..set * apart + 3)
            .collect()
    };
    for (n, keys, sets, threads) in [
        (16, 1024, 30, 4),
        (17, 96, 30, 2),
        (18, 96, 10, 2),
        (18, 11_776, 20, 1),
        (19, 1024, 20, 4),
        (20, 11_776, 3, 3),
        (21, 8_192, 2, 2),
        (22, 16_384, 1, 2),
    ] {
        let plan = JoinPlan::new(size(n));
        let launcher = launcher_of_small_blocks(size(n), keys);
        let ranks = some(&plan, sets).into_iter().flatten();
        ranks_agree(&plan, launcher.as_ref(), ranks, threads);
    }
}

fn spec(n: u32, workers: usize) -> RunSpec {
    let plans: Vec<Arc<dyn Plan>> = vec![
        Arc::new(JoinPlan::new(size(n))),
        Arc::new(CensusPlan::new(size(n))),
    ];
    run_spec(plans, workers, Isa::best())
}

/// Runs board `n` and compares the result with the known counts.
fn exact(n: u32, workers: usize, devices: &[DeviceSpec]) -> Report {
    let report = run_on(&spec(n, workers), devices, &Control::new()).unwrap();
    assert!(report.is_whole(), "n = {n}, {workers} workers");
    let total = report.tallies[&Engine::Join].completions.solutions();
    let known = known(size(n)).unwrap();
    assert_eq!(total, known.total, "n = {n}, {workers} workers");
    report
}

#[test]
fn totals_of_8_to_17_queens_on_a_device_alone_and_beside_workers() {
    for n in 8..=17 {
        let report = exact(n, 0, &[healthy()]);
        assert_eq!(report.workers[0].tasks, report.tasks_done, "n = {n}");
        for (workers, devices) in [(1, 1), (2, 2)] {
            exact(n, workers, &vec![healthy(); devices]);
        }
    }
}

#[test]
fn a_device_that_fails_in_any_way_costs_nothing_but_time() {
    for fault in [
        Fault::OutOfMemory,
        Fault::Lost,
        Fault::Hangs,
        Fault::JobMissing,
        Fault::WrongSum,
    ] {
        // The launch of this number fails, once; number 0 is the self-test. A device that is opened again starts
        // at 0.
        let once = |at: u64, struck: &Arc<AtomicBool>| {
            let struck = Arc::clone(struck);
            let trouble = move |number, _: &Launch| {
                (number == at && !struck.swap(true, Ordering::SeqCst)).then_some(fault)
            };
            let mut device = device(Arc::new(trouble));
            // Other launches take long on a busy machine.
            if fault == Fault::Hangs {
                device.settings.least_patience = Duration::from_millis(500);
            }
            device
        };
        // The worker may have counted everything before the device is open.
        let struck = Arc::default();
        let report = (0..20)
            .map(|_| exact(16, 1, &[once(1, &struck)]))
            .find(|_| struck.load(Ordering::SeqCst))
            .expect("the device was never fed");
        if fault == Fault::WrongSum {
            assert_eq!(report.taken_out[0].worker, WorkerId::Device(0));
        }
        match run_on(&spec(16, 0), &[once(2, &Arc::default())], &Control::new()) {
            Ok(report) => {
                assert!(matches!(
                    fault,
                    Fault::OutOfMemory | Fault::Lost | Fault::Hangs | Fault::JobMissing
                ));
                let total = report.tallies[&Engine::Join].completions.solutions();
                assert_eq!(total, known(size(16)).unwrap().total);
            }
            Err(RunError::Sick { worker, reason }) => {
                assert_eq!((fault, worker), (Fault::WrongSum, WorkerId::Device(0)));
                assert!(reason.contains("a sample of"), "{reason}");
            }
            Err(error) => panic!("{fault:?}: {error}"),
        }
    }
}

/// A device that is fed only if it is fast enough, and how often it was opened.
fn judged() -> (DeviceSpec, Arc<AtomicU64>) {
    let opened = Arc::new(AtomicU64::new(0));
    let mut device = healthy();
    device.settings.fed_at_any_speed = false;
    let (open, count) = (device.open, Arc::clone(&opened));
    device.open = Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
        open()
    });
    (device, opened)
}

#[test]
fn a_device_is_not_opened_for_a_run_that_is_over_before() {
    let (device, opened) = judged();
    let report = exact(16, 1, &[device]);
    assert_eq!(opened.load(Ordering::Relaxed), 0);
    assert_eq!(report.workers[1].tasks, 0);
}

#[test]
fn a_device_that_is_slower_than_a_worker_gives_its_parts_back() {
    let (device, opened) = judged();
    // Five seconds: the device is tried at the beginning.
    let report = exact(19, 1, &[device]);
    assert_eq!(opened.load(Ordering::Relaxed), 1);
    let [worker, device] = [0, 1].map(|at| report.workers[at].tasks);
    assert!(20 * device < worker, "{device} tasks, {worker} on the CPU");
}

#[test]
#[ignore = "two minutes; see the head of this file"]
fn a_device_that_is_slower_than_a_worker_costs_less_than_5_percent() {
    let time = |devices: &[DeviceSpec]| {
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        exact(19, 1, devices);
        [wall.elapsed(), cpu.elapsed()].map(|time| time.as_secs_f64())
    };
    let (device, opened) = judged();
    let mut ratios = [vec![], vec![]];
    for pair in 0..11 {
        // Each is first in half of the pairs.
        let devices = [&[][..], std::slice::from_ref(&device)];
        let mut times = [[0.0; 2]; 2];
        for with in [pair % 2, 1 - pair % 2] {
            times[with] = time(devices[with]);
        }
        for (clock, ratios) in ratios.iter_mut().enumerate() {
            ratios.push(times[1][clock] / times[0][clock]);
        }
    }
    assert!(opened.load(Ordering::Relaxed) > 0, "no run was long enough");
    let [wall, cpu] = ratios.map(|mut ratios| {
        ratios.sort_by(f64::total_cmp);
        println!("with the device, of the time without it: {ratios:.3?}");
        ratios[5]
    });
    // The device is a thread of this process: its time counts, too.
    assert!(cpu < 1.05, "CPU time {cpu:.3}, wall time {wall:.3}");
}
