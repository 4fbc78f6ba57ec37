use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::config::printable;

/// How the program ends. Scripts rely on these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All that was asked for is done. Also when the reader of our output went away (`| head`):
    /// it had what it wanted.
    Done = 0,
    /// Something failed that is none of the others: a task failed twice, a file is not writable.
    Error = 1,
    /// The command line or the configuration is wrong. Nothing was begun.
    Usage = 2,
    /// A count differs from a known one, or counts contradict each other. No result is printed: a
    /// wrong number is worse than none.
    Mismatch = 3,
    /// Stopped by a signal or by the time limit before the end.
    Stopped = 4,
    /// A check of `selftest` failed: do not trust this build on this machine.
    SelfTest = 5,
    /// The instruction set or device that was asked for by name is not here. `auto` never ends so.
    Unavailable = 6,
    /// A second signal came while stopping: ended at once, as 128 + SIGINT tells a shell.
    Interrupted = 130,
}

impl Exit {
    /// The number the shell sees.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command ended early, and how to tell.
#[derive(Debug)]
pub struct Failure {
    /// How to end.
    pub exit: Exit,
    /// What stderr gets.
    pub message: String,
}

impl Failure {
    /// Ends with `exit` and one printable line, whatever names the message holds.
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        let message = printable(&message.to_string());
        Self { exit, message }
    }

    /// Ends with `exit` and several printable lines.
    pub fn lines(exit: Exit, lines: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        let lines = lines.into_iter().map(|line| printable(&line.to_string()));
        let message = lines.collect::<Vec<_>>().join("\n");
        Self { exit, message }
    }

    /// Wrong usage or configuration.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }
}

/// Errors of writing results.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Self::new(Exit::Done, "")
        } else {
            Self::new(Exit::Error, format!("cannot write the result: {error}"))
        }
    }
}
