//! Tests of random cases, as many as somebody has time for.

use std::fmt::Debug;

use fastrand::Rng;

/// Calls `check` with so many random cases: `TEST_CASES`, or else `cases`. The number of the first one is `TEST_SEED`,
/// or else 1. If a case fails, `TEST_SEED=NUMBER TEST_CASES=1` repeats it. Returns what the cases gave.
pub fn random_cases<T: Debug>(cases: u64, mut check: impl FnMut(&mut Rng) -> T) -> Vec<T> {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let first: u64 = number("TEST_SEED").unwrap_or(1);
    let cases = number("TEST_CASES").unwrap_or(cases);
    let case = |seed| {
        let given = check(&mut Rng::with_seed(seed));
        eprintln!("case {seed}: {given:?}");
        given
    };
    (first..first + cases).map(case).collect()
}
