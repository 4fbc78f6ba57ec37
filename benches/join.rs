//! The parts of the join, in one group each: generating half boards, splitting keys, looking up leaves.
//! The elements of the throughput are half boards, keys, and pairs of item and pattern.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a bench that cannot go on stops"
)]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use queenfold::board::Size;
use queenfold::join::{ColumnSet, MeasuredParts};
use queenfold::simd::Isa;

/// A partition of typical size: near the middle of the plan.
fn parts(n: u32, isa: Isa) -> MeasuredParts {
    let n = Size::new(n).expect("a board size");
    (ColumnSet::ranks(n) / 3..)
        .find_map(|rank| MeasuredParts::new(n, rank, isa))
        .expect("a partition")
}

fn measure(c: &mut Criterion, name: &str, run: fn(&mut MeasuredParts) -> u64) {
    let mut group = c.benchmark_group(name);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for n in [18, 20] {
            let mut parts = parts(n, isa);
            group.throughput(Throughput::Elements(run(&mut parts)));
            group.bench_function(format!("{n} queens, {isa}"), |b| b.iter(|| run(&mut parts)));
        }
    }
    group.finish();
}

fn generation(c: &mut Criterion) {
    measure(c, "join generation", MeasuredParts::generate);
}

fn splitting(c: &mut Criterion) {
    measure(c, "join recursion", MeasuredParts::split);
}

fn leaves(c: &mut Criterion) {
    measure(c, "join leaf", MeasuredParts::leaf);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = generation, splitting, leaves
}
criterion_main!(benches);
