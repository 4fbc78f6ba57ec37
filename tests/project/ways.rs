//! The tables "Ways through the code" of ARCHITECTURE.md lead from file to file as the code does.

use std::path::{Path, PathBuf};

use regex::Regex;

use crate::common::{ROOT, text_of};

/// The most files that a reader should need for each way, in the order of the page.
const MOST: [usize; 4] = [45, 15, 15, 12];

/// Where rooms are.
const SOURCES: [&str; 5] = [
    "src",
    "crates/queenfold-engines/src",
    "crates/queenfold-ledger/src",
    "crates/queenfold-ladder/src",
    "crates/queenfold-cli/src",
];

/// The files of each way, in its order: those at the beginning of a row, between backticks.
fn ways(page: &str) -> Vec<Vec<String>> {
    let part = page
        .split("\n## ")
        .find(|part| part.starts_with("Ways through the code"));
    let tables = part.expect("the part").split("\n### ").skip(1);
    let file = |line: &str| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned());
    tables
        .map(|table| table.lines().filter_map(file).collect())
        .collect()
}

/// The path of the file of a room.
fn path(file: &str) -> PathBuf {
    let root = Path::new(ROOT);
    let mut paths = SOURCES.iter().map(|sources| root.join(sources).join(file));
    let found = paths.find(|path| path.exists());
    found.unwrap_or_else(|| panic!("{file} is in no crate"))
}

/// What a source text offers to others: functions, types and constants, and the module itself.
fn offered(source: &str) -> Vec<String> {
    let item = r"(?m)^ *pub(?:\([a-z:_ ]+\))? (?:const |unsafe )*(?:fn|struct|enum|trait|type|static) ([A-Za-z_0-9]+)";
    let items = Regex::new(item).expect("a pattern");
    let names = items.captures_iter(source).map(|of| of[1].to_owned());
    // Those of every second type lead nowhere.
    names
        .filter(|name| !["new", "run", "of", "name"].contains(&&**name))
        .collect()
}

/// Whether a source text names one of them outside its comments.
fn uses(source: &str, names: &[String]) -> bool {
    let code = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default());
    let mut words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.any(|word| names.iter().any(|name| name == word))
}

#[test]
fn each_file_of_a_way_and_one_before_it_know_each_other() {
    let ways = ways(&text_of("ARCHITECTURE.md"));
    assert_eq!(ways.len(), MOST.len());
    for (way, most) in ways.iter().zip(MOST) {
        assert!(
            way.len() <= most,
            "{} files, not {most}: {way:?}",
            way.len()
        );
        let read = |file: &String| std::fs::read_to_string(path(file)).expect("a source file");
        let sources: Vec<_> = way.iter().map(read).collect();
        for (at, file) in way.iter().enumerate().skip(1) {
            let names = offered(&sources[at]);
            // Who implements a trait knows it, and is not named where it is called.
            let are_known = sources[..at]
                .iter()
                .any(|before| uses(before, &names) || uses(&sources[at], &offered(before)));
            assert!(
                are_known,
                "{file} and those before it know nothing of each other: {way:?}"
            );
        }
    }
}

#[test]
fn each_file_that_the_page_names_is_there() {
    let named = Regex::new("`([a-z_]+/[a-z_/]+[.]rs)`").expect("a pattern");
    let page = text_of("ARCHITECTURE.md");
    let files: Vec<_> = named
        .captures_iter(&page)
        .map(|of| of[1].to_owned())
        .collect();
    assert!(files.len() > 100, "only {} files", files.len());
    for file in files {
        assert!(Path::new(ROOT).join(&file).exists() || path(&file).exists());
    }
}

#[test]
fn a_file_that_nobody_before_it_uses_is_seen() {
    let names = offered("pub struct Queue;\n    pub(crate) fn offer(&self) {}\nfn hidden() {}\n");
    assert_eq!(names, ["Queue", "offer"]);
    assert!(uses("let queue = Queue;", &names));
    assert!(!uses("// Queue\nlet other = Queues;", &names));
}
