//! Peak memory of one worker that joins the largest sets of a board, and tasks from all parts of the
//! plan. This binary of its own has only one test that is not ignored, because all tests of a binary
//! share the peak of the process.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[path = "common/skip.rs"]
mod skip;

use queenfold::board::Size;
use queenfold::engine::{CounterSettings, Plan, Task};
use queenfold::join::{ColumnSet, JoinPlan};
use queenfold::simd::Isa;
use skip::skipped;

const MIB: u64 = 1 << 20;
const PLENTY: u64 = 8 << 30;

/// The peak of resident memory of this process; `None` if the system does not report it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Counts the set of every second column, whose lists are among the longest, and `tasks` spread over
/// the plan, within `memory`. Checks that the peak exceeds `before` by `limit` at most.
fn expect_at_most(n: u32, tasks: u64, memory: u64, before: Option<u64>, limit: u64) {
    let size = Size::new(n).unwrap();
    let plan = JoinPlan::new(size);
    let odd_columns = 0xAAAA_AAAA & size.full_mask();
    let set = ColumnSet {
        top: odd_columns,
        bottom: size.full_mask() & !odd_columns,
        middle: None,
        weight: 2,
    };
    let rank = set.rank(size);
    assert_eq!(ColumnSet::unrank(size, rank), Some(set));
    let task = Task {
        ranks: rank..rank + 1,
        ..plan.task(0)
    };
    let mut counter = plan.counter(&CounterSettings {
        isa: Isa::best(),
        memory,
    });
    let tally = counter.count(&task).unwrap();
    assert_eq!(tally.partitions, 1);
    for index in 0..tasks {
        counter
            .count(&plan.task(plan.tasks() / tasks * index))
            .unwrap();
    }
    let Some((before, peak)) = before.zip(peak()) else {
        skipped("this system does not report the peak of a process");
        return;
    };
    let taken = (peak - before) as f64 / MIB as f64;
    println!("n = {n}: {} keys, {taken:.1} MiB", tally.nodes);
    assert!(peak - before <= limit, "n = {n}: {taken:.1} MiB");
}

#[test]
fn the_largest_sets_stay_within_their_memory() {
    let before = peak();
    expect_at_most(20, 60, PLENTY, before, 16 * MIB);
    // With a budget, at most three eighths more than it; with plenty, well below 32 and 160 MiB.
    expect_at_most(22, 6, 16 * MIB, before, 22 * MIB);
    expect_at_most(22, 6, PLENTY, before, 26 * MIB);
    expect_at_most(24, 0, 32 * MIB, before, 44 * MIB);
    expect_at_most(24, 0, PLENTY, before, 80 * MIB);
}

#[test]
#[ignore = "half a minute; run with cargo test --release --test join_memory -- --ignored"]
fn the_largest_set_of_26_queens_stays_within_its_memory() {
    expect_at_most(26, 0, PLENTY, peak(), 1024 * MIB);
}
