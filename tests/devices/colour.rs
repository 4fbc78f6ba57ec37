//! The colour kernel on the emulated device: exact counts, task by task and job by job, alone and beside
//! CPU workers, and what it does when it fails.

use std::sync::Arc;

use super::emulated::{self, assert_failed, assert_wrong, drive, healthy, patient};
use super::runs::{exact_by, healthy as device};
use crate::common::faulty_device::{Fault, Trouble};
use crate::common::random_board::random_board;
use crate::common::run_spec::run_spec;
use queenfold::actors::RunSpec;
use queenfold::board::{GivenBoard, Size, known};
use queenfold::census::CensusPlan;
use queenfold::colour::{ColourBoard, ColourPlan, recount_job};
use queenfold::device::{Device, Emulated, EmulatedSettings, Owner};
use queenfold::engine::{CounterSettings, Launch, LaunchError, Launcher, NoLauncher, Plan, Task};
use queenfold::simd::Isa;

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn tasks(plan: &ColourPlan) -> Vec<Task> {
    (0..plan.tasks()).map(|index| plan.task(index)).collect()
}

fn launcher(plan: &ColourPlan) -> Arc<dyn Launcher> {
    plan.launcher().unwrap()
}

/// Counts a board on a device alone, and compares each task with the kernel of the CPU.
fn count(board: impl Into<GivenBoard>, per_launch: usize) -> u128 {
    let plan = ColourPlan::new(board);
    let tasks = tasks(&plan);
    let owner = Owner::new(emulated::device(2, healthy()), launcher(&plan), patient()).unwrap();
    let outcome = drive(owner, tasks.clone(), per_launch);
    assert_eq!(outcome.trouble, None);
    assert_eq!(outcome.tallies.len(), tasks.len());
    let mut counter = plan.counter(&CounterSettings { isa: Isa::best() });
    for task in tasks {
        let (found, expected) = (outcome.tallies[&task.key], counter.count(&task).unwrap());
        assert!(
            found.agrees_with(&expected),
            "{}: {} instead of {}",
            task.key,
            found.exact(),
            expected.exact()
        );
    }
    outcome.total()
}

#[test]
fn totals_of_5_to_17_queens_are_the_known_ones_and_every_task_is_that_of_the_cpu() {
    for n in 5..=17 {
        for per_launch in [1, 3] {
            let total = count(size(n), per_launch);
            assert_eq!(total, known(size(n)).unwrap().total, "n = {n}");
        }
    }
}

/// Symmetric boards keep weights above 1, others are counted on several images.
#[test]
fn boards_with_given_queens_and_holes_have_the_tallies_of_the_cpu() {
    let mut random = fastrand::Rng::with_seed(39);
    for n in [5, 6, 9, 12, 13, 14].map(size) {
        for round in 0..6 {
            count(random_board(n, &mut random, round % 2 == 0), 2);
        }
    }
}

/// Some jobs of a launch.
fn some_jobs(launch: &Launch, numbers: &[usize]) -> Result<Launch, LaunchError> {
    let (jobs, _) = launch.jobs().as_chunks::<4>();
    let jobs = numbers.iter().flat_map(|&number| jobs[number]).collect();
    Launch::new(launch.program(), jobs, launch.tables().to_vec())
}

/// A random job of a row set, counted by the device and in plain recursion. Returns its placements on black and on white.
fn sampled_job(plan: &ColourPlan, rank: u64, random: &mut fastrand::Rng) -> [u64; 2] {
    let n = plan.size();
    let task = Task {
        ranks: rank..rank + 1,
        ..plan.task(0)
    };
    let batch = launcher(plan).batch(&[task], 0).unwrap();
    let all = batch.launch().unwrap();
    let number = random.usize(..all.job_count() as usize);
    let launch = some_jobs(all, &[number]).unwrap();
    let mut device = Emulated::new(EmulatedSettings::default());
    device.submit(&launch).unwrap();
    let completed = device.poll(std::time::Duration::from_secs(600));
    let completed = completed.unwrap().unwrap();
    assert_eq!(completed.jobs_done, 1);
    let job = *launch.jobs().first_chunk().unwrap();
    let expected = recount_job(&ColourBoard::from(n), &launch, job);
    let at = job[0] as usize * expected.len();
    let found = &completed.sums[at..][..expected.len()];
    assert_eq!(found, expected, "n = {n}, rank {rank}, job {job:?}");
    [found[1], found[3]]
}

/// Samples of random row sets. Returns placements.
fn sample(n: u32, sets: usize, random: &mut fastrand::Rng) -> u64 {
    let plan = ColourPlan::new(size(n));
    let (mut placements, mut left) = (0, sets);
    while left > 0 {
        // In the middle are sets with about as many rows on each colour; boards of even size have only the first half.
        let part = plan.ranks() / 8;
        let middle = if n.is_multiple_of(2) {
            7 * part
        } else {
            4 * part
        };
        let rank = middle + random.u64(..part);
        let [black, white] = sampled_job(&plan, rank, random);
        placements += black + white;
        // In this orientation, the solutions of some units do not count.
        left -= usize::from(black > 0);
    }
    placements
}

/// Above eight rows left, lanes search the first ones.
#[test]
fn jobs_whose_black_has_9_and_10_rows_left_are_those_of_a_plain_recursion() {
    let mut random = fastrand::Rng::with_seed(39);
    for (n, even, rows_left) in [(24, 3, 9), (26, 4, 9), (28, 4, 10)] {
        let (plan, board) = (ColourPlan::new(size(n)), ColourBoard::from(size(n)));
        let before: u64 = (0..even).map(|even| board.sets_of(even)).sum();
        let mut placements = 0;
        // Most of these jobs have none.
        for _ in 0..100 {
            let rank = before + random.u64(..board.sets_of(even));
            let set = board.partition(rank).unwrap().set;
            assert_eq!(n / 2 - set.even.count_ones(), rows_left);
            placements += sampled_job(&plan, rank, &mut random)[0];
        }
        println!("n = {n}, {rows_left} rows left: {placements} placements");
        assert!(placements > 0, "n = {n}, {rows_left} rows left");
    }
}

#[test]
fn jobs_of_16_to_28_queens_are_those_of_a_plain_recursion() {
    let mut random = fastrand::Rng::with_seed(40);
    for (n, sets) in [
        (16, 40),
        (19, 20),
        (20, 20),
        (22, 10),
        (23, 6),
        (24, 6),
        (25, 4),
        (26, 4),
        (27, 2),
        (28, 2),
    ] {
        let placements = sample(n, sets, &mut random);
        println!("n = {n}: {placements} placements");
    }
}

#[test]
fn boards_that_the_counters_are_too_small_for_are_refused() {
    for n in [4, 29, 32] {
        let refused = ColourPlan::new(size(n)).launcher();
        assert!(matches!(refused, Err(NoLauncher::Board(boards)) if boards == (5..=28)));
    }
}

/// The colour plan of a board, with the census.
fn spec(n: u32, workers: usize) -> RunSpec {
    let plans: Vec<Arc<dyn Plan>> = vec![
        Arc::new(ColourPlan::new(size(n))),
        Arc::new(CensusPlan::new(size(n))),
    ];
    RunSpec {
        batch_time: std::time::Duration::from_millis(2),
        ..run_spec(plans, workers, Isa::Portable)
    }
}

#[test]
fn a_device_alone_and_beside_workers_counts_every_board_of_8_to_16_queens() {
    for n in 8..=16 {
        for (workers, devices) in [(0, 1), (1, 1), (2, 1), (1, 2)] {
            exact_by(&spec(n, workers), &vec![device(); devices]);
        }
    }
}

#[test]
fn the_audit_of_a_device_agrees() {
    for workers in [0, 1] {
        let audited = RunSpec {
            audit: 1.0,
            ..spec(14, workers)
        };
        exact_by(&audited, &[device()]);
    }
}

#[test]
fn a_wrong_sum_a_missing_job_and_a_lost_device_are_noticed() {
    let plan = ColourPlan::new(size(15));
    let outcome = |fault| {
        let strikes: Arc<Trouble> = Arc::new(move |at, _| (at == 2).then_some(fault));
        let device = emulated::device(1, strikes);
        let owner = Owner::new(device, launcher(&plan), patient()).unwrap();
        drive(owner, tasks(&plan), 1)
    };
    assert_wrong(&outcome(Fault::WrongSum), "sampled job");
    assert_failed(&outcome(Fault::JobMissing), "jobs of");
    assert_failed(&outcome(Fault::Lost), "a test asked for this");
}

#[test]
fn a_device_without_memory_counts_smaller_launches() {
    let plan = ColourPlan::new(size(14));
    let strikes: Arc<Trouble> = Arc::new(|at, _| (at == 1).then_some(Fault::OutOfMemory));
    let owner = Owner::new(emulated::device(1, strikes), launcher(&plan), patient()).unwrap();
    assert_eq!(drive(owner, tasks(&plan), 2).total(), 365_596);
}
