//! The program itself: it is killed, stopped or out of space; and the exit codes of its commands.

use std::hash::{BuildHasher, RandomState};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use serde_json::Value as Json;

use super::*;
use crate::skip::skipped;

fn queenfold(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_queenfold"));
    command
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn output(arguments: &[&str]) -> Output {
    queenfold(arguments).output().unwrap()
}

/// A process of a test. It is killed if the test ends first.
struct Running(Option<Child>);

impl Running {
    fn start(arguments: &[&str]) -> Self {
        Self(Some(queenfold(arguments).spawn().unwrap()))
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    fn send(&mut self, signal: &str) {
        let pid = self.child().id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    fn end(mut self) -> (i32, String, String) {
        said(&self.0.take().unwrap().wait_with_output().unwrap())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// Exit code, stdout, stderr.
fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

fn of(arguments: &[&str]) -> (i32, String, String) {
    said(&output(arguments))
}

pub fn text(dir: &Path) -> &str {
    dir.to_str().unwrap()
}

fn status(dir: &Path) -> Option<Json> {
    let (code, out, _) = of(&["status", text(dir), "--json"]);
    (code == 0).then(|| serde_json::from_str(&out).unwrap())
}

pub fn tasks_done(dir: &Path) -> u64 {
    status(dir).map_or(0, |status| status["tasks_done"].as_u64().unwrap())
}

/// Waits until more than `tasks` are committed.
pub fn wait_for_more(dir: &Path, tasks: u64) {
    wait_until(|| tasks_done(dir) > tasks);
}

fn wait_until(mut comes: impl FnMut() -> bool) {
    let since = Instant::now();
    while !comes() {
        assert!(since.elapsed() < Duration::from_secs(300), "no progress");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A number below `below`, a different one at each call.
fn random(below: u64) -> u64 {
    RandomState::new().hash_one(0) % below
}

/// Asserts that every line of the earlier log is still in the present log.
fn assert_kept(before: &str, now: &str) {
    for line in before.lines().filter(|line| !line.contains("signature")) {
        assert!(
            now.contains(line),
            "a recorded task was counted again: {line}"
        );
    }
}

/// Kills a run of `n` with `engine` repeatedly, each time `pause` after it made progress, and resumes it
/// with other workers and instruction sets. Then compares it with a run without interruption. Returns
/// the number of kills, which is smaller than `kills` if the run finished first.
fn survive(n: &str, engine: &str, kills: u64, pause: u64, isas: &[&str]) -> u64 {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let isas: Vec<_> = isas
        .iter()
        .filter(|isa| isa.parse::<Isa>().unwrap().is_available())
        .collect();
    let mut log = String::new();
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
        wait_until(|| tasks_done(&run) > done || child.child().try_wait().unwrap().is_some());
        std::thread::sleep(Duration::from_millis(random(pause)));
        if let Some(ended) = child.child().try_wait().unwrap() {
            assert!(ended.success(), "{ended}");
            break;
        }
        drop(child);
        killed += 1;
        let now = tasks_done(&run);
        assert!(now > done, "the share done grows from kill to kill");
        done = now;
        let (code, out, _) = of(&["export", dir]);
        assert_eq!(code, 0);
        assert_kept(&log, &out);
        log = out;
        eprintln!("kill {kill}: {done} tasks done");
    }
    let (code, out, err) = of(&["resume", text(&run), "--json"]);
    assert_eq!(code, 0, "{err}");
    let result: Json = serde_json::from_str(&out).unwrap();
    let known = known(n.parse().unwrap()).unwrap();
    assert_eq!(result["total"], known.total.to_string());
    assert_eq!(result["unique"], known.unique.to_string());
    let one_piece = dir.path().join("one-piece");
    let (code, ..) = of(&[
        "run",
        "-n",
        n,
        "--engine",
        engine,
        "--dir",
        text(&one_piece),
    ]);
    assert_eq!(code, 0);
    assert_eq!(signature(&run), signature(&one_piece));
    let (_, out, _) = of(&["export", text(&run)]);
    assert_kept(&log, &out);
    let lines = out.lines().count() as u64;
    let tasks = records(&one_piece).unwrap().len() as u64;
    assert_eq!(lines, tasks + 1, "a line for each task, and the signature");
    killed
}

#[test]
fn a_chain_run_survives_being_killed_at_random_moments() {
    // A board that even a fast machine does not finish before the last kill.
    assert_eq!(survive("18", "chain", 3, 100, &["portable"]), 3);
}

#[test]
fn a_join_run_survives_being_killed_at_random_moments() {
    assert_eq!(survive("19", "join", 3, 100, &["portable"]), 3);
}

#[test]
#[ignore = "takes minutes; run with `cargo test --release --test ledger -- --ignored killed_twenty`"]
fn a_chain_run_of_19_survives_being_killed_twenty_times() {
    let isas = ["portable", "avx2", "portable", "avx512"];
    assert_eq!(survive("19", "chain", 20, 2000, &isas), 20);
}

#[test]
#[ignore = "takes minutes; run with `cargo test --release --test ledger -- --ignored killed_twenty`"]
fn a_join_run_of_20_survives_being_killed_twenty_times() {
    assert_eq!(survive("20", "join", 20, 2000, &["portable", "avx2"]), 20);
}

#[test]
#[ignore = "takes two hours; run with `cargo test --release --test ledger -- --ignored --nocapture soak`"]
fn a_soak_of_two_hours_shows_no_difference() {
    let since = Instant::now();
    let (mut rounds, mut kills) = (0, 0);
    while since.elapsed() < Duration::from_secs(2 * 3600) {
        kills += survive("18", "chain", 6, 1500, &["portable"]);
        kills += survive("19", "join", 6, 1500, &["portable"]);
        rounds += 1;
        let seconds = since.elapsed().as_secs();
        eprintln!("round {rounds}, {kills} kills after {seconds} s");
    }
}

#[test]
fn ctrl_c_commits_and_names_the_command_that_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("it's a run");
    let run = text(&run);
    let isa = ["--isa", "portable", "--workers", "1"];
    let mut child = Running::start(
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
    // Runs the command as a shell does.
    let shell = command.replacen("queenfold", env!("CARGO_BIN_EXE_queenfold"), 1);
    let resumed = Command::new("sh").args(["-c", &shell]).output().unwrap();
    let (code, out, err) = said(&resumed);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
}

#[test]
fn a_run_whose_directory_is_gone_gives_no_total() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let how = ["--engine", "chain", "--isa", "portable", "--workers", "1"];
    let run_of_17 = [&["run", "-n", "17", "--dir", text(&run)], &how[..]].concat();
    let first = Running::start(&run_of_17);
    wait_for_more(&run, 0);
    std::fs::remove_dir_all(&run).unwrap();
    let (code, out, err) = first.end();
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("no run"), "{err}");
}

#[test]
fn missing_tasks_are_listed_line_by_line() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let (code, out, err) = of(&["run", "-n", "13", "--shard", "0/3", "--dir", text(&run)]);
    assert_eq!((code, out.as_str()), (4, ""));
    let listed: Vec<_> = err
        .lines()
        .filter(|line| line.starts_with("shard 1/3: ") || line.starts_with("shard 2/3: "))
        .collect();
    assert!(listed.len() == 2 && !err.contains("\\n"), "{err}");
}

#[cfg(feature = "emulated-gpu")]
#[test]
fn with_an_audit_of_1_every_task_of_a_device_and_its_host_is_counted_twice() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let device = ["--gpu", "emulated", "--workers", "0", "--engine", "chain"];
    let command = [&["run", "-n", "12", "--dir", text(&run)], &device[..]].concat();
    let output = queenfold(&command)
        .env("QUEENFOLD_RUN_AUDIT", "1")
        .output()
        .unwrap();
    let (code, _, err) = said(&output);
    assert_eq!(code, 0, "{err}");
    for record in records(&run).unwrap() {
        let second = record.result.audited_by.expect("counted twice");
        assert!(
            !record.result.origin.counted_by.is_kernel(second.as_str()),
            "{}",
            record.result.key
        );
    }
}

#[test]
fn two_processes_do_not_work_on_one_directory() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let mut first = Running::start(&["run", "-n", "19", "--dir", text(&run), "--isa", "portable"]);
    wait_for_more(&run, 0);
    let (code, out, err) = of(&["resume", text(&run)]);
    assert_eq!((code, out.as_str()), (1, ""));
    let holder = format!("process {}", first.child().id());
    assert!(err.contains("in use") && err.contains(&holder), "{err}");
    let (code, _, err) = of(&["run", "-n", "19", "--dir", text(&run)]);
    assert_eq!(code, 2, "{err}");
    // Other processes may read.
    let running = status(&run).unwrap();
    assert_eq!(running["state"], "running");
    assert!(running["workers"][0]["nodes_per_second"].as_f64().unwrap() > 0.0);
    assert!(running["checkpoint_age_seconds"].as_u64().unwrap() <= 10);
    assert_eq!(of(&["export", text(&run)]).0, 0);
    first.send("-KILL");
    first.end();
    assert_eq!(status(&run).unwrap()["state"], "stopped");
}

#[test]
fn a_signal_pauses_and_another_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    // Tasks take milliseconds, so every run commits some of them each second.
    let mut command = vec!["run", "-n", "18", "--engine", "chain", "--dir", text(&run)];
    command.extend(["--isa", "portable", "--workers", "1"]);
    let mut child = Running::start(&command);
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
            since.elapsed() < Duration::from_secs(30),
            "it does not pause"
        );
    }
    child.send("-USR2");
    wait_for_more(&run, paused);
    child.send("-TERM");
    assert_eq!(child.end().0, 4);
}

#[test]
fn a_directory_that_holds_a_run_is_not_used_for_another() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let (code, out, _) = of(&["run", "-n", "10", "--dir", text(&run), "--json"]);
    assert_eq!(code, 0);
    let (code, nothing, err) = of(&["run", "-n", "11", "--dir", text(&run)]);
    assert_eq!((code, nothing.as_str()), (2, ""));
    assert!(
        err.contains("holds a run") && err.contains("queenfold resume"),
        "{err}"
    );
    let (code, again, _) = of(&["resume", text(&run), "--json"]);
    assert_eq!(code, 0);
    let total = |text: &str| serde_json::from_str::<Json>(text).unwrap()["total"].clone();
    assert_eq!(total(&out), total(&again));
    assert_eq!(status(&run).unwrap()["sessions"], 1);
    for wrong in [
        vec!["run", "-n", "4..=5", "--dir", "somewhere"],
        vec!["run", "-n", "8", "--shard", "0/2"],
        // A plan with more tasks than a ledger keeps.
        vec!["run", "-n", "32", "--engine", "join", "--dir", "somewhere"],
        vec!["run", "-n", "8", "--dir", "somewhere", "--shard", "2/2"],
        vec!["verify", text(&run), "--sample", "0"],
        vec!["verify", text(&run), "--sample", "1.5"],
        vec!["verify", text(&run), "--sample", "0.5", "--all"],
        vec!["merge", text(&run)],
    ] {
        let (code, out, err) = of(&wrong);
        assert_eq!(
            (code, out.as_str(), err.lines().count()),
            (2, "", 1),
            "{wrong:?}: {err}"
        );
    }
    assert!(!Path::new("somewhere").exists());
}

#[test]
fn shards_are_merged_and_a_missing_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| text(&dir.path().join(name)).to_owned();
    let [zero, one, two, into] = ["0", "1", "2", "into"].map(path);
    for (shard, dir) in [("0/3", &zero), ("1/3", &one), ("2/3", &two)] {
        let (code, out, err) = of(&[
            "run", "-n", "14", "--engine", "chain", "--shard", shard, "--dir", dir,
        ]);
        assert_eq!((code, out.as_str()), (4, ""));
        assert!(err.contains(&format!("shard {shard} is complete")), "{err}");
    }
    let (code, out, err) = of(&["merge", &zero, &two, "--into", &into]);
    assert_eq!((code, out.as_str()), (4, ""));
    assert!(
        err.contains("shard 1/3: chain 1..=13 in steps of 3 (5 tasks)"),
        "{err}"
    );
    let (code, _, err) = of(&["verify", &into, "--all"]);
    assert!(code == 4 && err.contains("5 tasks missing"), "{err}");
    let (code, out, err) = of(&["merge", &one, "--into", &into]);
    assert!(
        code == 0 && out.contains("365596") && out.contains("45752"),
        "{out}{err}"
    );
    let whole = path("whole");
    assert_eq!(
        of(&["run", "-n", "14", "--engine", "chain", "--dir", &whole]).0,
        0
    );
    let last = |dir: &str| {
        let (_, out, _) = of(&["export", dir]);
        let line = out.lines().last().unwrap().to_owned();
        serde_json::from_str::<Json>(&line).unwrap()["signature"].clone()
    };
    assert_eq!(last(&into), last(&whole));
}

#[test]
fn every_line_of_the_log_is_json_and_adds_up() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(
        of(&["run", "-n", "14", "--engine", "chain", "--dir", text(&run)]).0,
        0
    );
    let (code, out, err) = of(&["export", text(&run)]);
    assert_eq!((code, err.as_str()), (0, ""));
    let lines: Vec<Json> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut order = Vec::new();
    let mut total = 0;
    for line in &lines[..lines.len() - 1] {
        order.push((
            line["engine"].as_str().unwrap(),
            line["task"].as_u64().unwrap(),
        ));
        for weight in [1, 2, 4, 8] {
            let count = line["completions"][weight.to_string()].as_str().unwrap();
            total += weight * count.parse::<u64>().unwrap();
        }
    }
    assert_eq!(total, 365_596);
    assert!(order.is_sorted());
    assert_eq!(
        lines[lines.len() - 1]["signature"].as_str().unwrap().len(),
        64
    );
}

#[test]
fn verification_ends_with_3_and_the_ranks_where_a_digit_was_forged() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(
        of(&["run", "-n", "14", "--engine", "chain", "--dir", text(&run)]).0,
        0
    );
    let (code, out, _) = of(&["verify", text(&run), "--sample", "0.5", "--seed", "7"]);
    assert!(
        code == 0 && out.contains("seed 7") && out.contains("chance"),
        "{out}"
    );
    verifying::forge(&run, 5, |record| record.result.tally.completions.add(8, 10));
    let (code, out, err) = of(&["verify", text(&run), "--all"]);
    assert_eq!(code, 3, "{out}");
    let task = ChainPlan::new(size(14)).task(4);
    let ranks = format!("{}..{}", task.ranks.start, task.ranks.end);
    assert!(
        err.contains("chain-1:4 of n = 14 ") && err.contains(&ranks),
        "{err}"
    );
    assert!(!out.contains("total"), "{out}");
    // Even without a second count, the known total reveals the forgery.
    let (code, out, _) = of(&["resume", text(&run)]);
    assert_eq!((code, out.as_str()), (3, ""));
}

#[test]
fn join_tasks_are_verified_by_backtracking() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let (code, ..) = of(&["run", "-n", "13", "--engine", "join", "--dir", text(&run)]);
    assert_eq!(code, 0);
    let (code, out, err) = of(&["verify", text(&run), "--all"]);
    let kernels = format!("by scalar, recorded by {}", Isa::best());
    assert!(
        code == 0 && out.contains(&kernels) && out.contains("73712"),
        "{out}{err}"
    );
    // The last record of the chain; those of the census are first in the order of names.
    let last = records(&run).unwrap().len() - 1;
    verifying::forge(&run, last, |record| {
        record.result.tally.completions.add(4, 2)
    });
    let (code, _, err) = of(&["verify", text(&run), "--all"]);
    assert!(code == 3 && err.contains("join-3:7 of n = 13 "), "{err}");
}

#[test]
fn a_damaged_ledger_gives_one_clear_line_and_no_number() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    assert_eq!(of(&["run", "-n", "13", "--dir", text(&run)]).0, 0);
    sqlite(&run)
        .execute(
            "UPDATE record SET weight8 = '1' WHERE engine = 'chain' AND task = 1",
            [],
        )
        .unwrap();
    let commands: [&[&str]; 5] = [
        &["resume", text(&run)],
        &["verify", text(&run)],
        &["status", text(&run)],
        &["merge", text(&run), "--into", "merged"],
        &["export", text(&run)],
    ];
    for command in commands {
        let (code, out, err) = of(command);
        assert_eq!(code, 1, "{command:?}: {err}");
        assert!(
            err.contains("damaged") && err.contains("chain-1:1 of n = "),
            "{err}"
        );
        assert!(
            !out.contains("signature") && !out.contains("73712"),
            "{out}"
        );
    }
    let merged = Path::new(env!("CARGO_TARGET_TMPDIR")).join("merged");
    std::fs::remove_dir_all(merged).unwrap();
}

/// A separate file system, which only root can mount. It is unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(options: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs", text(dir.path())])
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            Some(Self(dir))
        } else {
            skipped("only root can mount a file system");
            None
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) -> bool {
        Command::new("mount")
            .args(["-o", options, text(self.path())])
            .status()
            .is_ok_and(|status| status.success())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_ends_the_run_and_space_lets_it_go_on() {
    let Some(disk) = SmallDisk::new("size=512k") else {
        return;
    };
    let run = disk.path().join("run");
    let isa = ["--isa", "portable", "--workers", "1"];
    let start = [
        "run",
        "-n",
        "16",
        "--dir",
        text(&run),
        "--time-limit",
        "100ms",
    ];
    assert_eq!(of(&[start.as_slice(), &isa].concat()).0, 4);
    // The file system is full to the last byte.
    let filler = disk.path().join("filler");
    let full = std::fs::write(&filler, vec![1; 512 << 10]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let (code, out, err) = of(&[["resume", text(&run)].as_slice(), &isa].concat());
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("disk is full"), "{err}");
    std::fs::remove_file(filler).unwrap();
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("14772512"), "{out}{err}");

    // A new run finds no space at all.
    let other = disk.path().join("other");
    let _ = std::fs::write(disk.path().join("filler"), vec![1; 512 << 10]);
    let (code, out, err) = of(&["run", "-n", "12", "--dir", text(&other)]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
}

#[test]
fn a_limit_on_the_size_of_files_ends_the_run_with_the_committed_tasks_kept() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    // 64 KiB are less than the log of a run needs. The signal of this limit is ignored, so that the
    // program gets the error.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 64; exec {} run -n 17 --engine chain --dir {} --isa portable",
        env!("CARGO_BIN_EXE_queenfold"),
        text(&run)
    );
    let output = Command::new("bash").args(["-c", &limited]).output();
    let Ok(output) = output else {
        skipped("no bash");
        return;
    };
    let (code, out, err) = said(&output);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("ledger.db"), "{err}");
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
}

#[test]
fn a_read_only_directory_can_be_read_and_not_written() {
    let Some(disk) = SmallDisk::new("size=1m") else {
        return;
    };
    let run = disk.path().join("run");
    assert_eq!(of(&["run", "-n", "12", "--dir", text(&run)]).0, 0);
    assert!(disk.remount("remount,ro"));
    for command in ["export", "status", "verify"] {
        let (code, _, err) = of(&[command, text(&run)]);
        assert_eq!(code, 0, "{command}: {err}");
    }
    for command in [
        vec!["resume", text(&run)],
        vec!["run", "-n", "12", "--dir", text(&disk.path().join("new"))],
    ] {
        let (code, out, err) = of(&command);
        assert_eq!(
            (code, out.as_str(), err.lines().count()),
            (1, "", 1),
            "{err}"
        );
        assert!(err.contains("ead-only"), "{err}");
    }
}

#[cfg(feature = "fault-injection")]
#[test]
fn an_audit_finds_a_wrong_count_before_it_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let output = queenfold(&["run", "-n", "14", "--engine", "chain", "--dir", text(&run)])
        .env("INJECT_FAULTS", "errors=1")
        .env("QUEENFOLD_RUN_AUDIT", "1")
        .output()
        .unwrap();
    let (code, out, err) = said(&output);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    let line = err.lines().find(|line| line.starts_with("error: "));
    let counts = line.unwrap().matches("completions").count();
    assert!(err.contains("audit") && counts == 2, "{err}");
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("365596"), "{out}{err}");
}
