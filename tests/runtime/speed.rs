//! What the runtime costs. The start of the actors and threads takes 0.1 ms of CPU time, and 0.05 ms
//! more for each worker; a batch takes about 15 µs.
//!
//! The ignored tests need a quiet machine:
//! `cargo test --release --test alone -- --ignored --nocapture --test-threads 1 runtime::`

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::alone::run_alone;
use crate::common::run_spec::run_spec;
use cpu_time::ThreadTime;
use queenfold::actors::{Control, Report};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::colour::ColourPlan;
use queenfold::engine::{
    Counter, CounterSettings, Engine, NotCounted, Plan, Tally, Task, TaskWatch,
};
use queenfold::simd::Isa;
use queenfold::telemetry::profile;

fn count(plan: Arc<dyn Plan>, isa: Isa, workers: usize) -> Report {
    let spec = run_spec(vec![plan], workers, isa);
    let report = run_alone(&spec, &Control::new()).unwrap();
    assert!(report.is_whole());
    report
}

fn chain(n: u32) -> ChainPlan {
    ChainPlan::new(Size::new(n).unwrap())
}

/// A plan whose counters add up the CPU time they use, in nanoseconds.
struct Timed {
    plan: ChainPlan,
    nanos: Arc<AtomicU64>,
}

impl Plan for Timed {
    fn engine(&self) -> Engine {
        self.plan.engine()
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
        let start = ThreadTime::now();
        let counter = self.plan.counter(settings);
        let nanos = start.elapsed().as_nanos() as u64;
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        Box::new(TimedCounter {
            counter,
            nanos: Arc::clone(&self.nanos),
        })
    }

    fn oracle(&self) -> Box<dyn Counter> {
        self.plan.oracle()
    }
}

struct TimedCounter {
    counter: Box<dyn Counter>,
    nanos: Arc<AtomicU64>,
}

impl Counter for TimedCounter {
    fn backend(&self) -> &'static str {
        self.counter.backend()
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let start = ThreadTime::now();
        let tally = self.counter.count_watched(task, watch);
        let nanos = start.elapsed().as_nanos() as u64;
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
        tally
    }
}

#[test]
#[ignore = "needs a quiet machine; see the head of this file"]
fn cpu_time_outside_the_kernel_is_under_1_percent() {
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        // AVX-512 counts n = 16 in 36 ms; the start alone takes half a per cent of that.
        let n = if isa == Isa::Avx512 { 17 } else { 16 };
        for workers in [1, 2] {
            let mut shares: Vec<f64> = (0..5)
                .map(|_| {
                    let nanos = Arc::new(AtomicU64::new(0));
                    let plan = Timed {
                        plan: chain(n),
                        nanos: Arc::clone(&nanos),
                    };
                    let report = count(Arc::new(plan), isa, workers);
                    let kernel = Duration::from_nanos(nanos.load(Ordering::Relaxed));
                    1.0 - kernel.as_secs_f64() / report.cpu.as_secs_f64()
                })
                .collect();
            shares.sort_by(f64::total_cmp);
            println!("{isa}, n = {n}, {workers} workers: {shares:.4?}");
            assert!(shares[2] < 0.01);
        }
    }
}

#[test]
#[ignore = "needs two idle cores; see the head of this file"]
fn two_workers_are_nearly_twice_as_fast_as_one() {
    type Make = fn() -> Arc<dyn Plan>;
    let runs: [(Make, Isa); 2] = [
        (|| Arc::new(chain(16)), Isa::Portable),
        (
            || Arc::new(ColourPlan::new(Size::new(18).unwrap())),
            Isa::best(),
        ),
    ];
    for (plan, isa) in runs {
        let mut ratios: Vec<f64> = (0..5)
            .map(|_| {
                let [one, two] = [1, 2].map(|workers| count(plan(), isa, workers));
                print!("{}{}", profile(&one), profile(&two));
                one.elapsed.as_secs_f64() / two.elapsed.as_secs_f64()
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        println!("speed-ups of {} with {isa}: {ratios:.3?}", plan().name());
        assert!(ratios[2] >= 1.9);
    }
}

#[test]
fn a_small_board_takes_a_moment() {
    // Seldom more than a millisecond. The best of many runs, because other processes may use the cores.
    let least = (0..10)
        .map(|_| count(Arc::new(chain(8)), Isa::best(), 2).elapsed)
        .min();
    println!("{least:?}");
    assert!(least.unwrap() < Duration::from_millis(500));
}
