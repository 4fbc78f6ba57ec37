//! Notes that a test could not check what it is for.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

#[path = "skip_notes.rs"]
mod skip_notes;

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
    skip_notes::add(env!("CARGO_CRATE_NAME"), &test, reason);
}
