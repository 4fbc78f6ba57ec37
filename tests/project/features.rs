//! `.ci/run` runs the tests that need features which are not built by default.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::modules::rust_files;
use regex::Regex;

/// The modules whose tests `.ci/run` runs with fault injection.
fn run_by_ci() -> BTreeSet<String> {
    let script = fs::read_to_string(".ci/run").unwrap();
    let (_, command) = script.rsplit_once("--features fault-injection").unwrap();
    let (command, _) = command.split_once("\n\n").unwrap();
    let words = command.split_whitespace();
    words
        .filter_map(|word| Some(word.strip_suffix("::")?.to_owned()))
        .collect()
}

/// The modules that are compiled only with one of these features, and those with such an item.
fn gated(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let gate = r#"(?m)^ *#\[cfg\((.*"fault-injection".*)\)\]\n((?: *#.*\n)*) *(?:mod (\w+);)?"#;
    let gates = Regex::new(gate).unwrap();
    let all = gates.captures_iter(&text);
    all.filter(|gate| !gate[1].contains("not(") && !gate[2].contains("../common/"))
        .map(|gate| match gate.get(3) {
            Some(module) => module.as_str().to_owned(),
            None => file.file_stem().unwrap().to_string_lossy().into_owned(),
        })
        .collect()
}

/// The modules of the library that are compiled only with one of these features, and have tests.
fn gated_in_library() -> Vec<String> {
    let gate = r#"(?m)^#\[cfg\(feature = "fault-injection"\)\]\n(?:pub(?:\(.*\))? )?mod (\w+);"#;
    let gate = Regex::new(gate).unwrap();
    let mut modules = Vec::new();
    for file in rust_files(Path::new("src")) {
        let text = fs::read_to_string(&file).unwrap();
        for found in gate.captures_iter(&text) {
            let path = file.with_file_name(&found[1]);
            let files = match path.is_dir() {
                true => rust_files(&path),
                false => vec![path.with_extension("rs")],
            };
            let mut texts = files.iter().map(|file| fs::read_to_string(file).unwrap());
            if texts.any(|text| text.contains("#[cfg(test)]")) {
                modules.push(found[1].to_owned());
            }
        }
    }
    modules
}

#[test]
fn every_test_of_a_feature_is_run_by_ci() {
    let files = rust_files(Path::new("tests"));
    let mut all: BTreeSet<_> = files.iter().flat_map(|file| gated(file)).collect();
    all.extend(gated_in_library());
    assert!(all.len() > 2, "{all:?}");
    assert_eq!(run_by_ci(), all);
}
