//! Runs every `queenfold` command that the README and docs/GIVEN.md show, and compares the output with the
//! output there. Only times may differ.

use std::path::{Path, PathBuf};

use crate::isolated::isolated;

struct Example {
    command: String,
    output: Vec<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The commands (`$ queenfold …`) in the console blocks of a Markdown text, each with the lines
/// that follow it. A line `…` matches any number of lines.
fn examples(markdown: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            found.push(Example {
                command: command.to_owned(),
                output: Vec::new(),
            });
        } else if inside && let Some(example) = found.last_mut() {
            example.output.push(line.to_owned());
        }
    }
    found
}

/// A line in which each number that belongs to a time is replaced, and blanks are merged.
fn without_times(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split_whitespace() {
        let clock = word
            .chars()
            .all(|c| c.is_ascii_digit() || c == ':' || c == '.');
        let is_time = clock && word.contains(':') && word.contains('.');
        words.push(if is_time {
            "TIME".to_owned()
        } else {
            word.to_owned()
        });
    }
    words.join(" ")
}

/// Whether `printed` matches `shown`, where a line `…` matches any lines.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == "…" => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, printed)| line == first && matches(rest, printed)),
    }
}

fn run(command: &str, folder: &Path) -> (bool, Vec<String>) {
    let arguments: Vec<_> = command.split_whitespace().skip(1).collect();
    let output = isolated(env!("CARGO_BIN_EXE_queenfold"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("text");
    (
        output.status.success(),
        text.lines().map(without_times).collect(),
    )
}

/// Compares what the commands of a page print with what the page shows.
fn check(page: &str, least: usize) {
    let text = std::fs::read_to_string(root().join(page)).expect("the page");
    let examples = examples(&text);
    let found = examples.len();
    assert!(found >= least, "only {found} examples found in {page}");
    for Example { command, output } in examples {
        // The two commands for a fresh machine run this same program through cargo.
        let command = command.replace("cargo run --release --", "queenfold");
        if !command.starts_with("queenfold ") {
            continue;
        }
        let (ok, printed) = run(&command, &root());
        assert!(ok, "`{command}` failed");
        let shown: Vec<_> = output.iter().map(|line| without_times(line)).collect();
        assert!(
            matches(&shown, &printed),
            "`{command}` printed\n{}",
            printed.join("\n")
        );
    }
}

#[test]
fn every_command_in_the_readme_prints_what_the_readme_shows() {
    check("README.md", 5);
}

#[test]
fn every_command_in_the_page_about_given_boards_prints_what_the_page_shows() {
    check("docs/GIVEN.md", 3);
}

#[test]
fn a_difference_other_than_a_time_is_seen() {
    let lines = |text: &str| text.lines().map(without_times).collect::<Vec<_>>();
    assert!(matches(
        &lines("8: 92 12 00:00:00:00.001"),
        &lines(" 8:  92 12 00:00:00:01.900")
    ));
    assert!(!matches(
        &lines("8: 92 12 00:00:00:00.001"),
        &lines("8: 93 12 00:00:00:00.001")
    ));
    assert!(matches(&lines("a\n…\nd"), &lines("a\nb\nc\nd")));
    assert!(!matches(&lines("a\n…\nd"), &lines("a\nb\nc")));
}
