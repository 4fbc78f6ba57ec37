//! What a run may cost in addition to counting: memory, and the time to start.

use crate::common::program::{PROGRAM, isolated, words};
use crate::common::skip::skipped;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn queenfold(arguments: &[&str]) -> Command {
    let mut command = isolated(PROGRAM);
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
        let run = words!("run -n {} --engine chain --workers 2 --time-limit 700ms", n);
        match peak_memory(&run) {
            Some(peak) => assert!(peak < 64 * 1000, "n = {n}: {peak} KiB"),
            None => skipped("this system does not report the memory of a process"),
        }
    }
}

/// Limits on the address space, in KiB: where the program cannot start its threads, where it can, and where the
/// allocator of each thread would reserve more than there is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPACES: [u32; 12] = [
    22_000, 24_000, 26_000, 28_000, 30_000, 34_000, 38_000, 42_000, 50_000, 60_000, 100_000,
    160_000,
];

#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn an_address_space_that_is_too_small_gives_one_line_and_no_abort() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run").display().to_string();
    let queenfold = PROGRAM;
    let begun = queenfold_output(&["run", "-n", "12", "--dir", &dir]);
    assert!(begun.status.success(), "{begun:?}");
    let commands = ["run -n 16 -q".to_owned(), format!("resume -q {dir}")];
    for (space, command) in SPACES
        .iter()
        .flat_map(|space| commands.iter().map(move |c| (space, c)))
    {
        for workers in ["", "--workers 1", "--workers 2", "--workers 40"] {
            let script =
                format!("ulimit -v {space}; exec {queenfold} {command} {workers} --gpu off");
            let output = isolated("sh")
                .args(["-c", &script])
                .output()
                .expect("a shell");
            let said = String::from_utf8_lossy(&output.stderr);
            let what = format!(
                "{space} KiB, {command} {workers}: {:?} {said}",
                output.status
            );
            match output.status.code() {
                Some(0) => assert!(!output.stdout.is_empty(), "{what}"),
                Some(1) => {
                    assert!(
                        said.starts_with("error: ") && said.lines().count() == 1,
                        "{what}"
                    );
                    let is_enough = *space >= 50_000 && workers != "--workers 40";
                    assert!(said.contains("address space") && !is_enough, "{what}");
                }
                // Not even its libraries fit.
                Some(127) => assert!(said.contains("loading shared libraries"), "{what}"),
                _ => panic!("{what}"),
            }
        }
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn queenfold_output(arguments: &[&str]) -> std::process::Output {
    let mut command = isolated(PROGRAM);
    command.args(arguments).current_dir(std::env::temp_dir());
    command.output().expect("the program starts")
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
#[ignore = "needs an idle core; run with cargo test --release --test alone -- --ignored limits::"]
fn eight_queens_are_counted_within_50_ms_from_start_to_end() {
    let fastest = fastest_start();
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}

/// This plan has too many tasks to keep a bit for each of them.
#[test]
fn the_largest_plan_is_begun() {
    let mut run = queenfold(&words!(
        "run -n 32 --yes --engine chain --workers 1 --gpu off"
    ))
    .spawn()
    .expect("the program starts");
    std::thread::sleep(Duration::from_secs(1));
    let ended = run.try_wait().expect("a child");
    run.kill().expect("a child");
    run.wait().expect("a child");
    assert_eq!(ended, None);
}
