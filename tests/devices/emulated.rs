//! The kernels on the emulated device: exact counts, and what its owner does when it fails.
//!
//! The ignored test needs a quiet machine:
//! `cargo test --release --test it -- --ignored --nocapture devices::emulated::`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::faulty_device::{Fault, Faulty, Trouble};
use crate::common::random_board::random_board;
use queenfold::board::{GivenBoard, Size, known};
use queenfold::chain::ChainPlan;
use queenfold::device::{
    Device, DeviceTrouble, Emulated, EmulatedSettings, OpenError, Opener, Owner, OwnerEvent,
    OwnerSettings, ReturnReason, calibrate, measure,
};
use queenfold::engine::{DeviceProgram, Launch, Launcher, Plan, Tally, Task, TaskKey};
use queenfold::ladder;

fn plan(n: u32) -> ChainPlan {
    ChainPlan::new(Size::new(n).unwrap())
}

fn launcher(plan: &ChainPlan) -> Arc<dyn Launcher> {
    plan.launcher().unwrap()
}

fn tasks(plan: &ChainPlan) -> Vec<Task> {
    (0..plan.tasks()).map(|index| plan.task(index)).collect()
}

/// Tasks of a large board that take any device longer than it takes to cancel them.
fn first_tasks(plan: &ChainPlan) -> Vec<Task> {
    (0..64).map(|index| plan.task(index)).collect()
}

/// How many jobs the launch of these tasks has.
fn jobs(plan: &ChainPlan, tasks: &[Task]) -> u32 {
    let batch = launcher(plan).batch(tasks, 0).unwrap();
    batch.launch().unwrap().job_count()
}

/// The device program of the ladder whose entry point has this name.
fn program(entry: &str) -> DeviceProgram {
    let mut programs = ladder::PROGRAMS.into_iter();
    programs.find(|program| program.entry() == entry).unwrap()
}

/// Opens emulated devices on which `trouble` strikes. Submission 0 of the first is its self-test.
pub fn opener(threads: usize, trouble: Arc<Trouble>) -> Opener {
    Box::new(move || {
        let settings = EmulatedSettings {
            threads,
            ..EmulatedSettings::default()
        };
        Ok(Box::new(Faulty::new(settings, Arc::clone(&trouble))) as Box<dyn Device>)
    })
}

pub fn healthy() -> Arc<Trouble> {
    Arc::new(|_, _| None)
}

/// The outcome on one device: the tally of each task, the tasks left at the end, and the reasons for
/// which tasks were returned.
#[derive(Default)]
pub struct Outcome {
    pub tallies: BTreeMap<TaskKey, Tally>,
    pub left: Vec<Task>,
    pub reasons: Vec<String>,
    pub given_up: bool,
    pub mismatch: Option<String>,
}

impl Outcome {
    pub fn total(&self) -> u128 {
        let sum: Tally = self.tallies.values().copied().sum();
        sum.completions.solutions()
    }
}

/// Lets `owner` count `queue`, `per_launch` tasks at a time. Tasks that it returns go back to the queue.
pub fn drive(mut owner: Owner, mut queue: Vec<Task>, per_launch: usize) -> Outcome {
    let mut outcome = Outcome::default();
    loop {
        while owner.wants().is_some() && !queue.is_empty() {
            let rest = queue.split_off(per_launch.min(queue.len()));
            owner.offer(std::mem::replace(&mut queue, rest));
        }
        for event in owner.work(Duration::from_millis(20)) {
            match event {
                OwnerEvent::Launched(_) => {}
                OwnerEvent::Counted { tallies, .. } => {
                    for (task, tally) in tallies {
                        let before = outcome.tallies.insert(task.key, tally);
                        assert!(before.is_none(), "{} counted twice", task.key);
                    }
                }
                OwnerEvent::Returned { tasks, reason } => {
                    queue.extend(tasks);
                    assert!(
                        matches!(reason, ReturnReason::Failed(_)),
                        "nobody halted it"
                    );
                }
                OwnerEvent::Restarted(why) => outcome.reasons.push(why),
                OwnerEvent::GivenUp(why) => {
                    outcome.reasons.push(why);
                    outcome.given_up = true;
                }
                OwnerEvent::Mismatch(what) => {
                    outcome.mismatch = Some(what);
                    return outcome;
                }
            }
        }
        if outcome.given_up || (queue.is_empty() && owner.is_idle()) {
            outcome.left = queue;
            return outcome;
        }
    }
}

/// Settings for devices that answer, however long a busy machine makes them wait.
pub fn patient() -> OwnerSettings {
    OwnerSettings {
        least_patience: Duration::from_secs(600),
        ..OwnerSettings::default()
    }
}

/// Settings for devices that hang.
fn quick() -> OwnerSettings {
    OwnerSettings {
        least_patience: Duration::from_millis(300),
        ..OwnerSettings::default()
    }
}

/// An owner, with default settings but its patience, of a device on which `trouble` strikes.
fn owner(plan: &ChainPlan, trouble: Arc<Trouble>) -> Owner {
    let settings = patient();
    Owner::open(opener(1, trouble), launcher(plan), settings).unwrap()
}

/// The message of a device on which `fault` strikes every submission, when it is opened.
fn refused(fault: Fault) -> String {
    let opener = opener(1, Arc::new(move |_, _| Some(fault)));
    let owner = Owner::open(opener, launcher(&plan(12)), patient());
    owner.err().unwrap().into_words()
}

/// Counts a board on a device, and compares each task with the reference.
fn counted(board: impl Into<GivenBoard>) -> u128 {
    let plan = ChainPlan::new(board);
    let tasks = tasks(&plan);
    let mut oracle = plan.oracle();
    let owner = Owner::open(opener(2, healthy()), launcher(&plan), patient()).unwrap();
    let outcome = drive(owner, tasks.clone(), 1);
    assert_eq!(outcome.tallies.len(), tasks.len());
    for task in &tasks {
        let expected = oracle.count(task).unwrap();
        let found = outcome.tallies[&task.key];
        assert!(found.agrees_with(&expected), "{}", task.key);
    }
    outcome.total()
}

#[test]
fn totals_of_5_to_13_queens_are_the_known_ones_and_every_task_agrees_with_the_reference() {
    for n in (5..=13).map(|n| Size::new(n).unwrap()) {
        assert_eq!(counted(n), known(n).unwrap().total);
    }
}

/// Symmetric boards keep weights above 1, others are counted on several images.
#[test]
fn boards_with_given_queens_and_holes_have_the_tallies_of_the_reference() {
    let mut random = fastrand::Rng::with_seed(3);
    for n in [5, 8, 9, 12, 13].map(|n| Size::new(n).unwrap()) {
        for symmetric in [false, true] {
            counted(random_board(n, &mut random, symmetric));
        }
    }
}

#[test]
fn random_failures_lose_nothing_and_count_nothing_twice() {
    for (n, seed) in (5..=13).flat_map(|n| (0..4_u64).map(move |seed| (n, seed))) {
        let plan = plan(n);
        let tasks = tasks(&plan);
        let state = AtomicU64::new(seed);
        let struck = Arc::new(AtomicU64::new(0));
        let striking = Arc::clone(&struck);
        let trouble = Arc::new(move |number: u64, _: &Launch| {
            let random = state
                .fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed)
                .wrapping_mul(0xbf58_476d_1ce4_e5b9)
                >> 32;
            // The first submission is the self-test. The first launch always fails, so that every seed
            // has a failure.
            let first = striking.load(Ordering::Relaxed) == 0;
            let fault = match (number, random % if first { 3 } else { 6 }) {
                (1.., 0) => Some(Fault::Lost),
                (1.., 1) => Some(Fault::JobMissing),
                (1.., 2) => Some(Fault::Hangs),
                _ => None,
            };
            striking.fetch_add(fault.is_some().into(), Ordering::Relaxed);
            fault
        });
        let settings = OwnerSettings {
            restarts: 200,
            ..quick()
        };
        let owner = Owner::open(opener(1, trouble), launcher(&plan), settings).unwrap();
        let outcome = drive(owner, tasks, 1);
        assert_eq!(
            (outcome.total(), outcome.left.len()),
            (known(Size::new(n).unwrap()).unwrap().total, 0),
            "n = {n}, seed {seed}"
        );
        assert!(struck.load(Ordering::Relaxed) > 0, "n = {n}, seed {seed}");
    }
}

#[test]
fn a_device_that_keeps_failing_is_opened_twice_again_and_then_given_up() {
    for fault in [Fault::Lost, Fault::Hangs, Fault::JobMissing] {
        let opened = Arc::new(AtomicU64::new(0));
        let trouble: Arc<Trouble> =
            Arc::new(move |number, _: &Launch| (number > 0).then_some(fault));
        let mut open = opener(1, trouble);
        let counting = Arc::clone(&opened);
        let open: Opener = Box::new(move || {
            counting.fetch_add(1, Ordering::Relaxed);
            open()
        });
        let plan = plan(14);
        let all = tasks(&plan);
        let owner = Owner::open(open, launcher(&plan), quick()).unwrap();
        let outcome = drive(owner, all.clone(), 1);
        assert!(outcome.given_up, "{fault:?}: {:?}", outcome.reasons);
        assert_eq!(opened.load(Ordering::Relaxed), 3, "{fault:?}");
        assert_eq!(outcome.tallies.len() + outcome.left.len(), all.len());
    }
}

/// Opens a device and counts in `opened` how often. `fault` says what goes wrong with a launch, by whether the device
/// is the first one and by the number of the launch.
pub fn opened_again(
    opened: &Arc<AtomicU64>,
    fault: fn(bool, u64) -> Option<Fault>,
) -> impl Fn() -> Result<Box<dyn Device>, OpenError> + Send + Sync + 'static {
    let opened = Arc::clone(opened);
    move || {
        let is_first = opened.fetch_add(1, Ordering::Relaxed) == 0;
        let trouble = Arc::new(move |number, _: &Launch| fault(is_first, number));
        Ok(Box::new(Faulty::new(EmulatedSettings::default(), trouble)))
    }
}

#[test]
fn a_device_that_is_opened_again_is_tested_again() {
    let opened = Arc::new(AtomicU64::new(0));
    let open = Box::new(opened_again(&opened, |is_first, number| match is_first {
        // The first device is lost; the later ones count wrongly from the start.
        true => (number > 0).then_some(Fault::Lost),
        false => Some(Fault::WrongSum),
    }));
    let plan = plan(11);
    let all = tasks(&plan);
    let owner = Owner::open(open, launcher(&plan), patient()).unwrap();
    let outcome = drive(owner, all, 1);
    assert!(outcome.mismatch.is_some() && !outcome.given_up);
    assert!(outcome.tallies.is_empty());
    assert_eq!(
        opened.load(Ordering::Relaxed),
        2,
        "once more, and not again"
    );
}

#[test]
fn a_device_that_does_not_open_again_is_given_up() {
    let mut first = true;
    let mut open = opener(1, Arc::new(|number, _| (number > 0).then_some(Fault::Lost)));
    let open: Opener = Box::new(move || {
        if std::mem::take(&mut first) {
            open()
        } else {
            Err(OpenError("gone".to_owned()))
        }
    });
    let plan = plan(11);
    let all = tasks(&plan);
    let owner = Owner::open(open, launcher(&plan), patient()).unwrap();
    let outcome = drive(owner, all.clone(), 1);
    assert!(outcome.given_up && outcome.reasons[0].contains("gone"));
    assert_eq!(outcome.left, all);
}

#[test]
fn without_memory_batches_are_halved_until_they_fit() {
    let plan = plan(14);
    let tasks = tasks(&plan);
    let limit = jobs(&plan, &tasks) / 3;
    let trouble = Arc::new(move |_, launch: &Launch| {
        (launch.job_count() > limit).then_some(Fault::OutOfMemory)
    });
    let owner = owner(&plan, trouble);
    let outcome = drive(owner, tasks, usize::MAX);
    assert_eq!(outcome.total(), 365_596);
    assert!(!outcome.given_up);
}

#[test]
fn without_memory_even_for_the_least_batch_the_device_is_given_up() {
    let plan = plan(13);
    let all = tasks(&plan);
    let trouble = Arc::new(|number, _: &Launch| (number > 0).then_some(Fault::OutOfMemory));
    let owner = owner(&plan, trouble);
    let outcome = drive(owner, all.clone(), usize::MAX);
    assert!(outcome.given_up && outcome.reasons[0].contains("memory"));
    assert_eq!(outcome.left.len(), all.len());
}

#[test]
fn a_device_without_a_kernel_is_not_used() {
    let error = refused(Fault::NoKernel);
    assert!(error.contains("no kernel"), "{error}");
}

#[test]
fn a_device_that_miscounts_a_small_board_is_refused() {
    for fault in [Fault::WrongSum, Fault::JobMissing] {
        let error = refused(fault);
        assert!(error.contains("emulated: "), "{error}");
    }
}

#[test]
fn a_sampled_job_with_another_count_fails_the_run() {
    let plan = plan(13);
    let all = tasks(&plan);
    let trouble = Arc::new(|number, _: &Launch| (number == 2).then_some(Fault::WrongSum));
    let owner = owner(&plan, trouble);
    let outcome = drive(owner, all, 1);
    assert!(outcome.mismatch.unwrap().contains("sampled job"));
}

#[test]
fn a_halt_returns_what_is_not_counted_and_the_device_goes_on_afterwards() {
    let plan = plan(19);
    let all = first_tasks(&plan);
    let mut owner = owner(&plan, healthy());
    let (first, second) = all.split_at(all.len() / 2);
    owner.offer(first.to_vec());
    let launched = OwnerEvent::Launched(first.len());
    assert_eq!(owner.work(Duration::from_millis(1)), [launched]);
    owner.offer(second.to_vec());
    let mut back = owner.halt();
    assert_eq!(back, second);
    while !owner.is_idle() {
        for event in owner.work(Duration::from_millis(100)) {
            match event {
                OwnerEvent::Returned { tasks, reason } => {
                    assert_eq!(reason, ReturnReason::Halted);
                    back.extend(tasks);
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(back.len(), all.len());
    owner.offer(first[..1].to_vec());
    let counted = loop {
        let mut events = owner.work(Duration::from_millis(100));
        events.retain(|event| !matches!(event, OwnerEvent::Launched(_)));
        if !events.is_empty() {
            break events;
        }
    };
    assert!(
        matches!(counted[..], [OwnerEvent::Counted { .. }]),
        "{counted:?}"
    );
}

#[test]
fn a_board_is_measured_on_the_device_alone() {
    let plan = plan(12);
    let measured = measure(owner(&plan, healthy()), &plan).unwrap();
    assert_eq!(measured.tally.completions.solutions(), 14_200);
    assert!(measured.launches > 0 && measured.kernel <= measured.window);
    assert!(measured.busy() <= 1.0);
}

/// A device whose clock shows exactly 10⁸ nodes a second, independent of the speed of the machine.
fn paced() -> Faulty {
    let mut device = Faulty::new(EmulatedSettings::default(), healthy());
    device.alter = |completed| {
        // The sums alternate between solutions and nodes.
        let nodes: u64 = completed.sums.iter().skip(1).step_by(2).sum();
        let kernel = &mut completed.spans.kernel;
        kernel.end = kernel.start + Duration::from_secs_f64(nodes as f64 / 1e8);
    };
    device
}

#[test]
fn a_calibration_tells_the_speed_of_the_device() {
    // On the smaller board no launch is long enough; on the larger board the third one is.
    for n in [10, 15] {
        let speed = calibrate(&mut paced(), &plan(n)).unwrap();
        // The result is a little higher, because the host counts the few nodes above the jobs.
        assert!((1e8..1.2e8).contains(&speed), "n = {n}: {speed}");
    }
    let failing = |fault| {
        let trouble = Arc::new(move |_, _: &Launch| Some(fault));
        let mut device = Faulty::new(EmulatedSettings::default(), trouble);
        calibrate(&mut device, &plan(12)).unwrap_err()
    };
    assert!(failing(Fault::WrongSum).contains("sampled job"));
    assert!(failing(Fault::JobMissing).contains("jobs of"));
    assert!(failing(Fault::Lost).contains("the device failed"));
}

#[test]
#[ignore = "needs an idle core; see the head of this file"]
fn jobs_are_made_faster_than_the_fastest_device_should_count_them() {
    for (n, target) in [(20, 1.0), (21, 7.0), (22, 60.0)] {
        let plan = plan(n);
        let all = plan.tasks();
        let sample: Vec<Task> = (0..all)
            .step_by((all / 64) as usize)
            .map(|index| plan.task(index))
            .collect();
        let begin = cpu_time::ThreadTime::now();
        let jobs = jobs(&plan, &sample);
        let scale = all as f64 / sample.len() as f64;
        let seconds = begin.elapsed().as_secs_f64() * scale;
        println!(
            "n = {n}: {:.3e} jobs made in {seconds:.2} s of one core; counted in {target} s",
            f64::from(jobs) * scale
        );
        assert!(seconds < 0.8 * target);
    }
}

/// A run that is stopped must not wait as long for a device as one that goes on.
#[test]
fn a_launch_that_does_not_end_when_it_is_asked_to_comes_back_soon() {
    let plan = plan(12);
    let all = tasks(&plan);
    let hangs: Arc<Trouble> = Arc::new(|number, _| (number == 1).then_some(Fault::Hangs));
    let mut owner = Owner::open(opener(1, hangs), launcher(&plan), patient()).unwrap();
    owner.offer(all.clone());
    let launched = OwnerEvent::Launched(all.len());
    assert_eq!(owner.work(Duration::from_millis(1)), [launched]);
    let begin = Instant::now();
    let mut back = Vec::new();
    while back.is_empty() {
        assert!(owner.halt().is_empty());
        for event in owner.work(Duration::from_millis(20)) {
            match event {
                OwnerEvent::Returned { tasks, reason } => {
                    assert!(matches!(reason, ReturnReason::Failed(_)), "{reason:?}");
                    back = tasks;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(60));
    }
    assert_eq!(back, all);
    assert!(!owner.is_idle(), "it has to open its device again");
    let events = owner.work(Duration::ZERO);
    assert!(
        matches!(events[..], [OwnerEvent::Restarted(_)]),
        "{events:?}"
    );
    assert!(owner.is_idle() && owner.wants().is_some());
}

/// A device that is lost in its canary says nothing of its counts: it is opened again, and its canary is still due.
#[test]
fn a_device_that_is_lost_in_its_canary_is_opened_again() {
    let opened = Arc::new(AtomicU64::new(0));
    let open = Box::new(opened_again(&opened, |is_first, number| {
        (is_first && number > 0).then_some(Fault::Lost)
    }));
    let mut owner = Owner::open(open, launcher(&plan(11)), patient()).unwrap();
    let trouble = owner.count_canary().map(drop).unwrap_err();
    assert!(matches!(trouble, DeviceTrouble::Failed(_)), "{trouble:?}");
    assert!(!owner.is_idle(), "it has to open its device again");
    let events = owner.work(Duration::ZERO);
    assert!(
        matches!(events[..], [OwnerEvent::Restarted(_)]),
        "{events:?}"
    );
    assert!(owner.count_canary().unwrap().compare().unwrap() > 0);
    assert_eq!(opened.load(Ordering::Relaxed), 2);
}

/// The sums of a device without faults for these nodes, one job each.
fn launch(entry: &str, nodes: &[&[u32]], table: &[u32]) -> Vec<u64> {
    let mut device = Emulated::new(EmulatedSettings {
        threads: 2,
        ..EmulatedSettings::default()
    });
    let launch = Launch::new(program(entry), nodes.concat(), table.to_vec()).unwrap();
    assert_eq!(launch.job_count() as usize, nodes.len());
    device.submit(&launch).unwrap();
    let completed = device.poll(Duration::from_secs(60)).unwrap().unwrap();
    assert_eq!(completed.jobs_done, launch.job_count());
    completed.sums
}

#[test]
fn the_node_layer_kernel_counts_all_solutions_below_each_node() {
    for n in 1..=12 {
        let total = known(Size::new(n).unwrap()).unwrap().total;
        let empty = [0, 0, 0];
        let sums = launch("node_layer", &[&empty, &empty], &[n]);
        assert_eq!(u128::from(sums[1]), 2 * total, "n = {n}");
    }
    // All rows are filled, on the largest board too.
    for n in [1, 4, 31, 32] {
        let columns = u32::MAX >> (32 - n);
        let node = [5, columns, 9];
        let sums = launch("node_layer", &[&node, &node, &node], &[n]);
        assert_eq!(sums, [0, 3], "n = {n}");
    }
    // Eight queens have 2056 nodes; a row without a free square has none.
    let sums = launch("node_layer", &[&[0, 0, 0], &[0xff, 0, 0]], &[8]);
    assert_eq!(sums, [2056, 92]);
}

#[test]
fn the_bit_board_kernel_tells_the_classes_of_solutions() {
    // The nodes end at the first free row: the first queen is in column 1, or in the corner with the
    // second queen in column 2 or 3.
    let side = launch("bit_board", &[&[4, 2, 1, 2]], &[5, 1, 0, 1]);
    assert_eq!(side[1..], [1, 0, 0]);
    let of_six = launch("bit_board", &[&[4, 2, 1, 2]], &[6, 1, 0, 1]);
    assert_eq!(of_six[1..], [0, 1, 0]);
    let corner = |second: u32| {
        let (queen, shifted) = (1 << second, 1 << 1);
        let node = [(shifted | queen) << 1, 1 | queen, queen >> 1, 1, queen];
        launch("bit_board", &[&node], &[5, 2, 1, second])
    };
    assert_eq!(corner(2)[1..], [0, 0, 1]);
    assert_eq!(corner(3)[1..], [0, 0, 0]);
}

#[test]
fn a_cancelled_launch_of_long_jobs_ends_and_says_that_they_are_missing() {
    for (entry, node, table) in [
        ("node_layer", vec![0, 0, 0], vec![32]),
        ("bit_board", vec![4, 2, 1, 2], vec![32, 1, 0, 1]),
    ] {
        let mut device = Emulated::new(EmulatedSettings::default());
        let launch = Launch::new(program(entry), node.repeat(3), table).unwrap();
        device.submit(&launch).unwrap();
        assert_eq!(device.poll(Duration::from_millis(50)).unwrap(), None);
        device.cancel();
        let completed = device.poll(Duration::from_secs(120)).unwrap().unwrap();
        assert_eq!(completed.jobs_done, 0, "{entry}");
    }
}
