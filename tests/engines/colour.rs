//! The colour engine from outside: its totals, and its agreement with the chain and with backtracking.

use queenfold::board::{Size, known};
use queenfold::chain::ChainPlan;
use queenfold::colour::ColourPlan;
use queenfold::engine::{
    CheckedBy, CountedBy, CounterSettings, DeviceIdentity, DeviceKernel, Plan, Tally, Task,
    second_kernel,
};
use queenfold::simd::Isa;

fn size(n: u32) -> Size {
    Size::new(n).unwrap()
}

fn settings() -> CounterSettings {
    CounterSettings { isa: Isa::best() }
}

fn total(plan: &dyn Plan) -> u128 {
    let mut counter = plan.counter(&settings());
    let tally: Tally = (0..plan.tasks())
        .map(|index| counter.count(&plan.task(index)).unwrap())
        .sum();
    tally.completions.solutions()
}

fn expect_known(n: u32) {
    let found = total(&ColourPlan::new(size(n)));
    assert_eq!(found, known(size(n)).unwrap().total, "n = {n}");
}

/// Counts sets in so many parts of the plan by the kernel and by backtracking.
fn recount(n: u32, parts: u64) {
    let plan = ColourPlan::new(size(n));
    for part in 1..=parts {
        let rank = plan.ranks() / (parts + 1) * part;
        let task = Task {
            ranks: rank..rank + 2,
            ..plan.task(0)
        };
        let counted = plan.counter(&settings()).count(&task).unwrap();
        let again = plan.oracle().count(&task).unwrap();
        assert!(
            counted.agrees_with(&again),
            "n = {n}, {task:?}: {counted:?} and {again:?}"
        );
    }
}

#[test]
fn recorded_tasks_are_checked_by_the_transposed_kernel_and_by_the_oracle_if_that_is_asked_for() {
    let plan = ColourPlan::new(size(14));
    let first = plan.counter(&settings()).backend();
    let against = |by: CheckedBy, first: &CountedBy| by.against(&plan, first).counter(&plan);
    let check = |by, first: &str| against(by, &CountedBy::Cpu(first.to_owned().into()));
    let mut second = check(CheckedBy::default(), first);
    assert_eq!(second.backend(), plan.kernels(settings().isa)[1]);
    let other = check(CheckedBy::default(), second.backend()).backend();
    assert_eq!(other, first);
    for (kernel, other) in [
        (DeviceKernel::Cuda, second.backend()),
        (DeviceKernel::CudaTransposed, first),
    ] {
        let device = CountedBy::Device(DeviceIdentity {
            kernel,
            index: 0,
            name: "GPU".to_owned(),
        });
        assert_eq!(against(CheckedBy::default(), &device).backend(), other);
        let second = second_kernel(&plan, &settings(), &device).counter(&plan);
        assert_eq!(second.backend(), other);
    }
    let mut oracle = check(CheckedBy::Oracle, first);
    assert_eq!(oracle.backend(), plan.oracle().backend());
    let task = plan.task(3);
    let (second, oracle) = (second.count(&task).unwrap(), oracle.count(&task).unwrap());
    assert!(second.agrees_with(&oracle));
}

#[test]
fn totals_of_16_to_18_queens_are_the_known_ones() {
    for n in 16..=18 {
        expect_known(n);
    }
}

#[test]
#[ignore = "minutes; run with cargo test --release --test it -- --ignored totals_of_19_to_21"]
fn totals_of_19_to_21_queens_are_the_known_ones() {
    for n in 19..=21 {
        expect_known(n);
    }
}

#[test]
fn both_engines_agree() {
    for n in (1..=15).map(size) {
        assert_eq!(
            total(&ColourPlan::new(n)),
            total(&ChainPlan::new(n)),
            "n = {n}"
        );
    }
}

#[test]
fn backtracking_gives_the_same_tally_of_single_sets() {
    for n in 14..=19 {
        recount(n, 3);
    }
}

#[test]
#[ignore = "minutes; run with cargo test --release --test it -- --ignored backtracking"]
fn backtracking_gives_the_same_tally_of_larger_sets() {
    for n in 18..=22 {
        recount(n, 4);
    }
}
