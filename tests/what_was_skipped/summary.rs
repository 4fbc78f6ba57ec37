//! The summary of what was skipped.

use std::collections::{BTreeMap, BTreeSet};

/// Each reason with its tests, from lines of program, test and reason with tabs between.
pub fn of(notes: &str) -> String {
    let mut reasons: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let mut tests = BTreeSet::new();
    for line in notes.lines() {
        if let [program, test, reason] = line.splitn(3, '\t').collect::<Vec<_>>()[..] {
            let test = format!("{program} {test}");
            tests.insert(test.clone());
            reasons.entry(reason).or_default().insert(test);
        }
    }
    let number = match tests.len() {
        0 => return "Skipped: nothing.".to_owned(),
        1 => "1 test that is listed as ok was".to_owned(),
        number => format!("{number} tests that are listed as ok were"),
    };
    let mut lines = vec![format!("Skipped: {number} skipped, as a whole or in part.")];
    for (reason, tests) in reasons {
        lines.push(format!("  {reason}:"));
        lines.extend(tests.iter().map(|test| format!("    {test}")));
    }
    lines.join("\n")
}
