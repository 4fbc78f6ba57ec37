//! The program as a process that a test stops or stops reading from.

use std::process::{Child, Command, Stdio};

use crate::isolated::isolated;

/// Starts `queenfold` with its stdout and stderr as pipes.
pub fn spawn(args: &[&str]) -> Child {
    isolated(env!("CARGO_BIN_EXE_queenfold"))
        .args(args)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts")
}

/// Sends a signal, such as `-INT`.
#[cfg(unix)]
pub fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(sent.expect("kill exists").success());
}
