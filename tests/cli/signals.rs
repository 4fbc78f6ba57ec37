//! How a run ends after a signal, or when nobody reads its output.

use std::io::{BufRead, BufReader};
use std::process::{Child, Output};
use std::thread;
use std::time::{Duration, Instant};

use crate::child::{send, spawn};

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
    for signal in ["-INT", "-TERM", "-USR1"] {
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
    said.read_line(&mut line).expect("a line");
    assert!(line.contains("once more"), "{line}");
    send("-INT", &child);
    assert_eq!(end(child).0, Some(130));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = spawn(&["run", "-n", "1..=14", "--json"]);
    drop(child.stdout.take());
    let (code, output) = end(child);
    assert_eq!(code, Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
