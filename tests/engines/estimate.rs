//! Sampling estimates, and the ETA of a run, compared with the time that whole plans take.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use cpu_time::{ProcessTime, ThreadTime};
use queenfold::actors::{Control, run};
use queenfold::board::Size;
use queenfold::colour::ColourPlan;
use queenfold::engine::{Counter, CounterSettings, Engine, Plan, core_seconds};
use queenfold::estimate::{Draw, SampleProgress, count_sample};
use queenfold::simd::Isa;

use crate::common::run_spec::run_spec;

fn settings() -> CounterSettings {
    CounterSettings { isa: Isa::best() }
}

fn one_thread() -> SampleProgress {
    SampleProgress::new(NonZeroUsize::MIN)
}

/// CPU seconds of each task of the plan, in the order of the plan. They are counted in a different
/// order, as in a run, so that a task does not find the data of its neighbour in the caches.
fn times(plan: &ColourPlan, counter: &mut dyn Counter) -> Vec<f64> {
    /// A prime that divides no number of tasks.
    const STRIDE: u64 = 617;
    let mut times = vec![0.0; plan.tasks() as usize];
    for place in 0..plan.tasks() {
        let index = place * STRIDE % plan.tasks();
        let task = plan.task(index);
        let begun = ThreadTime::now();
        counter.count(&task).unwrap();
        times[index as usize] = begun.elapsed().as_secs_f64();
    }
    assert!(times.iter().all(|seconds| *seconds > 0.0));
    times
}

/// Checks how often in `runs` the interval contains the truth, which is the CPU seconds of counting
/// every task of the plan: the mean of a count before the sample and one after it, because the speed
/// of the machine changes. Then does the same for many samples of the measured times, without any
/// allowance for the speed.
fn expect_contained(n: u32, sample: usize, runs: u64) {
    let plan = ColourPlan::new(Size::new(n).unwrap());
    let mut counter = plan.counter(&settings());
    counter.count(&plan.task(0)).unwrap();
    let mut before = times(&plan, counter.as_mut());
    let mut covered = 0;
    for run in 0..runs {
        let draw = Draw::new(&plan, sample, run);
        let counted = count_sample(&plan, &draw, &settings(), &one_thread()).unwrap();
        let after = times(&plan, counter.as_mut());
        let truth = (before.iter().sum::<f64>() + after.iter().sum::<f64>()) / 2.0;
        before = after;
        let interval = draw.estimate(&counted.seconds, counted.speed);
        let interval = interval.expect("a total").core_seconds;
        let off = |seconds: f64| seconds / truth - 1.0;
        println!(
            "n = {n}: {truth:.3} s; {:+.3}, {:+.3} to {:+.3}; {} passes, {:.3}",
            off(interval.expected),
            off(interval.low),
            off(interval.high),
            counted.passes,
            counted.speed
        );
        covered += u64::from((interval.low..=interval.high).contains(&truth));
    }
    assert!(covered * 10 >= 9 * runs, "n = {n}: {covered} of {runs}");

    let truth: f64 = before.iter().sum();
    let covered = (0..1000).filter(|seed| {
        let draw = Draw::new(&plan, sample, 1000 + seed);
        let drawn = draw.tasks().iter();
        let seconds: Vec<_> = drawn
            .map(|drawn| Some(before[drawn.index as usize]))
            .collect();
        let interval = draw.estimate(&seconds, 0.0);
        let interval = interval.expect("a total").core_seconds;
        (interval.low..=interval.high).contains(&truth)
    });
    let covered = covered.count();
    println!("  samples of these times: {covered} of 1000");
    assert!(covered >= 915, "n = {n}: {covered} of 1000");
}

#[test]
#[ignore = "minutes; run with cargo test --release --test it -- --ignored --nocapture --test-threads 1 engines::estimate::"]
fn intervals_of_18_to_20_queens_hold_the_truth_in_9_of_10_runs() {
    for n in [18, 19, 20] {
        expect_contained(n, 64, 10);
    }
}

/// On the Zen 4 of the table of costs and on a Zen 3. Another machine, or one that is busy, is another factor away.
#[test]
#[ignore = "half a minute, on a Zen 3 or 4; run with cargo test --release --test it -- --ignored --nocapture --test-threads 1 engines::estimate::"]
fn the_costs_of_plans_are_within_1_3_of_the_time_with_each_instruction_set() {
    let mut off = Vec::new();
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for (engine, n) in [(Engine::Chain, 17), (Engine::Colour, 18)] {
            let n = Size::new(n).unwrap();
            let plan = queenfold::job::plan(engine, n);
            let mut counter = plan.counter(&CounterSettings { isa });
            let mut count = || {
                let begun = ThreadTime::now();
                for index in 0..plan.tasks() {
                    counter.count(&plan.task(index)).unwrap();
                }
                begun.elapsed().as_secs_f64()
            };
            let least = (0..3).map(|_| count()).fold(f64::INFINITY, f64::min);
            let ratio = least / core_seconds(engine, n, isa);
            println!("{isa}, {engine}, n = {n}: {least:.3} s, {ratio:.2} of the costs");
            off.extend((!(1.0 / 1.3..1.3).contains(&ratio)).then_some((isa, engine, ratio)));
        }
    }
    assert!(off.is_empty(), "{off:?}");
}

#[test]
fn every_task_drawn_is_counted_and_reported() {
    let plan = ColourPlan::new(Size::new(16).unwrap());
    let draw = Draw::new(&plan, 20, 1);
    let progress = SampleProgress::new(NonZeroUsize::new(2).unwrap());
    assert_eq!((progress.tasks(), progress.share(&draw)), (0, 0.0));
    let sample = count_sample(&plan, &draw, &settings(), &progress).unwrap();
    assert_eq!(progress.tasks(), 20);
    assert!((progress.share(&draw) - 1.0).abs() < 1e-9);
    assert_eq!(sample.seconds.len(), 20);
    assert_eq!(sample.counted(), 20);
    assert!(
        sample
            .seconds
            .iter()
            .flatten()
            .all(|seconds| *seconds > 0.0)
    );
}

#[test]
fn a_sample_that_is_given_up_keeps_what_was_counted() {
    let plan = ColourPlan::new(Size::new(20).unwrap());
    let draw = Draw::new(&plan, 1000, 1);
    let progress = one_thread();
    let sample = thread::scope(|scope| {
        scope.spawn(|| {
            while progress.tasks() < 3 {
                thread::sleep(Duration::from_millis(1));
            }
            progress.give_up();
        });
        count_sample(&plan, &draw, &settings(), &progress).unwrap()
    });
    assert!((3..1000).contains(&sample.counted()), "{sample:?}");
    assert_eq!(
        (sample.seconds.len(), sample.passes),
        (draw.tasks().len(), 1)
    );
    // In the order of the draw, without gaps: one thread counted.
    let is_first = |place: usize| place < sample.counted();
    let mut seconds = sample.seconds.iter().enumerate();
    assert!(seconds.all(|(place, seconds)| seconds.is_some() == is_first(place)));
    assert!(draw.estimate(&sample.seconds, sample.speed).is_some());
    // Nothing is counted after that.
    let none = count_sample(&plan, &draw, &settings(), &progress).unwrap();
    assert_eq!(none.counted(), 0);
    assert!(draw.estimate(&none.seconds, none.speed).is_none());
}

/// Runs the colour engine for boards of size `n`. Returns the ratio of its ETA when a tenth is done to the time
/// that the rest takes. Both are CPU times: the ETA is multiplied by the part of a core that the run had
/// until then, because other work on the machine cannot be predicted.
fn eta_at_a_tenth(n: u32) -> f64 {
    let control = Control::new();
    let plan = Arc::new(ColourPlan::new(Size::new(n).unwrap()));
    let mut spec = run_spec(vec![plan], 1, Isa::best());
    spec.counter = settings();
    let watched = control.clone();
    let begun = ProcessTime::now();
    let watch = thread::spawn(move || {
        loop {
            let progress = watched.progress();
            if progress.share >= Some(0.1)
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
    let predicted = eta.left.as_secs_f64() * part;
    let left = (total - cpu).as_secs_f64();
    println!(
        "n = {n}: at {:.3} after {:.2?} ETA {:.2?} ± {:.2?}, {:.2?} in all; CPU {predicted:.2} s, it took \
         {left:.2} s",
        progress.share.unwrap(),
        progress.elapsed,
        eta.left,
        eta.uncertainty,
        report.elapsed
    );
    predicted / left
}

#[test]
#[ignore = "minutes; run with cargo test --release --test it -- --ignored --nocapture --test-threads 1 engines::estimate::"]
fn the_time_left_at_a_tenth_of_19_and_20_queens_is_within_15_percent() {
    for n in [19, 20] {
        let ratio = eta_at_a_tenth(n);
        assert!((ratio - 1.0).abs() <= 0.15, "n = {n}: {ratio}");
    }
}
