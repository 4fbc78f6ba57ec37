//! How many lanes of a GPU are busy while a launch of the chain kernel is counted, simulated with real jobs.
//!
//! `cargo test --release --test it -- --ignored --nocapture devices::lanes::`

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::device::{Device, Emulated, EmulatedSettings, OwnerSettings};
use queenfold::engine::{Launch, Plan};

/// Threads that an H100 runs at a time: 132 multiprocessors, 24 warps each, as shared memory allows.
const LANES: usize = 132 * 24 * 32;

/// Tasks whose jobs are drawn, and jobs drawn of each.
const TASKS: u64 = 40;
const JOBS_OF_A_TASK: usize = 50;

/// Words of a job of the chain kernel, the last of which is its group.
const JOB_WORDS: usize = 4;

/// Nodes of jobs drawn from a board, and how many jobs the whole board has.
fn draw(n: u32) -> (Vec<u64>, f64) {
    let plan = ChainPlan::new(Size::new(n).unwrap());
    let launcher = plan.launcher().unwrap();
    let words = launcher.program().variant() as usize + 1;
    let mut random = fastrand::Rng::with_seed(n.into());
    let (mut jobs, mut tables, mut seen) = (Vec::new(), Vec::new(), 0_u64);
    for index in 0..TASKS {
        let task = plan.task(plan.tasks() * index / TASKS + random.u64(..plan.tasks() / TASKS));
        let batch = launcher.batch(&[task], 0).unwrap();
        let Some(launch) = batch.launch() else {
            continue;
        };
        let count = launch.job_count() as usize;
        seen += count as u64;
        for _ in 0..JOBS_OF_A_TASK {
            let [columns, up, down, group] = launch.jobs()[random.usize(..count) * JOB_WORDS..]
                [..JOB_WORDS]
                .try_into()
                .unwrap();
            // A group of its own, because a launch returns sums for each group.
            let own = (jobs.len() / JOB_WORDS) as u32;
            jobs.extend([columns, up, down, own]);
            tables.extend_from_slice(&launch.tables()[group as usize * words..][..words]);
        }
    }
    let drawn = Launch::new(launcher.program(), jobs, tables).unwrap();
    let mut device = Emulated::new(EmulatedSettings::default());
    device.submit(&drawn).unwrap();
    let completed = device.poll(Duration::from_secs(600)).unwrap().unwrap();
    let nodes = completed.sums.chunks(2).map(|sums| sums[1]).collect();
    (nodes, seen as f64 * plan.tasks() as f64 / TASKS as f64)
}

/// The share of the lanes' time in which they count, in a launch of `jobs` jobs like those drawn: each lane
/// takes the next job when it has finished one.
fn efficiency(drawn: &[u64], jobs: usize) -> f64 {
    let mut random = fastrand::Rng::with_seed(1);
    let mut free: BinaryHeap<_> = (0..LANES).map(|_| Reverse(0_u64)).collect();
    let (mut sum, mut end) = (0, 0);
    for _ in 0..jobs {
        let nodes = drawn[random.usize(..drawn.len())];
        let Some(mut earliest) = free.peek_mut() else {
            return 0.0;
        };
        earliest.0 += nodes;
        sum += nodes;
        end = end.max(earliest.0);
    }
    sum as f64 / (end as f64 * LANES as f64)
}

/// The bound of an H100 at 1.75 GHz: the 17 operations for a node that its pipe for integers does take 8.5 clocks
/// for a warp.
const NODES_PER_SECOND: f64 = 132.0 * 32.0 / 8.5 * 1.75e9;

#[test]
#[ignore = "takes a minute"]
fn lanes_are_busy_95_percent_of_a_launch() {
    let settings = OwnerSettings::default();
    for n in [20, 21, 22] {
        let (drawn, jobs) = draw(n);
        let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        let whole = mean * jobs / NODES_PER_SECOND;
        let of = |time: f64| {
            let jobs = time.min(whole) * NODES_PER_SECOND / mean;
            let jobs = (jobs as usize).min(settings.most_jobs as usize);
            (jobs, efficiency(&drawn, jobs))
        };
        for time in [0.4, 0.8, 1.6, 3.0] {
            let (jobs, busy) = of(time);
            println!("n = {n}, {time} s: {jobs} jobs of {mean:.3e} nodes, {busy:.3}");
        }
        let (_, busy) = of(settings.batch_time.as_secs_f64());
        assert!(busy >= 0.95, "n = {n}: {busy}");
    }
}
