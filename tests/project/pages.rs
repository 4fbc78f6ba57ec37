//! Runs the commands in the `console` blocks of the README and of every page in docs/, and compares what they
//! print with what the page shows.
//!
//! Bash runs the blocks of a page one after the other in a folder of its own, so a block can use the files of those
//! before it. A line `…` stands for any number of lines, `…` within a line for anything; times may differ. Of a
//! command without output on the page, only its success is checked. `<!-- not run: REASON -->` before a block
//! says why it is not run here.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use regex::Regex;

use crate::common::program::{PROGRAM, isolated};
use crate::common::skip::skipped;

/// Programs that a page may use and a machine may lack. All others are there.
const OPTIONAL: [&str; 4] = ["jq", "openssl", "python3", "sqlite3"];

/// What separates the outputs of two commands.
const END: &str = "==== end of the output, exit code ";

struct Example {
    /// The line of the page.
    line: usize,
    command: String,
    output: Vec<String>,
    /// The line that says why its block is not run, and the reason.
    not_run: Option<(usize, String)>,
}

fn root() -> PathBuf {
    PathBuf::from(crate::common::ROOT)
}

/// The README and the pages, as paths from the root.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir(root().join("docs")).unwrap();
    let names = docs.map(|entry| Path::new("docs").join(entry.unwrap().file_name()));
    let mut pages: Vec<_> = names
        .filter(|page| page.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.extend(["README.md", "python/README.md"].map(PathBuf::from));
    pages.sort();
    pages
}

/// The commands (`$ …`) in the console blocks of a Markdown text, each with the lines that follow it.
fn examples(markdown: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let mut inside = false;
    let mut not_run = None;
    for (index, line) in markdown.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
            if line == "```" {
                not_run = None;
            }
        } else if inside && let Some(command) = line.strip_prefix("$ ") {
            found.push(Example {
                line: index + 1,
                // A fresh machine runs this same program through cargo.
                command: command.replace("cargo run --release --", "queenfold"),
                output: Vec::new(),
                not_run: not_run.clone(),
            });
        } else if inside && let Some(example) = found.last_mut() {
            example.output.push(line.to_owned());
        } else if let Some(comment) = line.strip_prefix("<!-- not run: ") {
            let why = comment.strip_suffix(" -->");
            not_run = why.map(|why| (index + 1, why.to_owned()));
        } else if !line.is_empty() {
            not_run = None;
        }
    }
    found
}

/// Whether a shown line stands for the printed one. Times may differ, and speeds that follow from them; they are
/// right-aligned, so the blanks before them may, too.
fn is_line(shown: &str, printed: &str) -> bool {
    let mut pattern = regex::escape(shown).replace('…', ".*");
    for (example, any) in [
        // A point is `\.` in the pattern.
        (
            r" +\d{2}:\d{2}:\d{2}:\d{2}\\\.\d{3}",
            r" +\d{2}:\d{2}:\d{2}:\d{2}\.\d{3}",
        ),
        (
            r" +\d+(?:\\\.\d+)? (?:µs|ms|s)(?-u:\b)",
            r" +[\d.]+ (?:µs|ms|s)(?-u:\b)",
        ),
        (r" +\d+(?:\\\.\d+)?x ", r" +\d+(?:\.\d+)?x "),
    ] {
        let example = Regex::new(example).unwrap();
        pattern = example
            .replace_all(&pattern, regex::NoExpand(any))
            .into_owned();
    }
    Regex::new(&format!("^{pattern}$"))
        .unwrap()
        .is_match(printed)
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
            .is_some_and(|(first, printed)| is_line(line, first) && matches(rest, printed)),
    }
}

/// What commands print when bash runs them one after the other, stdout before stderr, with their exit codes.
fn run(commands: &[&str], folder: &Path) -> Vec<(i32, Vec<String>)> {
    let program = Path::new(PROGRAM);
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    for name in ["config", "docs"] {
        symlink(root().join(name), folder.join(name)).unwrap();
    }
    let script: String = commands
        .iter()
        .map(|command| {
            format!("{command}\ncode=$?; cat .stderr; : > .stderr; printf '\\n{END}%d\\n' $code\n")
        })
        .collect();
    let output = isolated("bash")
        .args([
            "-c",
            &format!("exec 2>> .stderr; set -o pipefail\n{script}"),
        ])
        .current_dir(folder)
        .env("PATH", path)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut found = Vec::new();
    let mut printed = Vec::new();
    for line in text.lines() {
        let Some(code) = line.strip_prefix(END) else {
            printed.push(line.to_owned());
            continue;
        };
        // The line break before the mark ends the last line, or is an empty line more.
        if printed.last().is_some_and(String::is_empty) {
            printed.pop();
        }
        found.push((code.parse().unwrap(), std::mem::take(&mut printed)));
    }
    assert_eq!(found.len(), commands.len(), "bash ended: {text}");
    found
}

/// The optional program that bash did not find.
fn missing(printed: &[String]) -> Option<&'static str> {
    let is_missing = |name: &&str| {
        let said = format!(" {name}: command not found");
        printed.iter().any(|line| line.ends_with(&said))
    };
    OPTIONAL.into_iter().find(is_missing)
}

/// Runs a page. Returns the number of commands that printed what the page shows.
fn check(page: &Path) -> usize {
    let text = fs::read_to_string(root().join(page)).unwrap();
    let mut examples = examples(&text);
    let at = |example: &Example| format!("{}:{}", page.display(), example.line);
    let not_run: BTreeSet<_> = examples.iter().filter_map(|e| e.not_run.clone()).collect();
    for (line, why) in not_run {
        skipped(&format!("{}:{line}: {why}", page.display()));
    }
    examples.retain(|example| example.not_run.is_none());
    let folder = tempfile::tempdir().unwrap();
    let commands: Vec<_> = examples.iter().map(|e| e.command.as_str()).collect();
    let outputs = run(&commands, folder.path());
    let mut checked = 0;
    let mut lacking = None;
    for (example, (code, printed)) in examples.iter().zip(outputs) {
        let (at, command) = (at(example), &example.command);
        lacking = missing(&printed).or(lacking);
        let is_shown = example.output.is_empty() || matches(&example.output, &printed);
        match lacking {
            _ if code == 0 && is_shown => checked += 1,
            // It needs the program, or what the program would have written.
            Some(name) => skipped(&format!("{at}: `{command}`: no {name}")),
            None => panic!(
                "{at}: `{command}` ended with code {code} and printed\n{}",
                printed.join("\n")
            ),
        }
    }
    checked
}

#[test]
fn every_command_in_the_pages_prints_what_the_page_shows() {
    let checked: usize = pages().iter().map(|page| check(page)).sum();
    assert!(checked >= 25, "only {checked} commands found");
}
