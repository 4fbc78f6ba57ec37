//! What a run may cost in addition to counting: memory, and the time to start.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[path = "common/isolated.rs"]
mod isolated;
#[path = "common/skip.rs"]
mod skip;

use skip::skipped;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use isolated::isolated;

fn queenfold(arguments: &[&str]) -> Command {
    let mut command = isolated(env!("CARGO_BIN_EXE_queenfold"));
    command
        .args(arguments)
        .current_dir(std::env::temp_dir())
        .stdout(Stdio::null());
    command.stderr(Stdio::null());
    command
}

/// Peak memory of a run, in KiB. `None` if the system does not report it.
fn peak_memory(arguments: &[&str]) -> Option<u64> {
    let mut child = queenfold(arguments).spawn().expect("the program starts");
    let status = format!("/proc/{}/status", child.id());
    let mut peak = None;
    while child.try_wait().expect("a child").is_none() {
        let now = std::fs::read_to_string(&status).ok().and_then(|text| {
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.trim().strip_suffix("kB")?.trim().parse().ok()
        });
        peak = peak.max(now);
        std::thread::sleep(Duration::from_millis(5));
    }
    peak
}

#[test]
fn a_chain_run_stays_below_64_mb_up_to_twenty_queens() {
    for n in ["14", "18", "20"] {
        let run = [
            "run",
            "-n",
            n,
            "--engine",
            "chain",
            "--workers",
            "2",
            "--time-limit",
            "700ms",
        ];
        match peak_memory(&run) {
            Some(peak) => assert!(peak < 64 * 1000, "n = {n}: {peak} KiB"),
            None => skipped("this system does not report the memory of a process"),
        }
    }
}

/// The shortest of twenty runs of eight queens, because other processes may use the cores.
fn fastest_start() -> Duration {
    let took = |_| {
        let start = Instant::now();
        let status = queenfold(&["run", "-n", "8"]).status();
        assert!(status.expect("the program starts").success());
        start.elapsed()
    };
    (0..20).map(took).min().expect("twenty")
}

#[test]
fn a_start_waits_for_nothing() {
    let fastest = fastest_start();
    assert!(fastest < Duration::from_secs(1), "{fastest:?}");
}

#[test]
#[ignore = "needs an idle core; run with cargo test --release --test limits -- --ignored"]
fn eight_queens_are_counted_within_50_ms_from_start_to_end() {
    let fastest = fastest_start();
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}

/// This plan has too many tasks to keep a bit for each of them.
#[test]
fn the_largest_plan_is_begun() {
    let mut run = queenfold(&[
        "run",
        "-n",
        "32",
        "--engine",
        "chain",
        "--workers",
        "1",
        "--gpu",
        "off",
    ])
    .spawn()
    .expect("the program starts");
    std::thread::sleep(Duration::from_secs(1));
    let ended = run.try_wait().expect("a child");
    run.kill().expect("a child");
    run.wait().expect("a child");
    assert_eq!(ended, None);
}
