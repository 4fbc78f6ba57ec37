//! What users of the library see is small, and the examples need no more.

use std::collections::BTreeSet;
use std::fs;

use regex::Regex;

/// The library, and what keeps its runs.
const LIBRARIES: [&str; 2] = ["src/lib.rs", "crates/queenfold-ledger/src/lib.rs"];

/// The names that the front page of the library lists.
fn facade() -> BTreeSet<String> {
    let text = LIBRARIES.map(crate::common::text_of).concat();
    let uses =
        Regex::new(r"(?s)#\[doc\(inline\)\]\npub use [a-z_]+::\{(.*?)\};").expect("a pattern");
    uses.captures_iter(&text)
        .flat_map(|list| {
            let names = list[1].split(',').map(|name| name.trim().to_owned());
            names.collect::<Vec<_>>()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

/// Semantic versioning is promised for each of them.
#[test]
fn users_see_at_most_80_names() {
    let names = facade();
    assert!((60..=80).contains(&names.len()), "{} names", names.len());
}

#[test]
fn modules_are_hidden() {
    let text = LIBRARIES.map(crate::common::text_of).concat();
    let mut before = "";
    for line in text.lines() {
        if line.starts_with("pub mod") {
            assert_eq!(before, "#[doc(hidden)]", "{line}");
        }
        before = line;
    }
}

#[test]
fn the_examples_use_what_users_see() {
    let names = facade();
    let uses = Regex::new(r"use queenfold(?:_ledger)?::(.*?);").expect("a pattern");
    let mut found = 0;
    for path in crate::common::examples() {
        let text = fs::read_to_string(&path).expect("an example");
        for list in uses.captures_iter(&text) {
            for name in list[1].trim_matches(['{', '}']).split(", ") {
                assert!(names.contains(name), "{}: {name}", path.display());
                found += 1;
            }
        }
    }
    assert!(found >= 8, "only {found} names found");
}
