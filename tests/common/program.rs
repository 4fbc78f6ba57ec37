//! Runs the program as a user does, and reads what it prints.

use std::ffi::OsStr;
use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::example;

/// The path of the program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_queenfold");

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// A program, for example a shell that starts `queenfold`, that finds neither settings of the user nor
/// environment variables that would configure `queenfold`: they must not decide what tests see.
pub fn isolated(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("QUEENFOLD_") {
            command.env_remove(name);
        }
    }
    command.env("XDG_CONFIG_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// The words of a command, `{}` replaced by the values in their order.
#[allow(unused_macros, reason = "one test program uses it")]
macro_rules! words {
    ($command:expr $(, $value:expr)* $(,)?) => {
        $crate::common::program::filled($command, &[$($value),*])
    };
}
#[allow(unused_imports, reason = "as above")]
pub(crate) use words;

pub fn filled<'a>(command: &'a str, values: &[&'a str]) -> Vec<&'a str> {
    let mut values = values.iter();
    let mut word = |word| match word {
        "{}" => *values.next().expect("a value for each {}"),
        _ => word,
    };
    let words = command.split_whitespace().map(&mut word).collect();
    assert_eq!(values.next(), None, "{command}");
    words
}

/// `queenfold` with these arguments, in a folder without a configuration file. What it prints can be read.
pub fn queenfold(args: &[&str]) -> Command {
    in_folder(isolated(PROGRAM), args)
}

/// The same by the program that goes wrong as this variable says (`faulty_program.rs`).
pub fn faulty(args: &[&str], variable: &str, value: &str) -> Command {
    let mut command = in_folder(isolated(example("faulty")), args);
    command.env(variable, value);
    command
}

fn in_folder(mut command: Command, args: &[&str]) -> Command {
    command
        .args(args)
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program to its end.
pub fn output(args: &[&str]) -> Output {
    queenfold(args).output().unwrap()
}

/// Runs a command that reads `input`.
pub fn fed(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    // A program that refuses its flags reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    child.wait_with_output().unwrap()
}

/// What was printed, as text.
pub fn printed(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// Exit code, stdout, stderr.
pub fn said(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    (code, text(&output.stdout), text(&output.stderr))
}

/// Exit code, stdout and stderr of a whole command.
pub fn of(args: &[&str]) -> (i32, String, String) {
    said(&output(args))
}

/// What the program prints on stdout. It must succeed.
pub fn stdout(args: &[&str]) -> String {
    let output = output(args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    printed(&output.stdout)
}

/// What the program prints, one JSON value. It must succeed.
pub fn json(args: &[&str]) -> Json {
    serde_json::from_str(&stdout(args)).expect("one JSON value")
}

/// The first of the objects that the program printed, one on a line.
pub fn first_object(printed: &str) -> Json {
    serde_json::from_str(printed.lines().next().unwrap_or_default()).expect("one JSON value")
}

/// Asserts that the program exits with `code` and prints nothing but one line on stderr. Returns
/// that line.
pub fn refusal(command: &mut Command, code: i32) -> String {
    let output = Running::of(command).output();
    assert_eq!(output.status.code(), Some(code), "{command:?}: {output:?}");
    refused(&output, code)
}

/// The same of a program that has ended.
pub fn refused(output: &Output, code: i32) -> String {
    let (exit, out, line) = said(output);
    assert_eq!((exit, &*out, line.lines().count()), (code, "", 1), "{line}");
    line
}

/// Asserts that each command of a table is refused with this exit code. A line of it is a command, ` => ` and a part of
/// what it says. `␣` is a blank in a word.
#[track_caller]
pub fn refuses(code: i32, table: &str) {
    for case in table.trim().lines() {
        let (command, says) = case.trim_start().split_once(" => ").expect("a case");
        let words: Vec<_> = command
            .split(' ')
            .map(|word| word.replace('␣', " "))
            .collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        let line = refusal(&mut queenfold(&words), code);
        assert!(line.contains(says), "{command}: {line}");
        // The parser would have it that `-n` is no flag.
        assert!(!line.contains("-- -n"), "{command}: {line}");
    }
}

/// Asserts that a text has each of these parts.
#[track_caller]
pub fn tells(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

/// A process of a test. It is killed if the test ends first.
pub struct Running(Option<Child>);

impl Running {
    pub fn start(args: &[&str]) -> Self {
        Self::of(&mut queenfold(args))
    }

    pub fn of(command: &mut Command) -> Self {
        Self(Some(command.spawn().unwrap()))
    }

    /// Sends a signal, such as `-INT`.
    pub fn send(&self, signal: &str) {
        send(signal, self.id());
    }

    /// Waits for the end.
    pub fn output(mut self) -> Output {
        let child = self.0.take().unwrap();
        let (process, (sender, ended)) = (child.id(), channel());
        spawn(move || sender.send(child.wait_with_output()));
        let output = ended.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            send("-KILL", process);
            panic!("it does not end")
        });
        output.unwrap()
    }

    /// Waits for the end: exit code, stdout, stderr.
    pub fn end(self) -> (i32, String, String) {
        said(&self.output())
    }
}

impl Deref for Running {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().unwrap()
    }
}

impl DerefMut for Running {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // This fails if it has already ended.
            let _ = child.kill();
            child.wait().unwrap();
        }
    }
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill")
        .args([signal, &process.to_string()])
        .status();
    assert!(sent.unwrap().success());
}

pub fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// A path as an argument.
pub fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// How far the run in a directory is, once it has begun.
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
        assert!(since.elapsed() < PATIENCE, "no progress");
        sleep(Duration::from_millis(20));
    }
}
