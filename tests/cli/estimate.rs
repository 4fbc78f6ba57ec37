//! `queenfold estimate`: its intervals, its output, its refusals.

use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::common::program::{printed, queenfold, refusal, tells, words};
use crate::common::skip::skipped;

fn estimate(args: &[&str]) -> Command {
    queenfold(&[&["estimate"], args].concat())
}

/// What the command prints on stdout. It must succeed and print nothing on stderr.
fn stdout(args: &[&str]) -> String {
    let output = estimate(args).output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    assert_eq!(printed(&output.stderr), "", "{output:?}");
    printed(&output.stdout)
}

fn estimated(args: &[&str]) -> Json {
    serde_json::from_str(&stdout(args)).expect("one JSON value")
}

#[test]
fn bad_flags_are_refused_in_one_line() {
    for (args, says) in [
        (&[][..], "-n"),
        (&["-n", "0"], "from 1 to 32"),
        (&["-n", "9..=8"], "write 8..=9"),
        (&["-n", "16", "--seed", "x"], "a whole number from 0"),
        (&["-n", "16", "--seed", "-1"], "a whole number from 0"),
        (&["-n", "16", "--workers", "0"], "0 workers"),
        (&["-n", "16", "--workers", "1025"], "from 0 to 1024"),
        (&["-n", "16", "--engine", "census"], "auto"),
        (&["-n", "16", "--gpu", "none"], "'--gpu"),
        (&["-n", "16", "--for", "0"], "'--for"),
        (&["-n", "16", "--for", "-1s"], "'--for"),
    ] {
        let line = refusal(&mut estimate(args), 2);
        assert!(line.contains(says), "{args:?}: {line}");
    }
    // Before anything is counted.
    refusal(&mut estimate(&["-n", "28", "--gpu", "63"]), 6);
}

#[test]
fn a_range_is_estimated_board_by_board() {
    let blocks = stdout(&["-n", "4..=6"]);
    let boards: Vec<_> = blocks
        .split("\n\n")
        .map(|block| block.lines().next().unwrap())
        .collect();
    for (board, n) in boards.iter().zip(4..) {
        assert!(board.contains(&format!("n = {n}, ")), "{board}");
    }
    assert_eq!(boards.len(), 3, "{blocks}");
    let lines = stdout(&["-n", "4..=6", "--json"]);
    let sizes = lines.lines().map(|line| {
        let record: Json = serde_json::from_str(line).expect("JSON");
        record["n"].as_u64().unwrap()
    });
    assert_eq!(sizes.collect::<Vec<_>>(), [4, 5, 6]);
}

#[test]
fn every_engine_gives_intervals_around_what_is_expected() {
    for (engine, n) in [
        ("chain", "14"),
        ("colour", "16"),
        ("auto", "15"),
        ("chain", "1"),
    ] {
        let record = estimated(&["-n", n, "--engine", engine, "--for", "1m", "--json"]);
        for field in ["core_seconds", "core_hours", "wall_seconds"] {
            let [low, expected, high] =
                ["low", "expected", "high"].map(|end| record[field][end].as_f64().unwrap());
            assert!(0.0 < low && low <= expected && expected < high, "{record}");
        }
        let sampled = record["sampled"].as_u64().unwrap();
        let tasks = record["tasks"].as_u64().unwrap();
        assert_eq!(sampled, tasks.min(1024), "{record}");
        if engine != "auto" {
            assert_eq!(record["engine"], engine);
        }
    }
}

#[test]
fn a_board_without_any_placement_takes_no_time() {
    let record = estimated(&["-n", "2", "--engine", "chain", "--json"]);
    for end in ["low", "expected", "high"] {
        assert_eq!(record["core_seconds"][end].as_f64(), Some(0.0), "{record}");
    }
}

#[test]
fn workers_divide_the_wall_time() {
    let wall = |workers| {
        let record = estimated(&["-n", "16", "--seed", "1", "--json", "--workers", workers]);
        let part = |field: &str| record[field]["expected"].as_f64().unwrap();
        assert_eq!(record["workers"].to_string(), workers);
        part("core_seconds") / part("wall_seconds")
    };
    assert!((wall("1") - 1.0).abs() < 1e-9);
    assert!((5.0..8.0).contains(&wall("8")));
}

#[test]
fn what_it_prints_names_the_sample_and_its_seed() {
    let text = stdout(&words!("-n 16 --engine colour --for 1m --seed 9"));
    for part in [
        "32 of 32 tasks",
        "seed 9",
        "CPU time",
        "wall time",
        "memory",
        "95 %",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_board_that_takes_less_than_its_sample_is_not_sampled() {
    let text = stdout(&["-n", "16", "--workers", "2"]);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].contains("n = 16, ") && lines[0].contains(" by the costs of its plan"));
    assert_eq!(
        lines[1],
        "wall time   under a second with 2 workers: run it, `queenfold run -n 16`"
    );
    // For other programs there are always numbers, as exact as they are.
    let record = estimated(&["-n", "16", "--json"]);
    assert!(record["core_seconds"]["expected"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_sample_ends_when_its_time_is_over() {
    let begun = Instant::now();
    let args = ["-n", "24", "--for", "300ms", "--seed", "1"];
    let record = estimated(&[&args[..], &["--json"]].concat());
    let text = stdout(&args);
    // All 1024 tasks take an hour.
    assert!(begun.elapsed() < Duration::from_secs(20), "{text}");
    assert_eq!(
        (&record["cut_short"], &record["drawn"]),
        (&"time".into(), &1024.into())
    );
    let counted = record["sampled"].as_u64().unwrap();
    assert!(counted < 1024, "{record}");
    assert_eq!(record["core_seconds"].is_null(), counted == 0, "{record}");
    // An hour to a day of one core: what its plan says at once.
    let by_plan = record["by_plan"]["core_seconds"].as_f64().unwrap();
    assert!((3600.0..86_400.0).contains(&by_plan), "{record}");
    assert!(text.starts_with("board       n = 24, "), "{text}");
    tells(&text, &[" core-hours by the costs of its plan"]);
}

#[test]
fn where_no_task_is_counted_the_plan_says_what_it_takes_and_which_time_is_enough() {
    // A task takes seconds.
    let args = ["-n", "28", "--for", "100ms", "--workers", "64"];
    let text = stdout(&args);
    let lines: Vec<_> = text.lines().collect();
    let sample = lines[1];
    assert!(
        sample.starts_with("sample      none of 1024 tasks"),
        "{text}"
    );
    assert!(sample.contains(": one takes about "), "{text}");
    assert!(sample.ends_with(" counts 10"), "{text}");
    for (line, name) in lines[2..].iter().zip(["CPU", "wall"]) {
        assert!(
            line.starts_with(name) && line.contains(", by the plan: "),
            "{text}"
        );
    }
    assert_eq!(lines.len(), 4, "{text}");

    let record = estimated(&[&args[..], &["--json"]].concat());
    assert_eq!(record["sampled"], 0, "{record}");
    assert_eq!(record["enough"]["tasks"], 10, "{record}");
    // Ten tasks of a few seconds, on one core or more, and what others leave of them.
    let time = record["enough"]["for_seconds"].as_f64().unwrap();
    assert!((10.0..36_000.0).contains(&time), "{record}");
}

#[test]
fn the_memory_of_a_counter_is_that_of_its_largest_task() {
    let record = estimated(&words!("-n 18 --engine colour --workers 1 --json"));
    let memory = &record["memory_per_worker"];
    if memory.is_null() {
        skipped("this system does not report the memory of a process");
        return;
    }
    let seen: u64 = memory["largest_seen"].as_str().unwrap().parse().unwrap();
    assert!((1 << 20..64 << 20).contains(&seen), "{record}");
    // What the largest of k tasks covers with 95 % confidence: 1 − covers^k = 0.95.
    let tasks = record["sampled"].as_u64().unwrap();
    let covers = memory["covers"].as_f64().unwrap();
    assert!((covers.powf(tasks as f64) - 0.05).abs() < 0.001, "{record}");
}

#[test]
fn the_log_says_what_devices_there_are() {
    let args = ["-n", "17", "--for", "500ms", "--gpu", "auto"];
    let output = estimate(&args)
        .env("QUEENFOLD_TRACE_FILTER", "info")
        .output()
        .expect("it starts");
    let said = printed(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains(" INFO queenfold::"), "{said}");
    assert!(!printed(&output.stdout).contains(" INFO "), "{output:?}");
}
