//! The course in docs/: its steps are those of the program, its picture and table those of its rows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use queenfold::board::Size;
use queenfold::words::measured;
use regex::Regex;
use serde_json::Value as Json;

use crate::common::program::stdout;

const ROWS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ladder.jsonl");
const COURSE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/COURSE.md");
pub const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/ladder.svg");

/// A file of the documentation is what it should be; `SNAPSHOTS=overwrite` makes it so.
fn assert_file(path: &str, expected: &str) {
    if std::env::var_os("SNAPSHOTS").is_some_and(|how| how == "overwrite") {
        std::fs::write(path, expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap();
    assert!(
        found == expected,
        "{path} is out of date: SNAPSHOTS=overwrite writes it"
    );
}

#[test]
fn the_course_and_the_program_have_the_same_steps_methods_and_engines() {
    let list = stdout(&["explain"]);
    assert_eq!(stdout(&["ladder"]), list);
    let mut steps: Vec<(&str, Vec<String>)> = Vec::new();
    for line in list.lines() {
        let Some(entry) = line.strip_prefix("    ") else {
            steps.push((line.trim_start(), Vec::new()));
            continue;
        };
        let (name, _) = entry.split_once("  ").unwrap();
        let name = match name.strip_prefix("engine ") {
            Some(engine) => format!("engine `{engine}`"),
            None => format!("`{name}`"),
        };
        steps.last_mut().unwrap().1.push(name);
    }
    let expected: Vec<_> = steps
        .iter()
        .map(|(step, names)| (*step, names.join(", ")))
        .collect();
    let course = std::fs::read_to_string(COURSE).unwrap();
    let heading = Regex::new(r"(?m)^## (\d+\. .+)\n\n\*(.+)\*$").unwrap();
    let headings = heading
        .captures_iter(&course)
        .map(|found| found.extract::<2>().1);
    let found: Vec<_> = headings
        .map(|[step, names]| (step, names.to_owned()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn the_picture_of_the_course_is_the_one_of_its_rows() {
    let picture = stdout(&["ladder", "--plot", "-", "--from", ROWS]);
    assert_file(PICTURE, &picture);
}

#[test]
fn the_table_of_the_course_is_the_one_of_its_rows() {
    let course = std::fs::read_to_string(COURSE).unwrap();
    let start = course.find("| method |").unwrap();
    let length = course[start..].find("\n\n").unwrap() + 1;
    let after = &course[start + length..];
    let expected = format!("{}{}{after}", &course[..start], table());
    assert_file(COURSE, &expected);
}

/// The rows of the documentation as a table: a method a line, a board of even size a column.
fn table() -> String {
    let text = std::fs::read_to_string(ROWS).unwrap();
    let mut methods: Vec<(String, BTreeMap<u64, f64>)> = Vec::new();
    for line in text.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let n = row["n"].as_u64().unwrap();
        let known = queenfold::board::known(Size::new(n as u32).unwrap()).unwrap();
        assert_eq!(row["total"], known.total.to_string(), "{line}");
        let name = match row["method"].as_str() {
            Some(method) => format!("`{method}`"),
            None => format!("engine `{}`", row["engine"].as_str().unwrap()),
        };
        let seconds = row["cpu_seconds"].as_f64().unwrap();
        match methods.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => drop(times.insert(n, seconds)),
            None => methods.push((name, BTreeMap::from([(n, seconds)]))),
        }
    }
    let sizes = methods.iter().flat_map(|(_, times)| times.keys());
    let sizes: BTreeSet<_> = sizes.filter(|n| n.is_multiple_of(2)).collect();
    let mut lines = vec![
        "| method |".to_owned() + &sizes.iter().map(|n| format!(" {n} |")).collect::<String>(),
        "|---|".to_owned() + &"--:|".repeat(sizes.len()),
    ];
    for (name, times) in &methods {
        let cell = |n| match times.get(n) {
            Some(seconds) => measured(Duration::from_secs_f64(*seconds)),
            None => "–".to_owned(),
        };
        let cells: String = sizes.iter().map(|n| format!(" {} |", cell(n))).collect();
        lines.push(format!("| {name} |{cells}"));
    }
    lines.join("\n") + "\n"
}
