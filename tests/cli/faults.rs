//! What a user sees when a run goes wrong: the exact count or none.
//!
//! The long test of boards of which nothing is known: `cargo test --release --test it -- --ignored --nocapture cli::faults::`

use std::collections::BTreeMap;
use std::process::Output;

use fastrand::Rng;
use queenfold::board::{GivenBoard, Size};

use crate::common::cases::random_cases;
use crate::common::completions::{completions, counts};
use crate::common::program::{faulty, printed, queenfold, tells, words};
use crate::common::random_board::random_board;

fn run(faults: &str, arguments: &[&str]) -> Output {
    with_faults(faults, &[&["run"], arguments].concat())
}

fn with_faults(faults: &str, arguments: &[&str]) -> Output {
    let mut program = faulty(arguments, "FAULTS", faults);
    program.output().expect("it starts")
}

/// Asserts that the run exits with `code`, prints nothing on stdout, and prints one error line that
/// contains each of `said`.
fn assert_no_result(output: &Output, code: i32, said: &[&str]) {
    assert_eq!(output.status.code(), Some(code), "{output:?}");
    assert_eq!(printed(&output.stdout), "");
    let stderr = printed(&output.stderr);
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
fn a_task_that_panics_in_every_try_ends_the_run_with_its_ranks_and_no_total() {
    for workers in ["1", "2"] {
        let output = run(
            "panics=0.1,again=8",
            &["-n", "14", "--engine", "chain", "--workers", workers],
        );
        assert_no_result(&output, 1, &["ranks", "injected panic"]);
        let output = run(
            "panics=0.1,again=8",
            &words!("-n 14 --engine chain --json --workers {}", workers),
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
    let faults = "faulty=worker-1,wrong=1,after=24";
    let common = words!("-n 15 --engine chain --workers 2 --gpu off");
    let mut named = false;
    for _ in 0..100 {
        let output = run(faults, &[&common[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["total"], "2279184");
        let faulty = json["faulty"].as_array().unwrap();
        // A worker that got nothing to count is not tested again.
        if let Some(faulty) = faulty.first() {
            assert_eq!(faulty["worker"], "worker-1");
            assert!(faulty["counted_by"].is_string());
            let stderr = printed(&output.stderr);
            tells(&stderr, &["n = 15: worker-1 is faulty"]);
            tells(&stderr, &["worker-1 is faulty and counts nothing more"]);
            named = true;
            break;
        }
    }
    assert!(named);
}

#[test]
fn one_worker_alone_that_counts_wrongly_ends_with_3_and_is_named() {
    let output = run(
        "faulty=worker-0,wrong=1,after=24",
        &words!("-n 14 --engine chain --workers 1 --gpu off --quiet"),
    );
    assert_no_result(&output, 3, &["worker-0 is faulty", "canary"]);
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
    let stderr = printed(&output.stderr);
    tells(
        &stderr,
        &["14208, but 14200 is known; tasks are counted again"],
    );
    assert!(stderr.contains("1 count corrected"), "{stderr}");
}

#[test]
fn boards_counted_before_the_failure_are_still_printed() {
    let output = run(
        "panics=0.02,again=8",
        &["-n", "8..=16", "--engine", "chain", "--workers", "2"],
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(printed(&output.stdout).contains("\n 8:"), "{output:?}");
    assert!(!printed(&output.stdout).contains("16:"), "{output:?}");
}

/// Larger boards, of which the independent counter of a review and this program, without faults, count so many.
const LARGER: [(&str, &[&str], u128); 3] = [
    ("16", &["--queens", "c3,e8"], 62_089),
    ("16", &["--queens", "e3", "--no-unique"], 974_356),
    ("17", &["--queens", "c3,e8"], 346_600),
];

#[test]
fn a_single_wrong_second_count_is_outvoted_where_nothing_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run").to_str().unwrap().to_owned();
    let board = ["-n", "12", "--queens", "c3", "--engine", "colour"];
    let first = run("panics=0", &[&board[..], &["--dir", &dir]].concat());
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    // One error in all, also where a third count decides.
    let again = with_faults("errors=1", &["verify", "--again", &dir]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    assert!(printed(&again.stdout).contains("1228"), "{again:?}");
    assert!(
        printed(&again.stderr).contains("the record stays"),
        "{again:?}"
    );
}

/// A board of which nothing is known, as words of the command line, and its total.
fn random_given(random: &mut Rng) -> (Vec<String>, u128) {
    if let Some((n, given, total)) = LARGER.get(random.usize(..20)) {
        let words = [&["-n", *n], *given].concat();
        return (words.into_iter().map(str::to_owned).collect(), *total);
    }
    let n = Size::new(random.u32(7..=12)).unwrap();
    loop {
        let symmetric = random.bool();
        let board = random_board(n, random, symmetric);
        let total = counts(&board, &completions(board)).total;
        if board != GivenBoard::free(n) && total > 0 {
            let [queens, holes] = board.names();
            let mut words = vec!["-n".to_owned(), n.to_string()];
            for (flag, squares) in [("--queens", queens), ("--holes", holes)] {
                if !squares.is_empty() {
                    words.extend([flag.to_owned(), squares]);
                }
            }
            return (words, total);
        }
    }
}

/// Counts wrong ones, or a worker that counts wrongly now and then, whether its canaries are right or not.
fn random_faults(workers: u32, random: &mut Rng) -> String {
    if random.bool() {
        let errors = [1, 2, 5, 50, 100_000][random.usize(..5)];
        return format!("errors={errors}");
    }
    let faulty = random.u32(..workers);
    let wrong = ["0.01", "0.1", "0.5", "1"][random.usize(..4)];
    let after = [0, 0, 24, 66][random.usize(..4)];
    let tame = random.u32(..3) > 0;
    format!("faulty=worker-{faulty},wrong={wrong},after={after},tame={tame}")
}

/// Counts a board of which nothing is known with random faults. The total is right, or there is none; then a run
/// in a directory goes on without faults, and ends right. Says which.
fn right_or_refused(random: &mut Rng) -> &'static str {
    let (board, total) = random_given(random);
    let total = total.to_string();
    let workers = random.u32(1..=3);
    let faults = random_faults(workers, random);
    let (engine, workers) = (["chain", "colour"][random.usize(..2)], workers.to_string());
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let dir = dir.to_str().unwrap();
    let in_directory = random.u32(..3) == 0;
    let mut words: Vec<&str> = board.iter().map(String::as_str).collect();
    words.extend(words!(
        "--engine {} --workers {} --json --gpu off",
        engine,
        &workers
    ));
    words.extend(["--dir", dir].iter().filter(|_| in_directory));
    let output = run(&faults, &words);
    let end = |output: &Output| {
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["total"], total, "{faults} {words:?}: {output:?}");
        assert_eq!(found["checked"], "twice", "{faults} {words:?}: {output:?}");
        found["corrected"].as_u64().unwrap()
    };
    match output.status.code() {
        Some(0) => match end(&output) {
            0 => "right",
            _ => "corrected",
        },
        _ => {
            assert_no_result(&output, 3, &[]);
            if in_directory {
                let resumed = queenfold(&["resume", dir, "--json", "--workers", "2"]);
                end(&{ resumed }.output().unwrap());
                return "refused, right when resumed";
            }
            "refused"
        }
    }
}

#[test]
fn faults_that_no_canary_shows_give_no_wrong_total_where_nothing_is_known() {
    for (words, total) in [
        (&["-n", "12", "--queens", "c3"][..], "1228"),
        (&["-n", "10", "--holes", "a1", "--engine", "colour"], "660"),
    ] {
        for workers in ["1", "2"] {
            let words = [words, &["--workers", workers, "--json", "--gpu", "off"]].concat();
            let output = run("faulty=worker-0,wrong=1,tame=true", &words);
            match (workers, output.status.code()) {
                ("1", _) => assert_no_result(&output, 3, &["by worker-0 with"]),
                (_, Some(0)) => {
                    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
                    assert_eq!(found["total"], total, "{output:?}");
                }
                _ => assert_no_result(&output, 3, &[]),
            }
        }
    }
    random_cases(10, right_or_refused);
}

#[test]
#[ignore = "long: see the head of this file"]
fn two_hundred_runs_with_faults_where_nothing_is_known_give_no_wrong_total() {
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for end in random_cases(200, right_or_refused) {
        *ends.entry(end).or_default() += 1;
    }
    println!("{ends:?}");
}
