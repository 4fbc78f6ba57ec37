//! The chain engine on whole boards, with each instruction set: totals and nodes.

use crate::common::skip::skipped;
use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::engine::{CounterSettings, Plan, Tally};
use queenfold::simd::Isa;

fn count(n: Size, isa: Isa) -> Tally {
    let plan = ChainPlan::new(n);
    let mut counter = plan.counter(&CounterSettings { isa });
    (0..plan.tasks())
        .map(|i| counter.count(&plan.task(i)).unwrap())
        .sum()
}

/// Asserts that every instruction set of this machine finds the known total and the same nodes.
fn all_agree(n: u32) {
    let n = Size::new(n).unwrap();
    let total = known(n).unwrap().total;
    let mut nodes = None;
    for isa in Isa::ALL {
        if !isa.is_available() {
            skipped(&format!("this machine has no {isa}"));
            continue;
        }
        let tally = count(n, isa);
        assert_eq!(tally.completions.solutions(), total, "n = {n}, {isa}");
        let first = *nodes.get_or_insert(tally.nodes);
        assert_eq!(tally.nodes, first, "n = {n}, {isa}");
    }
}

#[test]
fn boards_from_4_to_15_are_exact() {
    for n in 4..=15 {
        all_agree(n);
    }
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "slow without optimisation; run with --release"
)]
fn boards_16_and_17_are_exact() {
    all_agree(16);
    let n = Size::new(17).unwrap();
    let tally = count(n, Isa::best());
    assert_eq!(tally.completions.solutions(), known(n).unwrap().total);
}

#[test]
#[ignore = "a minute; run with cargo test --release --test it -- --ignored engines::chain_exact::"]
fn boards_17_and_18_are_exact() {
    all_agree(17);
    all_agree(18);
}
