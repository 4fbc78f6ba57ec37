//! The chain engine: its plan, and its kernel with each instruction set.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a bench that cannot go on stops"
)]

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use queenfold::board::Size;
use queenfold::chain::ChainPlan;
use queenfold::engine::{CounterSettings, Plan, Tally};
use queenfold::simd::Isa;

fn count(plan: &ChainPlan, isa: Isa) -> Tally {
    let mut counter = plan.counter(&CounterSettings { isa });
    (0..plan.tasks())
        .map(|i| counter.count(&plan.task(i)).expect("the counter agrees"))
        .sum()
}

/// Whole boards. The throughput is in nodes.
fn kernel(c: &mut Criterion) {
    let mut group = c.benchmark_group("chain");
    group.sample_size(10);
    for n in [8, 12, 14, 15, 16] {
        let plan = ChainPlan::new(Size::new(n).expect("a size"));
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            group.throughput(Throughput::Elements(count(&plan, isa).nodes));
            group.bench_with_input(BenchmarkId::new(isa.name(), n), &plan, |b, plan| {
                b.iter(|| count(black_box(plan), isa));
            });
        }
    }
    group.finish();
}

/// The time to make a plan, and to find partitions by rank.
fn plan(c: &mut Criterion) {
    let mut group = c.benchmark_group("chain plan");
    for n in [8, 16, 24, 32] {
        let n = Size::new(n).expect("a size");
        group.bench_with_input(BenchmarkId::new("make", n), &n, |b, &n| {
            b.iter(|| ChainPlan::new(black_box(n)));
        });
        let plan = ChainPlan::new(n);
        let step = (plan.ranks() / 1000).max(1) as usize;
        group.bench_with_input(BenchmarkId::new("partitions", n), &plan, |b, plan| {
            b.iter(|| {
                (0..plan.ranks())
                    .step_by(step)
                    .filter(|&rank| {
                        plan.subtrees(rank..black_box(rank) + 1)
                            .next_subtree()
                            .is_some()
                    })
                    .count()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, plan, kernel);
criterion_main!(benches);
