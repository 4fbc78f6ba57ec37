//! The colour engine: its counter with each instruction set.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a bench that cannot go on stops"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queenfold::board::Size;
use queenfold::colour::ColourPlan;
use queenfold::engine::{CounterSettings, Plan, Tally};
use queenfold::simd::Isa;

fn count(plan: &ColourPlan, isa: Isa) -> Tally {
    let mut counter = plan.counter(&CounterSettings { isa });
    (0..plan.tasks())
        .map(|i| counter.count(&plan.task(i)).expect("the counter agrees"))
        .sum()
}

/// Whole boards. The throughput is in queens placed.
fn counter(c: &mut Criterion) {
    let mut group = c.benchmark_group("colour");
    group.sample_size(10);
    for n in [14, 15, 16] {
        let plan = ColourPlan::new(Size::new(n).expect("a size"));
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            group.throughput(Throughput::Elements(count(&plan, isa).nodes));
            group.bench_with_input(BenchmarkId::new(isa.name(), n), &plan, |b, plan| {
                b.iter(|| count(black_box(plan), isa));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, counter);
criterion_main!(benches);
