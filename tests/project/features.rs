//! `.ci/run` runs the tests that need features which are not built by default.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::modules::rust_files;
use regex::Regex;

/// The modules whose tests `.ci/run` runs with fault injection and NATS.
fn run_by_ci() -> BTreeSet<String> {
    let script = fs::read_to_string(".ci/run").unwrap();
    let (_, command) = script
        .rsplit_once("--features fault-injection,nats")
        .unwrap();
    let (command, _) = command.split_once("\n\n").unwrap();
    let words = command.split_whitespace();
    words
        .filter_map(|word| Some(word.strip_suffix("::")?.to_owned()))
        .collect()
}

/// The modules that are compiled only with one of these features, and those with such an item.
fn gated(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let gate =
        r#"(?m)^ *#\[cfg\((.*"(?:fault-injection|nats)".*)\)\]\n((?: *#.*\n)*) *(?:mod (\w+);)?"#;
    let gates = Regex::new(gate).unwrap();
    let all = gates.captures_iter(&text);
    all.filter(|gate| !gate[1].contains("not(") && !gate[2].contains("../common/"))
        .map(|gate| match gate.get(3) {
            Some(module) => module.as_str().to_owned(),
            None => file.file_stem().unwrap().to_string_lossy().into_owned(),
        })
        .collect()
}

#[test]
fn every_test_of_a_feature_is_run_by_ci() {
    let files = rust_files(Path::new("tests"));
    let all: BTreeSet<_> = files.iter().flat_map(|file| gated(file)).collect();
    assert!(all.len() > 5, "{all:?}");
    assert_eq!(run_by_ci(), all);
}
