//! Reports that a test was skipped.

use std::io::Write;

/// Reports on stderr what a test lacks. This writes to the handle itself, because the test harness hides
/// the `eprintln!` output of a test that passes.
pub fn skipped(what: &str) {
    // A test does not fail because stderr is closed.
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}
