//! The vector kernels of the chain engine, compared with the scalar kernel on every instruction set.

use std::ops::Range;

use crate::common::skip::skipped;
use proptest::prelude::*;
use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::engine::{Counter, CounterSettings, Plan, Tally, Task};
use queenfold::simd::Isa;

use super::chain_partition::Partition;

fn plan(n: u32) -> ChainPlan {
    ChainPlan::new(Size::new(n).unwrap())
}

/// A counter for each instruction set of this machine. Reports the instruction sets that it lacks.
fn counters(plan: &ChainPlan) -> impl Iterator<Item = (Isa, Box<dyn Counter>)> {
    Isa::ALL.into_iter().filter_map(move |isa| {
        if !isa.is_available() {
            skipped(&format!("this machine has no {isa}"));
            return None;
        }
        Some((isa, plan.counter(&CounterSettings { isa })))
    })
}

fn task(plan: &ChainPlan, ranks: Range<u64>) -> Task {
    Task {
        ranks,
        ..plan.task(0)
    }
}

#[test]
fn every_board_from_2_to_13_has_the_known_total_and_the_nodes_of_the_oracle() {
    for n in 2..=13 {
        let plan = plan(n);
        for (isa, mut counter) in counters(&plan) {
            let mut oracle = plan.oracle();
            let mut sum = Tally::default();
            for i in 0..plan.tasks() {
                let tally = counter.count(&plan.task(i)).unwrap();
                assert_eq!(
                    tally,
                    oracle.count(&plan.task(i)).unwrap(),
                    "{isa}, n = {n}, {i}"
                );
                sum += tally;
            }
            let total = known(plan.size()).unwrap().total;
            assert_eq!(sum.completions.solutions(), total, "{isa}, n = {n}");
        }
    }
}

#[test]
fn tasks_without_partitions_count_nothing() {
    for n in [5, 8, 14, 19] {
        let plan = plan(n);
        for (isa, mut counter) in counters(&plan) {
            let mut tasks = vec![0..0, plan.ranks()..plan.ranks()];
            let empty = (0..plan.ranks()).find(|&rank| Partition::of_rank(&plan, rank).is_none());
            tasks.extend(empty.map(|rank| rank..rank + 1));
            for ranks in tasks {
                let tally = counter.count(&task(&plan, ranks)).unwrap();
                assert_eq!(tally.completions.solutions(), 0, "{isa}, n = {n}");
                assert_eq!(tally.partitions, 0, "{isa}, n = {n}");
            }
        }
    }
}

#[test]
fn ranges_add_up_to_the_whole() {
    for n in 4..=9 {
        let plan = plan(n);
        for (isa, mut counter) in counters(&plan) {
            let whole = counter.count(&task(&plan, 0..plan.ranks())).unwrap();
            for step in [1, 2, 7, 31, 144] {
                let starts = (0..plan.ranks()).step_by(step as usize);
                let parts: Tally = starts
                    .map(|start| start..(start + step).min(plan.ranks()))
                    .map(|ranks| counter.count(&task(&plan, ranks)).unwrap())
                    .sum();
                assert_eq!(parts, whole, "{isa}, n = {n}, step {step}");
            }
        }
    }
}

#[test]
fn a_counter_keeps_nothing_of_one_task_for_the_next() {
    let plan = plan(12);
    for (isa, mut counter) in counters(&plan) {
        let task = task(&plan, 1000..1777);
        let first = counter.count(&task).unwrap();
        counter.count(&plan.task(0)).unwrap();
        assert_eq!(counter.count(&task).unwrap(), first, "{isa}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_ranges_agree_with_the_oracle_to_the_node(
        n in 5u32..=14,
        at in 0.0..1.0f64,
        len in 0u64..1500,
    ) {
        let plan = plan(n);
        let start = (plan.ranks() as f64 * at) as u64;
        let task = task(&plan, start..(start + len).min(plan.ranks()));
        let expected = plan.oracle().count(&task).unwrap();
        for (isa, mut counter) in counters(&plan) {
            prop_assert_eq!(counter.count(&task).unwrap(), expected, "{}", isa);
        }
    }

    // From n = 19 on, words have 32 bits.
    #[test]
    fn single_ranks_agree_with_the_oracle_to_the_node(
        n in 15u32..=19,
        at in 0.0..1.0f64,
    ) {
        let plan = plan(n);
        let rank = (plan.ranks() as f64 * at) as u64;
        let task = task(&plan, rank..rank + 1);
        let expected = plan.oracle().count(&task).unwrap();
        for (isa, mut counter) in counters(&plan) {
            prop_assert_eq!(counter.count(&task).unwrap(), expected, "{}", isa);
        }
    }
}
