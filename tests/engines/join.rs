//! The join engine from outside: its totals, and its agreement with the chain and with backtracking.

use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::engine::{CounterSettings, Plan, Tally, Task};
use queenfold::join::JoinPlan;
use queenfold::simd::Isa;

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn settings() -> CounterSettings {
    CounterSettings {
        isa: Isa::best(),
        memory: 1 << 30,
    }
}

fn total(plan: &dyn Plan) -> u128 {
    let mut counter = plan.counter(&settings());
    let tally: Tally = (0..plan.tasks())
        .map(|index| counter.count(&plan.task(index)).unwrap())
        .sum();
    tally.completions.solutions()
}

fn expect_known(n: u32) {
    let found = total(&JoinPlan::new(size(n)));
    assert_eq!(found, known(size(n)).unwrap().total, "n = {n}");
}

/// Counts a task by the join and by backtracking.
fn recount(plan: &JoinPlan, task: &Task) {
    let joined = plan.counter(&settings()).count(task).unwrap();
    let again = plan.oracle().count(task).unwrap();
    assert!(
        joined.agrees_with(&again),
        "n = {}, {task:?}: {joined:?} and {again:?}",
        plan.size()
    );
}

#[test]
fn totals_of_16_to_18_queens_are_the_known_ones() {
    for n in 16..=18 {
        expect_known(n);
    }
}

#[test]
#[ignore = "minutes; run with cargo test --release --test engines -- --ignored totals_of_19_and_20"]
fn totals_of_19_and_20_queens_are_the_known_ones() {
    for n in [19, 20] {
        expect_known(n);
    }
}

#[test]
fn both_engines_agree() {
    for n in (1..=16).map(size) {
        assert_eq!(
            total(&JoinPlan::new(n)),
            total(&ChainPlan::new(n)),
            "n = {n}"
        );
    }
}

/// Tasks of one set each, spread over the plan.
#[test]
fn backtracking_gives_the_same_tally_of_single_sets() {
    for n in [14, 15, 16, 17, 18, 19] {
        let plan = JoinPlan::new(size(n));
        for part in 1..=3 {
            let rank = plan.ranks() / 4 * part;
            let task = Task {
                ranks: rank..rank + 2,
                ..plan.task(0)
            };
            recount(&plan, &task);
        }
    }
}

#[test]
#[ignore = "minutes; run with cargo test --release --test engines -- --ignored backtracking"]
fn backtracking_gives_the_same_tally_of_larger_sets() {
    for n in 18..=22 {
        let plan = JoinPlan::new(size(n));
        for part in 1..=4 {
            let rank = plan.ranks() / 5 * part;
            let task = Task {
                ranks: rank..rank + 2,
                ..plan.task(0)
            };
            recount(&plan, &task);
        }
    }
}
