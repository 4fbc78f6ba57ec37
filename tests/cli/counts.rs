//! The counts: total, unique solutions and symmetry classes of every board that is small enough for a
//! test, as the program prints them.

use queenfold::board::{Size, known};
use serde_json::Value;

use crate::common::program::stdout;

/// What `queenfold run --json` prints for the boards of `range`.
fn run(range: &str, more: &[&str]) -> Vec<Value> {
    stdout(&[&["run", "-n", range, "--json"], more].concat())
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Compares every count in a result with the known ones.
fn assert_known(result: &Value) {
    let n = Size::new(result["n"].as_u64().expect("a size") as u32).expect("a size");
    let known = known(n).expect("a known board");
    let orbits = known.orbits(n);
    let classes = &result["classes"];
    for (name, counted, known) in [
        ("total", &result["total"], known.total),
        ("unique", &result["unique"], known.unique),
        ("r180", &result["r180"], known.r180),
        ("r90", &result["r90"], known.r90),
        ("c1", &classes["c1"], orbits.c1),
        ("c2", &classes["c2"], orbits.c2),
        ("c4", &classes["c4"], orbits.c4),
        ("c8", &classes["c8"], orbits.c8),
    ] {
        assert_eq!(
            counted,
            &Value::String(known.to_string()),
            "{name} of n = {n}"
        );
    }
    assert_eq!(result["checked"], "known");
}

#[test]
fn every_board_up_to_15_is_counted_exactly() {
    let results = run("1..=15", &[]);
    assert_eq!(results.len(), 15);
    results.iter().for_each(assert_known);
}

#[test]
#[cfg(not(debug_assertions))]
fn sixteen_and_seventeen_queens_are_counted_exactly() {
    for engine in ["auto", "chain"] {
        run("16..=17", &["--engine", engine])
            .iter()
            .for_each(assert_known);
    }
}
