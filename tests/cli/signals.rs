//! How a run ends after a signal, or when nobody reads its output.

use std::io::{BufRead, BufReader};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use super::threads::wait_for_thread;
use crate::common::program::{PROGRAM, Running, isolated, words};

/// A run of `n` queens that has begun to count.
fn running(n: &str) -> Running {
    let mut child = Running::start(&words!("run -n {} --yes --engine chain --workers 1", n));
    // The start takes less than a tenth of a second.
    wait_for_thread(&mut child, "worker-0", 10);
    child
}

fn end(child: Running) -> (Option<i32>, Output) {
    let output = child.output();
    (output.status.code(), output)
}

#[test]
fn the_first_signal_stops_without_a_result() {
    for signal in ["-INT", "-TERM", "-HUP", "-USR1", "-XCPU"] {
        let child = running("20");
        child.send(signal);
        let (code, output) = end(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code, Some(4), "{signal}: {said}");
        assert!(output.stdout.is_empty(), "{signal}");
        assert!(said.contains("nothing is kept"), "{said}");
    }
}

#[test]
fn a_search_for_boards_that_is_stopped_says_what_is_not_printed() {
    let of = [
        (
            &["--seed", "random", "--json"][..],
            "what it searched for is not printed",
        ),
        (
            &["--seed", "random", "--svg"],
            "what it searched for is not printed",
        ),
        (&["--seed", "random"], "no more boards are printed"),
    ];
    for (how, why) in of {
        let args = [&["solve", "-n", "28", "--count", "100000"], how].concat();
        let child = Running::start(&args);
        std::thread::sleep(Duration::from_millis(500));
        child.send("-INT");
        let (code, output) = end(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code, Some(4), "{said}");
        assert_eq!(said, format!("stopped by a signal: {why}\n"));
        assert!(output.stdout.is_empty());
    }
}

/// Sends a second signal as soon as the program says what it would do. Returns the exit code.
fn interrupted_twice() -> Option<i32> {
    let mut child = running("27");
    child.send("-INT");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("a second Ctrl-C ends it") {
        line.clear();
        assert!(said.read_line(&mut line).expect("a line") > 0);
    }
    child.send("-INT");
    end(child).0
}

#[test]
fn the_second_signal_ends_at_once() {
    // On a busy machine, and with a small task in hand, the run may be over before the second signal.
    let codes: Vec<_> = (0..20)
        .map(|_| interrupted_twice())
        .take_while(|code| *code != Some(130))
        .collect();
    assert!(codes.len() < 20, "{codes:?}");
    assert!(codes.iter().all(|code| *code == Some(4)), "{codes:?}");
}

#[test]
fn two_signals_of_a_scheduler_are_one() {
    let pairs = [["-TERM", "-TERM"], ["-USR1", "-TERM"], ["-XCPU", "-XCPU"]];
    let children: Vec<_> = pairs.map(|pair| (pair, running("27"))).into();
    for at in 0..2 {
        for (pair, child) in &children {
            child.send(pair[at]);
        }
        std::thread::sleep(Duration::from_millis(300));
    }
    for (pair, child) in children {
        let (code, output) = end(child);
        assert_eq!(code, Some(4), "{pair:?}: {output:?}");
    }
}

#[test]
fn a_board_that_takes_years_stops_in_time() {
    for n in ["30", "32"] {
        let since = Instant::now();
        let args = ["run", "-n", n, "--workers", "1", "--time-limit", "100ms"];
        let (code, output) = end(Running::start(&args));
        assert_eq!(code, Some(4));
        // Two seconds on a machine that has nothing else to do.
        let took = since.elapsed();
        assert!(took < Duration::from_secs(60), "n = {n}: {took:?}");
        let said = String::from_utf8(output.stderr).expect("text");
        // Whether the task in hand is given up depends on the machine: a slow one has not begun it yet, and
        // a fast one may count it in the second that it has.
        let stopped = said.starts_with("stopped by the time limit after ");
        assert!(stopped && said.contains("nothing is kept"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

/// The program with these arguments, after the shell did `first`.
fn in_shell(first: &str, args: &[&str]) -> Running {
    let mut shell = isolated("sh");
    shell
        .args(["-c", &format!("{first}; exec \"$0\" \"$@\"")])
        .arg(PROGRAM)
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Running::of(&mut shell)
}

#[test]
fn a_file_that_grows_beyond_its_limit_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let dir = dir.to_str().expect("UTF-8");
    let args = ["run", "-n", "14", "--workers", "1", "--dir", dir];
    let (code, output) = end(in_shell("ulimit -f 16", &args));
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(code, Some(1), "{said}");
    assert!(output.stdout.is_empty());
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = Running::start(&["run", "-n", "1..=14", "--json"]);
    drop(child.stdout.take());
    let (code, output) = end(child);
    assert_eq!(code, Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
