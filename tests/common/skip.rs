//! Notes that a test could not check what it is for: a file for each `cargo test`, which all its test programs append to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Notes what the test that calls this lacks. The last test program, `what_was_skipped`, lists the notes
/// of a `cargo test` by name. So that a single test program is not silent either, the first note of each
/// reason is also a line on stderr. It is written to the handle itself, because the test harness hides the
/// `eprintln!` output of a test that passes.
#[track_caller]
pub fn skipped(reason: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.insert(reason.to_owned()) {
        // A test does not fail because stderr is closed.
        let _ = writeln!(std::io::stderr(), "skipped: {reason}");
    }
    let thread = std::thread::current();
    let test = match thread.name() {
        Some(name) if name != "main" => name.to_owned(),
        // With `--test-threads 1`, all tests run on the main thread.
        _ => std::panic::Location::caller().to_string(),
    };
    add(env!("CARGO_CRATE_NAME"), &test, reason);
}

/// Adds a note: this test of this program did not check all it is for.
fn add(program: &str, test: &str, reason: &str) {
    let file = file();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(file)
        .unwrap();
    // One write for each line: test programs and threads must not mix theirs.
    let line = format!("{program}\t{test}\t{reason}\n");
    file.write_all(line.as_bytes()).unwrap();
}

/// The file with the notes of this `cargo test`: test programs of one command have the same parent.
pub fn file() -> PathBuf {
    #[cfg(unix)]
    let parent = std::os::unix::process::parent_id();
    #[cfg(not(unix))]
    let parent = 0;
    Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("skipped")
        .join(parent.to_string())
}

/// The summary of notes: each reason with its tests, from lines of program, test and reason with tabs between.
pub fn summary(notes: &str) -> String {
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
