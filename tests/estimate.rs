//! Estimates from samples, and the time left that a run tells, held against what whole plans take.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cpu_time::{ProcessTime, ThreadTime};
use queenfold::actors::{Control, RunSpec, run};
use queenfold::board::Size;
use queenfold::engine::{Counter, CounterSettings, Plan};
use queenfold::estimate::{Draw, count_sample};
use queenfold::join::JoinPlan;
use queenfold::simd::Isa;

fn settings() -> CounterSettings {
    CounterSettings {
        isa: Isa::best(),
        memory: 512 << 20,
    }
}

/// Tasks counted beside a sample: their CPU seconds in the order of the plan, and how far it is.
struct Beside {
    counter: Box<dyn Counter>,
    tasks: Vec<u64>,
    seconds: Vec<f64>,
}

impl Beside {
    /// Counts the next tasks, until so many are done.
    fn advance(&mut self, plan: &dyn Plan, until: usize) {
        while self.seconds.len() < until.min(self.tasks.len()) {
            let task = plan.task(self.tasks[self.seconds.len()]);
            let begun = ThreadTime::now();
            self.counter.count(&task).unwrap();
            self.seconds.push(begun.elapsed().as_secs_f64());
        }
    }
}

/// How often in `runs` the interval holds the truth: CPU seconds of counting every task of the
/// plan. Then the same for samples of the times that were measured, of which there can be many.
///
/// Between the tasks of each sample a part of all tasks is counted, by turns. As the parts are
/// alike, their times say how fast the machine was meanwhile, and the truth is taken at that speed:
/// other work beside, which makes it slower by a quarter, is no fault of the estimate.
fn expect_held(n: u32, sample: usize, runs: usize) {
    let plan = JoinPlan::new(Size::new(n).unwrap());
    let one = NonZeroUsize::MIN;
    let mut times = vec![0.0; plan.tasks() as usize];
    let mut parts = Vec::new();
    for run in 0..runs {
        let tasks: Vec<u64> = (run as u64..plan.tasks()).step_by(runs).collect();
        let mut counter = plan.counter(&settings());
        counter.count(&plan.task(tasks[0])).unwrap();
        let draw = Draw::new(&plan, sample, run as u64);
        let per_task = tasks.len().div_ceil(draw.tasks().len());
        let beside = Mutex::new(Beside {
            counter,
            tasks,
            seconds: Vec::new(),
        });
        let counted = count_sample(&plan, &draw, &settings(), one, &|_| {
            let mut beside = beside.lock().unwrap();
            let until = beside.seconds.len() + per_task;
            beside.advance(&plan, until);
        });
        let mut beside = beside.into_inner().unwrap();
        beside.advance(&plan, usize::MAX);
        let cost: f64 = beside.tasks.iter().map(|&task| plan.task(task).cost).sum();
        parts.push((
            draw.estimate(&counted.unwrap().seconds).core_seconds,
            beside.seconds.iter().sum::<f64>() / cost,
        ));
        for (task, seconds) in beside.tasks.iter().zip(beside.seconds) {
            times[*task as usize] = seconds;
        }
    }
    let truth: f64 = times.iter().sum();
    let speed = truth / plan.total_cost();
    println!("n = {n}: {truth:.3} s");
    let mut held = 0;
    for (interval, own) in parts {
        let truth = truth * own / speed;
        let off = |seconds: f64| seconds / truth - 1.0;
        println!(
            "  {:+.3}, {:+.3} to {:+.3}; speed {:.3}",
            off(interval.expected),
            off(interval.low),
            off(interval.high),
            own / speed
        );
        held += usize::from((interval.low..=interval.high).contains(&truth));
    }
    assert!(held * 10 >= 9 * runs, "n = {n}: {held} of {runs}");

    let held = (0..1000).filter(|seed| {
        let draw = Draw::new(&plan, sample, 1000 + seed);
        let drawn = draw.tasks().iter();
        let seconds: Vec<f64> = drawn.map(|drawn| times[drawn.index as usize]).collect();
        let interval = draw.estimate(&seconds).core_seconds;
        (interval.low..=interval.high).contains(&truth)
    });
    let held = held.count();
    println!("  samples of these times: {held} of 1000");
    assert!(held >= 930, "n = {n}: {held} of 1000");
}

#[test]
#[ignore = "minutes; run with cargo test --release --test estimate -- --ignored --nocapture --test-threads 1"]
fn intervals_of_18_to_20_queens_hold_the_truth_in_9_of_10_runs() {
    for n in [18, 19, 20] {
        expect_held(n, 64, 10);
    }
}

#[test]
fn every_task_drawn_is_counted_and_told_of() {
    let plan = JoinPlan::new(Size::new(16).unwrap());
    let draw = Draw::new(&plan, 20, 1);
    let told = Mutex::new(Vec::new());
    let two = NonZeroUsize::new(2).unwrap();
    let sample = count_sample(&plan, &draw, &settings(), two, &|drawn| {
        told.lock().unwrap().push(drawn.index);
    })
    .unwrap();
    let mut drawn: Vec<u64> = draw.tasks().iter().map(|drawn| drawn.index).collect();
    let mut told = told.into_inner().unwrap();
    drawn.sort_unstable();
    told.sort_unstable();
    assert_eq!(told, drawn);
    assert_eq!(sample.seconds.len(), 20);
    assert!(sample.seconds.iter().all(|seconds| *seconds > 0.0));
}

/// Runs the join for boards of size `n`, and returns the ratio of the time left that it tells when a
/// tenth is done to the time it then takes. Both are taken as CPU time, the time left by the part of
/// a core that the run had until then: what else wants the cores later, nobody can foretell.
fn eta_at_a_tenth(n: u32) -> f64 {
    let control = Control::new();
    let spec = RunSpec {
        plans: vec![Arc::new(JoinPlan::new(Size::new(n).unwrap()))],
        workers: 1,
        counter: settings(),
        queue_per_worker: 2,
        batch_time: Duration::from_millis(50),
        time_limit: None,
        audit: 0.0,
        recorder: None,
    };
    let watched = control.clone();
    let begun = ProcessTime::now();
    let watch = thread::spawn(move || {
        loop {
            let progress = watched.progress();
            if progress.share >= 0.1
                && let Some(eta) = progress.eta
            {
                return (progress, eta, begun.elapsed());
            }
            thread::sleep(Duration::from_millis(5));
        }
    });
    let report = run(&spec, &control).unwrap();
    let total = begun.elapsed();
    let (progress, eta, cpu) = watch.join().unwrap();
    let part = cpu.as_secs_f64() / progress.elapsed.as_secs_f64();
    let told = eta.left.as_secs_f64() * part;
    let left = (total - cpu).as_secs_f64();
    println!(
        "n = {n}: at {:.3} after {:.2?} ETA {:.2?} ± {:.2?}, {:.2?} in all; CPU {told:.2} s, it took \
         {left:.2} s",
        progress.share, progress.elapsed, eta.left, eta.uncertainty, report.elapsed
    );
    told / left
}

#[test]
#[ignore = "minutes; run with cargo test --release --test estimate -- --ignored --nocapture --test-threads 1"]
fn the_time_left_at_a_tenth_of_19_and_20_queens_is_within_15_percent() {
    for n in [19, 20] {
        let ratio = eta_at_a_tenth(n);
        assert!((ratio - 1.0).abs() <= 0.15, "n = {n}: {ratio}");
    }
}
