//! How a run ends after a signal, or when nobody reads its output.

use std::io::{BufRead, BufReader};
use std::process::{Child, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::{send, spawn};
use crate::isolated::isolated;

/// A run of `n` queens that has begun to count.
fn running(n: &str) -> Child {
    let child = spawn(&["run", "-n", n, "--engine", "chain", "--workers", "1"]);
    let since = Instant::now();
    while !is_counting(child.id()).unwrap_or(since.elapsed() > Duration::from_secs(2)) {
        assert!(since.elapsed() < Duration::from_secs(60), "it never counts");
        thread::sleep(Duration::from_millis(10));
    }
    child
}

/// Whether the worker of this process has used CPU time. `None` if the system does not report it.
fn is_counting(process: u32) -> Option<bool> {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
    let counts = |thread: std::fs::DirEntry| {
        let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
        let used = stat.split_once("(worker-0) ")?.1.split(' ').nth(11)?;
        // In hundredths of a second. The start takes less than a tenth of a second.
        Some(used.parse::<u64>().ok()? >= 10)
    };
    Some(
        threads
            .flatten()
            .filter_map(counts)
            .any(|counting| counting),
    )
}

fn end(child: Child) -> (Option<i32>, Output) {
    let output = child.wait_with_output().expect("it ends");
    (output.status.code(), output)
}

#[test]
fn the_first_signal_stops_without_a_result() {
    for signal in ["-INT", "-TERM", "-HUP", "-USR1"] {
        let child = running("20");
        send(signal, &child);
        let (code, output) = end(child);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(code, Some(4), "{signal}: {said}");
        assert!(output.stdout.is_empty(), "{signal}");
        assert!(said.contains("nothing is kept"), "{said}");
    }
}

#[test]
fn the_second_signal_ends_at_once() {
    // A task of this board takes longer than the test needs to send the second signal.
    let mut child = running("27");
    send("-INT", &child);
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.contains("once more") {
        line.clear();
        assert!(said.read_line(&mut line).expect("a line") > 0);
    }
    send("-INT", &child);
    assert_eq!(end(child).0, Some(130));
}

#[test]
fn a_board_that_takes_weeks_is_announced_and_stops_in_time() {
    let limited = |n, more: &[&str]| {
        let since = Instant::now();
        let args = ["run", "-n", n, "--workers", "1", "--time-limit", "100ms"];
        let (code, output) = end(spawn(&[&args, more].concat()));
        assert_eq!(code, Some(4));
        (
            since.elapsed(),
            String::from_utf8(output.stderr).expect("text"),
        )
    };
    for n in ["28", "32"] {
        let (took, said) = limited(n, &[]);
        // Two seconds on a machine that has nothing else to do.
        assert!(took < Duration::from_secs(5), "n = {n}: {took:?}");
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        for part in [
            "years on 1 worker",
            "`queenfold estimate -n ",
            "--dir DIR",
            "--shard I/K",
        ] {
            assert!(lines[0].contains(part), "{part}: {said}");
        }
        // The task in hand had a second to end, and some tasks are that small.
        let given_up = lines[1].contains("1 unfinished task given up (");
        let counted = !lines[1].contains("with 0 of ");
        assert!(given_up || counted, "{said}");
    }
    // Forty to sixty days.
    let (_, said) = limited("26", &[]);
    assert!(
        said.contains(" d ") && said.contains("on 1 worker"),
        "{said}"
    );
    for (n, more) in [("20", &[][..]), ("27", &["--quiet"])] {
        let (_, said) = limited(n, more);
        assert!(!said.contains("costs of its plan"), "{said}");
    }
}

/// The program with these arguments, after the shell did `first`.
fn in_shell(first: &str, args: &[&str]) -> Child {
    isolated("sh")
        .args(["-c", &format!("{first}; exec \"$0\" \"$@\"")])
        .arg(env!("CARGO_BIN_EXE_queenfold"))
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell")
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
    let mut child = spawn(&["run", "-n", "1..=14", "--json"]);
    drop(child.stdout.take());
    let (code, output) = end(child);
    assert_eq!(code, Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
