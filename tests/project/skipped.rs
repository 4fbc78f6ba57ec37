//! The summary of skipped tests at the end of `cargo test`.

#[path = "../what_was_skipped/summary.rs"]
mod summary;

#[test]
fn the_summary_lists_each_reason_once_with_its_tests() {
    let notes = "engines\tchain::b\tthis machine has no avx512\n\
                 engines\tchain::a\tthis machine has no avx512\n\
                 engines\tchain::b\tthis machine has no avx512\n\
                 ledger\tdisks::full\tonly root can mount a file system\n";
    assert_eq!(
        summary::of(notes),
        "Skipped: 3 tests that are listed as ok were skipped, as a whole or in part.\n  \
           only root can mount a file system:\n    ledger disks::full\n  \
           this machine has no avx512:\n    engines chain::a\n    engines chain::b"
    );
    assert_eq!(summary::of(""), "Skipped: nothing.");
}

/// Test programs run in the order of their names.
#[test]
fn the_summary_is_the_last_test_program() {
    let tests = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
    let names = std::fs::read_dir(tests).unwrap().map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.trim_end_matches(".rs").to_owned()
    });
    let last = names.filter(|name| name != "common").max();
    assert_eq!(last.as_deref(), Some("what_was_skipped"));
}
