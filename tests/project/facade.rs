//! What users of the library see is small, and the examples need no more.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use regex::Regex;

use super::layers::rust_files;
use crate::common::ROOT;

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

/// By the path that is promised, also where the crate of the engines describes what the library lists. Its first page alone is
/// for those who use no other.
#[test]
fn the_documentation_shows_what_users_see() {
    let names = facade();
    let uses = Regex::new(r"(?m)^ *//[/!] use queenfold(_ledger|_engines)?::(.*);$");
    let uses = uses.expect("a pattern");
    let folders = [
        "src",
        "crates/queenfold-engines/src",
        "crates/queenfold-ledger/src",
    ];
    let files = folders.map(|folder| rust_files(&Path::new(ROOT).join(folder)));
    let mut found = 0;
    for path in files.concat() {
        if path.ends_with("queenfold-engines/src/lib.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source");
        for used in uses.captures_iter(&text) {
            let is_promised = used.get(1).is_none_or(|of| of.as_str() != "_engines");
            for name in used[2].trim_matches(['{', '}']).split(", ") {
                let name = if is_promised {
                    name
                } else {
                    name.rsplit("::").next().unwrap_or(name)
                };
                assert_eq!(
                    names.contains(name),
                    is_promised,
                    "{}: {}",
                    path.display(),
                    &used[0]
                );
                found += 1;
            }
        }
    }
    assert!(found >= 30, "only {found} names found");
}
