//! Runs the program as a user does, and reads what it prints.

use std::process::Output;

use assert_cmd::Command;

use crate::isolated::isolated;

/// `queenfold` with these arguments, in a folder without a configuration file and without the
/// environment variables that would configure it.
pub fn queenfold(args: &[&str]) -> Command {
    let mut command = Command::from_std(isolated(env!("CARGO_BIN_EXE_queenfold")));
    command.current_dir(env!("CARGO_TARGET_TMPDIR")).args(args);
    command
}

/// Runs the program to its end.
pub fn output(args: &[&str]) -> Output {
    queenfold(args).output().expect("it starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// What the program prints on stdout. It must succeed.
pub fn stdout(args: &[&str]) -> String {
    let output = output(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    text(&output.stdout)
}

/// Asserts that the program exits with `code` and prints nothing but one line on stderr. Returns
/// that line.
pub fn refusal(command: &mut Command, code: i32) -> String {
    let output = command.output().expect("it starts");
    let line = text(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {line}");
    assert_eq!(text(&output.stdout), "", "{command:?}: {line}");
    assert_eq!(line.lines().count(), 1, "{command:?}: {line}");
    line
}
