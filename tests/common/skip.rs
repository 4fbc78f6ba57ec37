//! Says that a test was skipped.

use std::io::Write;

/// Says on stderr what is missing for a test. It goes to the handle itself: what `eprintln!` writes
/// is kept back by the harness of a test that passes, so that nobody would see it.
pub fn skipped(what: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}
