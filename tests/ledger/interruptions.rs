//! Runs that are killed, stopped, paused or disturbed by another process.

use std::hash::{BuildHasher, RandomState};
use std::io::{BufRead, BufReader, Read};
use std::time::Instant;

use serde_json::Value as Json;

use super::*;
use crate::common::program::{
    Running, of, status, tasks_done, text, wait_for_more, wait_until, words,
};

/// A number below `below`, a different one at each call.
fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}

/// Asserts that every earlier record is still there.
fn assert_kept(before: &[Entry], now: &[Entry]) {
    for entry in before {
        assert!(
            now.contains(entry),
            "a recorded task was counted again: {entry:?}"
        );
    }
}

/// Kills a run of `n` with `engine` repeatedly, each time `pause` after it made progress, and resumes it
/// with other workers and instruction sets. Then compares it with a run without interruption. Returns
/// the number of kills, which is smaller than `kills` if a fast machine finished first.
fn survive(n: &str, engine: &str, kills: u64, pause: u64, isas: &[&str]) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let isas: Vec<_> = isas
        .iter()
        .filter(|isa| isa.parse::<Isa>().unwrap().is_available())
        .collect();
    let mut log = Vec::new();
    let mut done = 0;
    let mut killed = 0;
    for kill in 0..kills {
        let workers = (1 + kill % 3).to_string();
        let isa = isas[kill as usize % isas.len()];
        let dir = text(&run);
        let how = ["--workers", &workers, "--isa", isa, "--quiet"];
        let mut what = vec!["resume", dir];
        if kill == 0 {
            what = vec!["run", "-n", n, "--engine", engine, "--dir", dir];
        }
        what.extend(how);
        let mut child = Running::start(&what);
        wait_until(|| tasks_done(&run) > done || child.try_wait().unwrap().is_some());
        std::thread::sleep(Duration::from_millis(random(pause)));
        if let Some(ended) = child.try_wait().unwrap() {
            assert!(ended.success(), "{ended}");
            break;
        }
        drop(child);
        killed += 1;
        let now = tasks_done(&run);
        assert!(now > done, "the share done grows from kill to kill");
        done = now;
        let kept = records(&run).unwrap();
        assert_kept(&log, &kept);
        log = kept;
        eprintln!("kill {kill}: {done} tasks done");
    }
    let (code, out, err) = of(&["resume", text(&run), "--json"]);
    assert_eq!(code, 0, "{err}");
    let result: Json = serde_json::from_str(&out).unwrap();
    let known = known(n.parse().unwrap()).unwrap();
    assert_eq!(result["total"], known.total.to_string());
    assert_eq!(result["unique"], known.unique.to_string());
    let one_piece = dir.path().join("one-piece");
    let (code, ..) = of(&words!(
        "run -n {} --engine {} --dir {}",
        n,
        engine,
        text(&one_piece)
    ));
    assert_eq!(code, 0);
    assert_eq!(signature(&run), signature(&one_piece));
    let whole = records(&run).unwrap();
    assert_kept(&log, &whole);
    assert_eq!(whole.len(), records(&one_piece).unwrap().len());
    killed
}

#[test]
fn a_colour_run_survives_being_killed_at_random_moments() {
    assert!(survive("18", "colour", 3, 100, &["portable"]) > 0);
}

#[test]
#[ignore = "takes minutes; run with `cargo test --release --test it -- --ignored killed_twenty`"]
fn a_chain_run_of_19_survives_being_killed_twenty_times() {
    let isas = ["portable", "avx2", "portable", "avx512"];
    assert_eq!(survive("19", "chain", 20, 2000, &isas), 20);
}

#[test]
fn ctrl_c_commits_and_names_the_command_that_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("it's a run");
    let run = text(&run);
    let isa = ["--isa", "portable", "--workers", "1"];
    let child = Running::start(
        &[
            ["run", "-n", "17", "--engine", "chain", "--dir", run].as_slice(),
            &isa,
        ]
        .concat(),
    );
    wait_for_more(Path::new(run), 0);
    child.send("-INT");
    let (code, out, err) = child.end();
    assert_eq!((code, out.as_str()), (4, ""), "{err}");
    let command = err.split('`').nth(1).unwrap();
    assert_eq!(
        command,
        format!("queenfold resume -- '{}'", run.replace('\'', "'\\''"))
    );
    let (code, out, err) = of(&["resume", run]);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
}

#[test]
fn a_run_whose_directory_is_removed_or_moved_stops_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let [run, moved] = ["run", "moved"].map(|name| dir.path().join(name));
    let how = ["--engine", "chain", "--isa", "portable", "--workers", "1"];
    // More than an hour.
    let long_run = [&["run", "-n", "20", "--dir", text(&run)], &how[..]].concat();
    let first = Running::start(&long_run);
    wait_for_more(&run, 0);
    let done = tasks_done(&run);
    std::fs::remove_dir_all(&run).unwrap();
    let begun = Instant::now();
    let (code, out, err) = first.end();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(begun.elapsed() < Duration::from_secs(300));
    let saved = format!("is saved in {}", run.display());
    assert!(err.contains("was removed") && err.contains(&saved), "{err}");
    assert!(tasks_done(&run) >= done);

    let second = Running::start(&[&["resume", text(&run)], &how[2..]].concat());
    wait_for_more(&run, tasks_done(&run));
    let done = tasks_done(&run);
    std::fs::rename(&run, &moved).unwrap();
    let (code, out, err) = second.end();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("was moved or replaced"), "{err}");
    assert!(tasks_done(&moved) >= done);
}

#[test]
#[ignore = "long: see CONTRIBUTING.md"]
fn a_run_goes_on_while_another_program_locks_its_ledger() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    // Other tests count while this one waits.
    let long_run = ["run", "-n", "20", "--nice", "19", "--dir", text(&run)];
    let how = ["--engine", "chain", "--isa", "portable", "--workers", "1"];
    let mut first = Running::start(&[&long_run[..], &how[..]].concat());
    wait_for_more(&run, 0);
    let other = super::sqlite(&run);
    other.busy_timeout(Duration::from_secs(120)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let done = tasks_done(&run);
    // SQLite waits for half a minute, and then the run says what it waits for.
    let mut said = BufReader::new(first.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("keeps the ledger locked") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    assert!(first.try_wait().unwrap().is_none());
    drop(other);
    wait_for_more(&run, done);
    first.send("-TERM");
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(first.end().0, 4, "{rest}");
}

#[test]
fn two_processes_do_not_work_on_one_directory() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let how = ["--isa", "portable", "--workers", "1"];
    let first = Running::start(&[&["run", "-n", "20", "--dir", text(&run)], &how[..]].concat());
    wait_for_more(&run, 0);
    let (code, out, err) = of(&["resume", text(&run)]);
    assert_eq!((code, out.as_str()), (1, ""));
    let holder = format!("process {}", first.id());
    assert!(err.contains("in use") && err.contains(&holder), "{err}");
    let (code, _, err) = of(&["run", "-n", "20", "--dir", text(&run)]);
    assert_eq!(code, 2, "{err}");
    // Other processes may read.
    let running = status(&run).unwrap();
    assert_eq!(running["state"], "running");
    assert!(running["workers"][0]["nodes_per_second"].as_f64().unwrap() > 0.0);
    assert!(running["checkpoint_age_seconds"].as_u64().unwrap() <= 120);
    assert_eq!(of(&["status", "--check", text(&run)]).0, 0);
    first.send("-KILL");
    first.end();
    assert_eq!(status(&run).unwrap()["state"], "stopped");
}

#[test]
fn a_signal_pauses_and_another_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    // Tasks take a tenth of a second, so a run that is not paused commits some of them in three seconds.
    let mut command = vec!["run", "-n", "19", "--engine", "chain", "--dir", text(&run)];
    command.extend(["--isa", "portable", "--workers", "1"]);
    let child = Running::start(&command);
    wait_for_more(&run, 0);
    child.send("-USR2");
    let since = Instant::now();
    let mut paused = tasks_done(&run);
    loop {
        std::thread::sleep(Duration::from_secs(3));
        let now = tasks_done(&run);
        if now == paused {
            break;
        }
        paused = now;
        assert!(
            since.elapsed() < Duration::from_secs(300),
            "it does not pause"
        );
    }
    child.send("-USR2");
    wait_for_more(&run, paused);
    child.send("-TERM");
    assert_eq!(child.end().0, 4);
}
