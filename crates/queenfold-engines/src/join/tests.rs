//! What every instruction set must get right: the same tests for each.

mod crossing;

use fastrand::Rng;

use super::counter::JoinCounter;
use super::kernel::JoinKernel;
use super::leaf_audit::{FlippedBit, LeafAudit};
use super::word_order::WordOrder;
use super::{ColumnSet, JoinPlan, Partition, naive};
use crate::board::{Size, known};
use crate::engine::{Counter, Mismatch, Plan, Tally, Task};
use crate::simd::{Portable, stamp_tests};

const PLENTY: u64 = 1 << 30;

/// The largest board that is counted as a whole. Miri takes ten thousand times as long.
const WHOLE: u32 = if cfg!(miri) { 7 } else { 15 };

/// The largest board that the naive join counts as a whole, too.
const NAIVE: u32 = if cfg!(miri) { 6 } else { 12 };

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn count(plan: &JoinPlan, counter: &mut dyn Counter, ranks: std::ops::Range<u64>) -> Tally {
    let task = Task {
        ranks,
        ..plan.task(0)
    };
    counter.count(&task).unwrap()
}

fn total(n: u32, kernel: impl JoinKernel, memory: u64) -> Tally {
    let plan = JoinPlan::new(size(n));
    let mut counter =
        JoinCounter::audited(size(n), kernel, memory, LeafAudit::new(LeafAudit::ONE_IN));
    count(&plan, &mut counter, 0..plan.ranks())
}

fn totals(kernel: impl JoinKernel) {
    for n in 1..=WHOLE {
        let found = total(n, kernel, PLENTY).completions.solutions();
        assert_eq!(found, known(size(n)).unwrap().total, "n = {n}");
    }
}

/// The tally of a rank by the naive join, which counts no nodes.
fn naive_tally(n: Size, order: &WordOrder, rank: u64) -> Tally {
    let mut tally = Tally::default();
    if let Some(partition) = Partition::of_rank(n, rank) {
        tally.partitions = 1;
        let completions = naive::completions(n, order, &partition);
        tally
            .completions
            .add(partition.set.weight, completions.into());
    }
    tally
}

fn every_set_by(mut counter: impl FnMut(Size) -> Box<dyn Counter>) {
    for n in (1..=NAIVE).map(size) {
        let plan = JoinPlan::new(n);
        let order = naive::order(n);
        let mut counter = counter(n);
        for rank in 0..plan.ranks() {
            let tally = count(&plan, &mut *counter, rank..rank + 1);
            let expected = Tally {
                nodes: tally.nodes,
                ..naive_tally(n, &order, rank)
            };
            assert_eq!(tally, expected, "n = {n}, rank {rank}");
        }
    }
}

fn every_set(kernel: impl JoinKernel) {
    every_set_by(|n| Box::new(JoinCounter::audited(n, kernel, PLENTY, LeafAudit::new(1))));
}

fn every_set_with_ties_in_lists(kernel: impl JoinKernel) {
    for memory in [0, PLENTY] {
        every_set_by(|n| {
            let counter = JoinCounter::audited(n, kernel, memory, LeafAudit::new(1));
            Box::new(counter.weighing_ties())
        });
    }
}

/// Sets of larger boards, whose lists have many ties; with little memory they come in parts.
fn ties_in_lists_of_larger_boards(kernel: impl JoinKernel) {
    for n in [18, 19] {
        let plan = JoinPlan::new(size(n));
        let counter = |memory| JoinCounter::audited(size(n), kernel, memory, LeafAudit::new(64));
        let mut apart = counter(PLENTY);
        let mut weighing = [0, PLENTY].map(|memory| counter(memory).weighing_ties());
        for rank in (0..plan.ranks()).step_by(plan.ranks() as usize / 20) {
            let expected = count(&plan, &mut apart, rank..rank + 2);
            for counter in &mut weighing {
                let found = count(&plan, counter, rank..rank + 2);
                assert!(found.agrees_with(&expected), "n = {n}, rank {rank}");
            }
        }
    }
}

fn random_cuts(kernel: impl JoinKernel) {
    let mut random = Rng::with_seed(1);
    let sizes: &[u32] = if cfg!(miri) { &[7] } else { &[9, 11, 12, 13] };
    for &n in sizes {
        let plan = JoinPlan::new(size(n));
        let whole = total(n, kernel, PLENTY);
        for _ in 0..4 {
            let mut cuts: Vec<u64> = (0..10).map(|_| random.u64(..plan.ranks() + 1)).collect();
            cuts.extend([0, plan.ranks()]);
            cuts.sort_unstable();
            // Backwards: what a counter keeps from one task to the next must not matter.
            let mut pieces: Vec<_> = cuts.windows(2).map(|cut| cut[0]..cut[1]).collect();
            pieces.reverse();
            let mut counter =
                JoinCounter::audited(size(n), kernel, PLENTY, LeafAudit::new(LeafAudit::ONE_IN));
            let sum: Tally = pieces
                .into_iter()
                .map(|ranks| count(&plan, &mut counter, ranks))
                .sum();
            assert_eq!(sum, whole, "n = {n}");
        }
    }
}

/// The lists of n = 14 have a few hundred keys, and every budget allows 1024, so that lists are
/// made in parts from n = 16 on only.
fn small_budgets(kernel: impl JoinKernel) {
    for (n, memory) in [(11, 0), (14, 0), (16, 0), (16, 60_000)] {
        let found = total(n, kernel, memory);
        assert_eq!(
            found.completions.solutions(),
            known(size(n)).unwrap().total,
            "n = {n}"
        );
    }
}

/// A few sets of each size, with almost no memory, with some, and with plenty.
fn small_budgets_of_larger_boards(kernel: impl JoinKernel) {
    for n in 18..=20 {
        let plan = JoinPlan::new(size(n));
        let mut random = Rng::with_seed(n.into());
        let counters = [0, 300_000, 3_000_000, PLENTY].map(|memory| {
            JoinCounter::audited(size(n), kernel, memory, LeafAudit::new(LeafAudit::ONE_IN))
        });
        // In the last sets, one half has the last columns of the board.
        let last = plan.ranks() - 4;
        let ranks: Vec<u64> = (0..4).map(|_| random.u64(..last)).chain([last]).collect();
        let [nothing, little, some, plenty] = counters.map(|mut counter| -> Tally {
            ranks
                .iter()
                .map(|&rank| count(&plan, &mut counter, rank..rank + 4))
                .sum()
        });
        for tally in [nothing, little, some] {
            assert!(tally.agrees_with(&plenty), "n = {n}");
        }
        assert!(
            nothing.nodes > plenty.nodes,
            "n = {n}: all lists were whole"
        );
    }
}

/// With almost no memory for the boards of quadrants, halves are sliced by the queens of
/// their first rows.
fn slices_of_halves(kernel: impl JoinKernel) {
    let plan = JoinPlan::new(size(22));
    let rank = (plan.ranks() / 3..)
        .find(|&rank| Partition::of_rank(size(22), rank).is_some())
        .unwrap();
    let [nothing, plenty] = [0, PLENTY].map(|memory| {
        let mut counter =
            JoinCounter::audited(size(22), kernel, memory, LeafAudit::new(LeafAudit::ONE_IN));
        count(&plan, &mut counter, rank..rank + 1)
    });
    assert!(nothing.agrees_with(&plenty));
    assert!(nothing.nodes > plenty.nodes);
}

/// A counter of n = 18 that counts one leaf of `one_in` again.
fn auditor<K: JoinKernel>(kernel: K, one_in: u64) -> JoinCounter<K> {
    JoinCounter::audited(size(18), kernel, PLENTY, LeafAudit::new(one_in))
}

/// A random task of n = 18, and a bit to flip in one of its first leaves: of ties and of pairs.
fn random_fault(random: &mut Rng) -> (Task, FlippedBit) {
    let plan = JoinPlan::new(size(18));
    // The audit is seeded by the first rank.
    let first = plan.ranks() / 2 + random.u64(..1000);
    let task = Task {
        ranks: first..first + 3,
        ..plan.task(0)
    };
    let fault = FlippedBit {
        leaf: random.u64(..12),
        place: random.u64(..1 << 20),
    };
    (task, fault)
}

fn faulty<K: JoinKernel>(
    counter: &mut JoinCounter<K>,
    (task, fault): &(Task, FlippedBit),
) -> Result<Tally, Mismatch> {
    counter.audit().plant(*fault);
    counter.count(task)
}

fn faults(kernel: impl JoinKernel) {
    let mut random = Rng::with_seed(7);
    let mut honest = auditor(kernel, 1);
    let [mut never, mut always] = [1 << 63, 1].map(|one_in| auditor(kernel, one_in));
    let mut changed = 0;
    for _ in 0..400 {
        let fault = random_fault(&mut random);
        // No leaf is audited: the count may be wrong. Every leaf is: a wrong count is caught.
        let truth = honest.count(&fault.0).unwrap();
        let is_wrong = !faulty(&mut never, &fault).unwrap().agrees_with(&truth);
        let seen = faulty(&mut always, &fault);
        assert_eq!(seen.is_err(), is_wrong, "{fault:?}");
        changed += usize::from(is_wrong);
    }
    assert!(changed >= 10, "only {changed} flips changed a count");
}

stamp_tests! {
    totals_up_to_15_are_the_known_ones: totals,
    every_set_up_to_12_is_counted_as_the_naive_join_does: every_set,
    every_set_is_counted_alike_with_ties_in_lists: every_set_with_ties_in_lists,
    #[cfg_attr(miri, ignore = "counts boards of 16 queens or more")]
    ties_in_lists_do_not_change_larger_boards: ties_in_lists_of_larger_boards,
    any_cut_of_the_plan_adds_up: random_cuts,
    #[cfg_attr(miri, ignore = "counts boards of 16 queens or more")]
    little_memory_gives_the_same_totals: small_budgets,
    #[cfg_attr(miri, ignore = "counts boards of 16 queens or more")]
    little_memory_gives_the_same_tallies_of_larger_boards: small_budgets_of_larger_boards,
    #[cfg_attr(miri, ignore = "counts boards of 16 queens or more")]
    slices_of_halves_give_the_same_tally: slices_of_halves,
    #[cfg_attr(miri, ignore = "counts boards of 16 queens or more")]
    the_audit_sees_every_flipped_bit_that_changes_a_count: faults,
}

/// The share of faults caught is the share of leaves audited: at 1 of 8, about N/8 of N flips that
/// change a count are caught, with a standard deviation of √(N · 1/8 · 7/8).
#[test]
#[cfg_attr(miri, ignore = "counts boards of 16 queens or more")]
fn the_audit_catches_the_share_it_promises() {
    let mut random = Rng::with_seed(3);
    let [mut always, mut some] = [1, 8].map(|one_in| auditor(Portable, one_in));
    let (mut wrong, mut caught) = (0, 0);
    for _ in 0..3000 {
        let fault = random_fault(&mut random);
        if faulty(&mut always, &fault).is_err() {
            wrong += 1;
            caught += u32::from(faulty(&mut some, &fault).is_err());
        }
    }
    let expected = f64::from(wrong) / 8.0;
    let deviation = (expected * 7.0 / 8.0).sqrt();
    assert!(wrong > 100, "{wrong}");
    assert!(
        (f64::from(caught) - expected).abs() <= 2.0 * deviation,
        "{caught} of {wrong}"
    );
}

#[test]
fn backtracking_counts_every_set_up_to_12_as_the_naive_join_does() {
    every_set_by(|n| JoinPlan::new(n).oracle());
}

#[test]
fn the_naive_join_gives_the_known_totals() {
    for n in (1..=NAIVE).map(size) {
        let order = naive::order(n);
        let sum: Tally = (0..ColumnSet::ranks(n))
            .map(|rank| naive_tally(n, &order, rank))
            .sum();
        let total = sum.completions.solutions();
        assert_eq!(total, known(n).unwrap().total, "n = {n}");
    }
}
