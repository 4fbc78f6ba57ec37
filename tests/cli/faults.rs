//! What a user sees when a run goes wrong: the exact count, or none.
//!
//! Needs the test hook: `cargo test --release --features fault-injection`.

use std::process::{Command, Output};

fn run(faults: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_queenfold"))
        .arg("run")
        .args(arguments)
        .env("INJECT_FAULTS", faults)
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the program starts")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).expect("text")
}

/// Nothing on stdout, one line on stderr that contains each of `said`, this exit code.
fn assert_no_result(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(text(&output.stdout), "");
    let errors: Vec<_> = text(&output.stderr)
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
