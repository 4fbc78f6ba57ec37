//! The phases of the join, one group each: placements generated, keys split and leaves looked up.
//! The elements per second that criterion prints are placements, keys, and pairs of item and
//! pattern.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use queenfold::board::Size;
use queenfold::join::{ColumnSet, MeasuredParts};
use queenfold::simd::Isa;

/// A partition of typical size: near the middle of the plan.
fn phases(n: u32, isa: Isa) -> MeasuredParts {
    let n = Size::new(n).expect("a board size");
    (ColumnSet::ranks(n) / 3..)
        .find_map(|rank| MeasuredParts::new(n, rank, isa))
        .expect("a partition")
}

fn phase(c: &mut Criterion, name: &str, run: fn(&mut MeasuredParts) -> u64) {
    let mut group = c.benchmark_group(name);
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        for n in [18, 20] {
            let mut phases = phases(n, isa);
            group.throughput(Throughput::Elements(run(&mut phases)));
            group.bench_function(format!("{n} queens, {isa}"), |b| {
                b.iter(|| run(&mut phases))
            });
        }
    }
    group.finish();
}

fn generation(c: &mut Criterion) {
    phase(c, "join generation", MeasuredParts::generate);
}

fn splitting(c: &mut Criterion) {
    phase(c, "join recursion", MeasuredParts::split);
}

fn leaves(c: &mut Criterion) {
    phase(c, "join leaf", MeasuredParts::leaf);
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = generation, splitting, leaves
}
criterion_main!(benches);
