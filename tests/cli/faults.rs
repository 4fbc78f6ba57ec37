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
        let output = run("errors=1000000", arguments);
        assert_no_result(&output, 3, &["n = 10", "732", "724 is known"]);
    }
}

#[test]
fn a_worker_that_counts_wrongly_is_named_and_the_result_is_exact() {
    // The canaries at the start, 65 counts, are right.
    let faults = "sick=worker-1,wrong=1,after=24";
    let common = [
        "-n",
        "15",
        "--engine",
        "chain",
        "--workers",
        "2",
        "--gpu",
        "off",
    ];
    let mut named = false;
    for _ in 0..100 {
        let output = run(faults, &[&common[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["total"], "2279184");
        let sick = json["sick"].as_array().unwrap();
        // A worker that got nothing to count is not tested again.
        if let Some(sick) = sick.first() {
            assert_eq!(sick["worker"], "worker-1");
            assert!(sick["counted_by"].is_string());
            let stderr = text(&output.stderr);
            assert!(
                stderr.contains("n = 15: worker-1 counted wrongly"),
                "{stderr}"
            );
            assert!(
                stderr.contains("worker-1 counts wrongly and is taken out"),
                "{stderr}"
            );
            named = true;
            break;
        }
    }
    assert!(named);
}

#[test]
fn one_worker_alone_that_counts_wrongly_ends_with_3_and_is_named() {
    let output = run(
        "sick=worker-0,wrong=1,after=24",
        &[
            "-n",
            "14",
            "--engine",
            "chain",
            "--workers",
            "1",
            "--gpu",
            "off",
            "--quiet",
        ],
    );
    assert_no_result(&output, 3, &["worker-0 counted wrongly", "canary"]);
}

#[test]
fn a_single_wrong_count_is_found_and_corrected() {
    let output = run("errors=1", &["-n", "12", "--json", "--gpu", "off"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&json["total"], &json["corrected"]),
        (&"14200".into(), &1.into())
    );
    let stderr = text(&output.stderr);
    assert!(
        stderr.contains("14208, but 14200 is known; tasks are counted again"),
        "{stderr}"
    );
    assert!(stderr.contains("1 count corrected"), "{stderr}");
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

#[test]
fn a_wrong_count_in_a_directory_is_found_and_corrected_by_a_second_one() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let dir = dir.to_str().unwrap();
    // A shard has no total whose contradiction would lead to the wrong count.
    let shard = [
        "-n", "14", "--engine", "chain", "--shard", "0/2", "--dir", dir,
    ];
    let output = run("errors=1", &shard);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let output = queenfold(&["run", "--again", dir]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = text(&output.stderr);
    for word in ["the record is replaced", "queenfold verify", "/worker-"] {
        assert!(said.contains(word), "{said}");
    }
}
