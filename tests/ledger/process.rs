//! Starts the program and waits for what it does.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::isolated::isolated;

pub fn queenfold(arguments: &[&str]) -> Command {
    let mut command = isolated(env!("CARGO_BIN_EXE_queenfold"));
    command
        .args(arguments)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub fn output(arguments: &[&str]) -> Output {
    queenfold(arguments).output().unwrap()
}

/// A process of a test. It is killed if the test ends first.
pub struct Running(Option<Child>);

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        Self::of(&mut queenfold(arguments))
    }

    pub fn of(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    pub fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    pub fn send(&mut self, signal: &str) {
        let pid = self.child().id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().unwrap();
        assert!(sent.success());
    }

    pub fn end(mut self) -> (i32, String, String) {
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
pub fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

pub fn of(arguments: &[&str]) -> (i32, String, String) {
    said(&output(arguments))
}

pub fn text(dir: &Path) -> &str {
    dir.to_str().unwrap()
}

pub fn status(dir: &Path) -> Option<Json> {
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

pub fn wait_until(mut comes: impl FnMut() -> bool) {
    let since = Instant::now();
    while !comes() {
        assert!(since.elapsed() < Duration::from_secs(300), "no progress");
        std::thread::sleep(Duration::from_millis(50));
    }
}
