//! A real HyperQueue runs an array that `hq submit` takes as docs/CLUSTER.md says, while workers and tasks are
//! killed and the time ends.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::array::{Array, N, TOTAL};
use crate::common::program::{PROGRAM, isolated, printed, words};
use crate::common::skip::skipped;

/// The program that `HYPERQUEUE` names, or `hq`. `None` if there is none.
pub fn program() -> Option<String> {
    let program = std::env::var("HYPERQUEUE").unwrap_or_else(|_| "hq".to_owned());
    let version = isolated(&program).arg("--version").output();
    if version.is_ok_and(|output| output.status.success()) {
        return Some(program);
    }
    skipped("no HyperQueue: put `hq` on the path, or name it in HYPERQUEUE");
    None
}

/// A server and a worker, in a folder of their own.
struct HyperQueue {
    program: String,
    folder: tempfile::TempDir,
    server: Child,
    worker: Child,
}

impl HyperQueue {
    /// Starts both, if there is HyperQueue.
    fn start() -> Option<Self> {
        let program = program()?;
        let folder = tempfile::tempdir().unwrap();
        if program.contains('/') {
            std::os::unix::fs::symlink(&program, folder.path().join("hq")).unwrap();
        }
        let mut server = command(&program, folder.path(), "server start");
        let mut worker = command(&program, folder.path(), "worker start");
        let server = server.spawn().unwrap();
        let asked = || command(&program, folder.path(), "server info").status();
        let since = Instant::now();
        while !asked().unwrap().success() {
            assert!(since.elapsed() < Duration::from_secs(60), "no server");
            std::thread::sleep(Duration::from_millis(50));
        }
        let worker = worker.spawn().unwrap();
        Some(Self {
            program,
            folder,
            server,
            worker,
        })
    }

    /// What `hq` prints. It must succeed.
    fn tell(&self, words: &str) -> String {
        let mut command = command(&self.program, self.folder.path(), words);
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = piped.output().unwrap();
        assert!(output.status.success(), "hq {words}: {output:?}");
        printed(&output.stdout)
    }

    /// Has the script of an array submit these shards, or all.
    fn submit(&self, array: &Array, shards: &str) {
        let script = array.script("hyperqueue.sh");
        let status = command(script, self.folder.path(), shards).status();
        assert!(status.unwrap().success());
    }

    /// What `status` says with this server.
    fn status(&self, array: &Array) -> serde_json::Value {
        let words = format!("status --json {}", array.name());
        let mut command = command(PROGRAM, self.folder.path(), &words);
        let output = command.stdout(Stdio::piped()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Waits until all tasks of the last submission have ended. Returns those that failed.
    fn failed(&self) -> String {
        let mut wait = command(&self.program, self.folder.path(), "job wait last");
        // It fails if a task did.
        wait.status().unwrap();
        let tasks = self.tell("job task-ids last --filter=failed");
        tasks.trim().to_owned()
    }

    /// Kills the worker and the tasks of the array, as when a host fails, and starts another worker.
    fn lose_host(&mut self, array: &Array) {
        self.worker.kill().unwrap();
        self.worker.wait().unwrap();
        kill_tasks(array);
        let mut next = command(&self.program, self.folder.path(), "worker start");
        self.worker = next.spawn().unwrap();
    }
}

impl Drop for HyperQueue {
    fn drop(&mut self) {
        for child in [&mut self.worker, &mut self.server] {
            // SIGTERM, so that the worker's tasks end too.
            let _ = Command::new("kill").arg(child.id().to_string()).status();
            let _ = child.wait();
        }
    }
}

/// `hq`, or what calls it, with these words, and all that it keeps in `folder`.
fn command(program: impl AsRef<OsStr>, folder: &Path, words: &str) -> Command {
    let mut command = isolated(program);
    let path = std::env::var("PATH").unwrap();
    command
        .args(words.split_whitespace())
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("HQ_SERVER_DIR", folder.join("server"))
        .env("TMPDIR", folder)
        .env("QUEENFOLD_RUN_ISA", "portable")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Kills every process that has the path of the array on its command line.
fn kill_tasks(array: &Array) {
    let path = array.path();
    for process in std::fs::read_dir("/proc").unwrap() {
        let process = process.unwrap();
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&line).contains(path.to_str().unwrap()) {
            let pid = process.file_name();
            let _ = Command::new("kill").arg("-KILL").arg(pid).status();
        }
    }
}

/// Waits until a shard is counted. Returns it.
fn running(array: &Array) -> u64 {
    let since = Instant::now();
    loop {
        if let Some(index) = array.status()["running"][0].as_u64() {
            return index;
        }
        assert!(
            since.elapsed() < Duration::from_secs(120),
            "nothing runs: {}",
            array.logs()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// More hosts fail under the task than HyperQueue lets it lose by default.
#[test]
fn a_task_goes_on_whenever_its_host_fails() {
    let Some(mut hq) = HyperQueue::start() else {
        return;
    };
    let array = Array::make(N, 1, "hyperqueue");
    hq.submit(&array, "");
    for _ in 0..6 {
        running(&array);
        hq.lose_host(&array);
    }
    assert_eq!(hq.failed(), "", "{}", array.logs());
    array.assert_total(TOTAL);
}

#[test]
fn hyperqueue_takes_every_directive_of_the_script() {
    let Some(hq) = HyperQueue::start() else {
        return;
    };
    let array = Array::make(12, 2, "hyperqueue");
    array.make_again(
        12,
        2,
        "hyperqueue",
        &words!("--time 90m --cpus 2 -- --resource nothing=1"),
    );
    hq.submit(&array, "");
    let job: serde_json::Value =
        serde_json::from_str(&hq.tell("job info last --output-mode=json")).unwrap();
    let job = job.to_string();
    for fact in [r#""name":"queenfold-n12-"#, r#""crash_limit":"unlimited""#] {
        assert!(job.contains(fact), "{fact}: {job}");
    }
    // The worker has nothing of the kind.
    let status = hq.status(&array);
    assert_eq!(status["waiting"], json!([0, 1]), "{status}");
    assert_eq!(status["in_no_queue"], json!([]), "{status}");
    hq.tell("job cancel last");
    let status = hq.status(&array);
    assert_eq!(status["in_no_queue"], json!([0, 1]), "{status}");
}

#[test]
fn no_submission_empties_the_log_of_another() {
    let array = Array::make(14, 3, "hyperqueue");
    // The jobs of each server are numbered from 1.
    for _ in 0..2 {
        let Some(hq) = HyperQueue::start() else {
            return;
        };
        for list in ["", "0,2"] {
            hq.submit(&array, list);
            assert_eq!(hq.failed(), "", "{}", array.logs());
        }
    }
    let logs = std::fs::read_dir(array.path().join("logs")).unwrap();
    assert_eq!(logs.count(), 2 * 2 * (3 + 2));
    array.assert_total("365596");
}
