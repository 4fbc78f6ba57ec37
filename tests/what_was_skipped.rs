//! The last of the test programs: lists, once and by name, the tests that could not check what they are
//! for. `cargo test` runs test programs in the order of their names.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[allow(dead_code, reason = "it only reads the notes")]
mod common;

use std::fs;
use std::time::Duration;

use common::skip::{file, summary};

/// Notes that are older are of another command: of one that ran single test programs, without this.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn main() {
    // Tools such as editors ask for the names of the tests. It has none.
    if std::env::args().any(|argument| argument == "--list") {
        return;
    }
    let file = file();
    let notes = fs::read_to_string(&file).unwrap_or_default();
    println!("\n{}", summary(&notes));
    let Some(folder) = file.parent() else { return };
    for old in fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = old.metadata().and_then(|meta| meta.modified());
        let is_old = age.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > DAY));
        if is_old || old.path() == file {
            // At worst, the notes are listed twice.
            let _ = fs::remove_file(old.path());
        }
    }
}
