//! What a user sees when a run goes wrong: the exact count or none.
//!
//! Needs a feature: `cargo test --release --features fault-injection --test cli faults::`.

use std::process::Output;

use crate::program::{queenfold, text};

fn run(faults: &str, arguments: &[&str]) -> Output {
    queenfold(&[&["run"], arguments].concat())
        .env("INJECT_FAULTS", faults)
        .output()
        .expect("it starts")
}

/// Asserts that the run exits with `code`, prints nothing on stdout, and prints one error line that
/// contains each of `said`.
fn assert_no_result(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    let errors: Vec<_> = stderr
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "{output:?}");
    for word in said {
        assert!(errors[0].contains(word), "{}", errors[0]);
    }
}

#[test]
fn panics_in_a_tenth_of_the_tasks_leave_the_count_exact() {
    let output = run("panics=0.1", &["-n", "14", "--engine", "chain", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text(&output.stdout).contains("365596"), "{output:?}");
    assert!(text(&output.stdout).contains("45752"), "{output:?}");
}

#[test]
fn a_task_that_panics_in_every_try_ends_the_run_with_its_ranks_and_no_total() {
    for workers in ["1", "2"] {
        let output = run(
            "panics=0.1,tries=9",
            &["-n", "14", "--engine", "chain", "--workers", workers],
        );
        assert_no_result(&output, 1, &["ranks", "injected panic"]);
        let output = run(
            "panics=0.1,tries=9",
            &[
                "-n",
                "14",
                "--engine",
                "chain",
                "--json",
                "--workers",
                workers,
            ],
        );
        assert_no_result(&output, 1, &["ranks"]);
    }
}

#[test]
fn a_wrong_count_ends_with_3_and_is_not_printed() {
    for arguments in [
        &["-n", "10"][..],
        &["-n", "10", "--no-unique"],
        &["-n", "10", "--json"],
    ] {
        let output = run("errors=1", arguments);
        assert_no_result(&output, 3, &["n = 10", "732", "724 is known"]);
    }
}

#[test]
fn boards_counted_before_the_failure_are_still_printed() {
    let output = run(
        "panics=0.02,tries=9",
        &["-n", "8..=16", "--engine", "chain", "--workers", "2"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stdout).contains("\n 8:"), "{output:?}");
    assert!(!text(&output.stdout).contains("16:"), "{output:?}");
}
