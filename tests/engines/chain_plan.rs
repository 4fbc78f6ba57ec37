//! What the plan of the chain engine promises: it contains every solution once, and its partitions have
//! a fixed order with random access.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use proptest::prelude::*;
use queenfold::board::{Size, Squares, Symmetry};
use queenfold::chain::{ChainPlan, Frame};
use queenfold::engine::{CheckedBy, CountedBy, Plan};
use queenfold::simd::Isa;

use super::chain_partition::{Partition, border_of};

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

/// Every solution, as the column of the queen in each row.
fn solutions(n: u8) -> Vec<Vec<u8>> {
    fn go(n: u8, queens: &mut Vec<u8>, found: &mut Vec<Vec<u8>>) {
        let row = queens.len();
        if row == usize::from(n) {
            found.push(queens.clone());
            return;
        }
        for column in 0..n {
            let is_free = queens.iter().enumerate().all(|(above, &queen)| {
                queen != column && usize::from(queen.abs_diff(column)) != row - above
            });
            if is_free {
                queens.push(column);
                go(n, queens, found);
                queens.pop();
            }
        }
    }
    let mut found = Vec::new();
    go(n, &mut Vec::new(), &mut found);
    found
}

/// The weight of the partition that contains `placement`; `None` if no partition of the plan does.
fn weight_of(plan: &ChainPlan, placement: &[u8]) -> Option<u8> {
    let n = plan.size();
    let border = border_of(placement);
    let weight = border.weight(n)?;
    let mut row = 0;
    let prefix = Frame::new(n, border, &Squares::all(n))
        .rows
        .iter()
        .take(plan.prefix_columns(0).len())
        .map(|free| {
            row += free.gap as usize;
            placement[row]
        })
        .collect();
    let partition = Partition {
        border,
        weight,
        prefix,
    };
    let rank = partition.rank(plan);
    assert_eq!(Partition::of_rank(plan, rank), Some(partition));
    Some(weight)
}

#[test]
fn the_partitions_of_an_orbit_weigh_as_much_as_the_orbit_is_large() {
    for n in 1..=10 {
        let plan = ChainPlan::new(size(n.into()));
        for solution in solutions(n) {
            let images: BTreeSet<_> = Symmetry::ALL
                .map(|symmetry| symmetry.apply_to_placement(&solution))
                .into();
            let weight: usize = images
                .iter()
                .filter_map(|image| weight_of(&plan, image))
                .map(usize::from)
                .sum();
            assert_eq!(weight, images.len(), "{solution:?}");
        }
    }
}

/// The plans of all sizes, made once.
fn plans() -> &'static [ChainPlan] {
    static PLANS: OnceLock<Vec<ChainPlan>> = OnceLock::new();
    PLANS.get_or_init(|| Size::all().map(ChainPlan::new).collect())
}

#[test]
fn tasks_tile_the_ranks() {
    for plan in plans() {
        let n = plan.size();
        let mut next = 0;
        for i in (0..plan.tasks()).take(10_000) {
            let ranks = plan.task(i).ranks;
            assert_eq!(ranks.start, next, "n = {n}, task {i}");
            next = ranks.end;
        }
        assert_eq!(plan.task(plan.tasks() - 1).ranks.end, plan.ranks());
    }
}

#[test]
fn a_rank_past_the_last_is_empty() {
    for plan in plans() {
        let past = Partition::of_rank(plan, plan.ranks());
        assert_eq!(past, None);
        assert!(
            plan.subtrees(plan.ranks()..plan.ranks())
                .next_subtree()
                .is_none()
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_rank_is_found_again_from_its_partition(n in 1usize..=32, at in 0.0..1.0f64) {
        let plan = &plans()[n - 1];
        let rank = (plan.ranks() as f64 * at) as u64;
        prop_assume!(plan.ranks() > 0);
        let mut subtrees = plan.subtrees(rank..rank + 1);
        let subtree = subtrees.next_subtree();
        let partition = Partition::of_rank(plan, rank);
        prop_assert_eq!(
            subtree.map(|subtree| (subtree.border, subtree.weight, subtree.partitions)),
            partition.as_ref().map(|of| (of.border, of.weight, 1))
        );
        if let Some(partition) = partition {
            prop_assert_eq!(partition.rank(plan), rank);
            prop_assert!(partition.border.is_legal(plan.size()));
            prop_assert_eq!(partition.border.weight(plan.size()), Some(partition.weight));
        }
    }
}

#[test]
fn partitions_are_the_ranks_that_are_not_empty() {
    for n in 4..=9 {
        let plan = ChainPlan::new(size(n));
        let legal = (0..plan.ranks()).filter(|&rank| Partition::of_rank(&plan, rank).is_some());
        let legal = legal.count() as u64;
        let mut oracle = plan.oracle();
        let counted = (0..plan.tasks()).map(|task| oracle.count(&plan.task(task)).unwrap());
        assert_eq!(
            counted.map(|tally| tally.partitions).sum::<u64>(),
            legal,
            "n = {n}"
        );
    }
}

#[test]
fn recorded_tasks_are_verified_by_another_kernel() {
    let plan = ChainPlan::new(size(12));
    let available: Vec<_> = Isa::ALL
        .into_iter()
        .filter(|isa| isa.is_available())
        .collect();
    // The widest kernel checks all the others, and the next one checks that one.
    let best = Isa::best();
    let next = available.iter().rev().nth(1);
    for isa in &available {
        let first = CountedBy::Cpu(isa.name().into());
        let second = CheckedBy::OtherKernel.against(&plan, &first);
        let second = second.counter(&plan).backend();
        let expected = match next {
            _ if *isa != best => best.name(),
            Some(next) => next.name(),
            None => plan.oracle().backend(),
        };
        assert_eq!(second, expected, "{isa}");
    }
}
