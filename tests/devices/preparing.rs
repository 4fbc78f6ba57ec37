//! What a CPU worker does for a device that counts the pairs of the join.
//!
//! `cargo test --release --test devices -- --ignored --nocapture preparing::`

use std::time::Duration;

use cpu_time::ThreadTime;

use crate::runs::size;
use queenfold::engine::{CounterSettings, LaunchBatch, PartTaker, Plan, Task, TaskWatch};
use queenfold::join::JoinPlan;
use queenfold::simd::Isa;

/// Takes everything, and notes of each launch its jobs, and its bytes: those that go up, and all that it takes.
#[derive(Default)]
struct Noting {
    launches: u64,
    jobs: u64,
    up: u64,
    bytes: u64,
    work: f64,
}

impl PartTaker for Noting {
    fn has_room(&self, _: u64) -> bool {
        true
    }

    fn take(&mut self, part: Box<dyn LaunchBatch>, work: f64) {
        let launch = part.launch().expect("there are pairs to count");
        self.launches += 1;
        self.jobs += u64::from(launch.job_count());
        self.up += launch.bytes_up();
        self.bytes += launch.bytes();
        self.work += work;
    }

    fn keep(&mut self, work: f64) {
        assert_eq!(work, 0.0, "it has room for everything");
    }
}

/// In this test, and not in one of the library: there the compiler makes other code of the kernels, because tests call
/// them in other places, and the count takes up to 13 times as long.
#[test]
#[ignore = "measures: see the head of this file"]
fn what_it_takes_to_feed_a_device() {
    let fast = [Isa::Avx512, Isa::Avx2, Isa::Neon].into_iter();
    for isa in fast.filter(|isa| isa.is_available()) {
        for (n, sets) in [
            (18, 200),
            (19, 100),
            (20, 60),
            (21, 60),
            (22, 24),
            (23, 24),
            (24, 8),
            (25, 8),
            (26, 2),
        ] {
            measure(isa, n, sets);
        }
    }
}

/// Counts and prepares so many neighbouring sets at three places of the plan.
fn measure(isa: Isa, n: u32, sets: u64) {
    let plan = JoinPlan::new(size(n));
    let launcher = plan.launcher().unwrap();
    let settings = CounterSettings {
        isa,
        memory: 1 << 30,
    };
    let mut preparer = launcher.preparer(&settings).unwrap();
    let mut counter = plan.counter(&settings);
    let mut noting = Noting::default();
    let (mut counting, mut preparing) = (Duration::ZERO, Duration::ZERO);
    // Neighbouring sets share boards of quadrants, as in a run.
    let tasks = [plan.ranks() / 3, plan.ranks() / 2 + 1, plan.ranks() / 5 * 3].map(|start| Task {
        ranks: start..start + sets,
        ..plan.task(0)
    });
    // Memory that launches use again is there then, as it is in a run.
    for task in &tasks {
        let watch = TaskWatch::default();
        preparer
            .prepare(task, &watch, &mut Noting::default())
            .unwrap();
    }
    for task in tasks {
        let begin = ThreadTime::now();
        counter.count(&task).unwrap();
        counting += begin.elapsed();
        let begin = ThreadTime::now();
        let watch = TaskWatch::default();
        preparer.prepare(&task, &watch, &mut noting).unwrap();
        preparing += begin.elapsed();
    }
    let Noting {
        launches,
        jobs,
        up,
        bytes,
        work,
    } = noting;
    println!(
        "n = {n}, {}: counted in {counting:.2?}, prepared in {preparing:.2?} ({:.2}); {launches} launches, \
         {jobs} jobs, {:.1} MB up ({:.1} GB a second of preparing), {:.1} MB of memory, work {work:.2e} \
         ({:.2e} a second)",
        counter.backend(),
        preparing.as_secs_f64() / counting.as_secs_f64(),
        up as f64 / 1e6,
        up as f64 / 1e9 / preparing.as_secs_f64(),
        bytes as f64 / 1e6,
        work / (counting - preparing.min(counting)).as_secs_f64(),
    );
}
