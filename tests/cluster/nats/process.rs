//! Coordinators and workers as processes.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use queenfold::ledger::Store;

use crate::isolated::isolated;
use crate::program::{output, stdout, text};

/// A running `queenfold`.
pub struct Process {
    child: Option<Child>,
    what: String,
}

impl Process {
    pub fn start(args: &[&str]) -> Self {
        let child = isolated(env!("CARGO_BIN_EXE_queenfold"))
            .args(args)
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            child: Some(child),
            what: args.join(" "),
        }
    }

    /// A coordinator. `more`: what is counted, if the directory is new.
    pub fn serve(url: &str, dir: &Path, more: &[&str]) -> Self {
        let dir = dir.to_str().unwrap();
        Self::start(&[&["serve", dir, "--nats", url, "--run", "test"], more].concat())
    }

    /// A worker with its journal in a folder.
    pub fn work(url: &str, journals: &Path, more: &[&str]) -> Self {
        let journals = journals.to_str().unwrap();
        let usual = [
            "work",
            "--nats",
            url,
            "--run",
            "test",
            "--journal",
            journals,
            "--gpu",
            "off",
        ];
        Self::start(&[&usual, more].concat())
    }

    /// Sends a signal, such as `-INT`.
    pub fn send(&self, signal: &str) {
        let id = self.child.as_ref().unwrap().id().to_string();
        let sent = std::process::Command::new("kill")
            .args([signal, &id])
            .status();
        assert!(sent.unwrap().success());
    }

    /// Ends it at once.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    pub fn has_ended(&mut self) -> bool {
        let child = self.child.as_mut().unwrap();
        child.try_wait().unwrap().is_some()
    }

    /// Waits for its end: the exit code, what it printed, and what it said.
    pub fn end(mut self) -> (i32, String, String) {
        let since = Instant::now();
        while !self.has_ended() {
            assert!(
                since.elapsed() < Duration::from_secs(900),
                "{} goes on",
                self.what
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        let output = self.child.take().unwrap().wait_with_output().unwrap();
        (
            output.status.code().unwrap_or(-1),
            text(&output.stdout),
            text(&output.stderr),
        )
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until a directory has this number of recorded tasks.
pub fn wait_for_tasks(dir: &Path, tasks: u64) {
    let since = Instant::now();
    loop {
        let done = recorded(dir);
        if done >= tasks {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(300), "{done} tasks");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The number of recorded tasks.
pub fn recorded(dir: &Path) -> u64 {
    let store = Store::open_to_read(dir);
    store.map_or(0, |store| store.covered().map_or(0, |tasks| tasks.done()))
}

/// The signature of a run.
pub fn signature(dir: &Path) -> String {
    let log = stdout(&["export", dir.to_str().unwrap()]);
    let last = log.lines().last().unwrap().to_owned();
    assert!(last.contains("signature"), "{last}");
    last
}

/// The signature of the same run on one machine.
pub fn signature_of_one(folder: &Path, n: &str, engine: &str) -> String {
    let dir: PathBuf = folder.join("one");
    let name = dir.to_str().unwrap();
    let done = output(&[
        "run", "-n", n, "--engine", engine, "--dir", name, "--gpu", "off",
    ]);
    assert!(done.status.success(), "{}", text(&done.stderr));
    signature(&dir)
}
