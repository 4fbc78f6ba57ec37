//! Peak memory of one worker that joins the largest sets of a board. A file of its own, for the
//! peak is that of the process, and one test, for tests share a process.

use queenfold::board::Size;
use queenfold::engine::{CounterSettings, Plan, Task};
use queenfold::join::{ColumnSet, JoinPlan};
use queenfold::simd::Isa;

const MIB: u64 = 1 << 20;

/// The peak of resident memory of this process, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Counts the set of every other column, whose lists are among the longest, and checks the peak.
fn expect_at_most(n: u32, limit: u64) {
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
        memory: 8 << 30,
    });
    let tally = counter.count(&task).unwrap();
    assert_eq!(tally.partitions, 1);
    let Some(peak) = peak() else { return };
    println!("n = {n}: {} keys, {} MiB", tally.nodes, peak / MIB);
    assert!(peak <= limit, "n = {n}: {} MiB", peak / MIB);
}

#[test]
fn the_largest_sets_stay_within_their_memory() {
    expect_at_most(20, 24 * MIB);
    expect_at_most(22, 32 * MIB);
    expect_at_most(24, 160 * MIB);
}

#[test]
#[ignore = "half a minute; run with cargo test --release --test join_memory -- --ignored"]
fn the_largest_set_of_26_queens_stays_within_its_memory() {
    expect_at_most(26, 1024 * MIB);
}
