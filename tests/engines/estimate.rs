//! Samples of plans, and the costs of plans compared with the time that they take.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use cpu_time::ThreadTime;
use queenfold::board::Size;
use queenfold::colour::ColourPlan;
use queenfold::engine::{CounterSettings, Engine, core_seconds};
use queenfold::estimate::{Draw, SampleProgress, count_sample};
use queenfold::simd::Isa;

fn settings() -> CounterSettings {
    CounterSettings { isa: Isa::best() }
}

fn one_thread() -> SampleProgress {
    SampleProgress::new(NonZeroUsize::MIN)
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
