//! The summary of skipped tests at the end of `cargo test`.

use crate::common::skip::summary;

#[test]
fn the_summary_lists_each_reason_once_with_its_tests() {
    let notes = "engines\tchain::b\tthis machine has no avx512\n\
                 engines\tchain::a\tthis machine has no avx512\n\
                 engines\tchain::b\tthis machine has no avx512\n\
                 ledger\tdisks::full\tonly root can mount a file system\n";
    assert_eq!(
        summary(notes),
        "Skipped: 3 tests that are listed as ok were skipped, as a whole or in part.\n  \
           only root can mount a file system:\n    ledger disks::full\n  \
           this machine has no avx512:\n    engines chain::a\n    engines chain::b"
    );
    assert_eq!(summary(""), "Skipped: nothing.");
}

/// Test programs run in the order of their names.
#[test]
fn the_summary_is_the_last_test_program() {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests");
    let names = std::fs::read_dir(tests)
        .unwrap()
        .map(|entry| entry.unwrap().file_name());
    let last = names
        .filter(|name| name.to_string_lossy().ends_with(".rs"))
        .max();
    assert_eq!(last.unwrap(), "what_was_skipped.rs");
}
