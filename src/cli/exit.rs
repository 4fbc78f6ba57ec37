//! How the program ends: the exit codes, and which error has which.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::usage::several;
use crate::actors::RunError;
#[cfg(feature = "cuda")]
use crate::bench::BenchError;
use crate::config::printable;
use crate::engine::Mismatch;
use crate::job::{JobError, StopCause};
use crate::ladder::WrongRow;
use crate::ledger::{Fault, LedgerError, Missing};
use crate::outcome::Contradiction;

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

    /// Counts that contradict each other or a known count. Private: the conversions below decide which
    /// errors these are.
    fn wrong_counts(lines: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Self::lines(Exit::Mismatch, lines)
    }

    /// Tasks are missing for a total: `what`, and a line for each range of them.
    pub fn incomplete(what: impl fmt::Display, missing: &Missing) -> Self {
        let first = format!("{what}: {} missing", several(missing.tasks(), "task"));
        let missing = missing.to_string();
        let ranges = missing.lines().map(str::to_owned);
        Self::lines(Exit::Stopped, std::iter::once(first).chain(ranges))
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

impl From<Contradiction> for Failure {
    fn from(error: Contradiction) -> Self {
        Self::wrong_counts([error])
    }
}

impl From<Mismatch> for Failure {
    fn from(error: Mismatch) -> Self {
        Self::wrong_counts([error])
    }
}

/// Tasks of a run that were counted again, and differ: a line for each.
impl From<&[Fault]> for Failure {
    fn from(faults: &[Fault]) -> Self {
        Self::wrong_counts(faults)
    }
}

impl From<WrongRow> for Failure {
    fn from(error: WrongRow) -> Self {
        Self::wrong_counts([error])
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Mismatch { .. } => Self::wrong_counts([error]),
            RunError::TaskFailed { .. } | RunError::Recorder(_) | RunError::Runtime(_) => {
                Self::new(Exit::Error, error)
            }
        }
    }
}

#[cfg(feature = "cuda")]
impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Self {
        match error {
            BenchError::Mismatch { .. } => Self::wrong_counts([error]),
            BenchError::Failed { .. } => Self::new(Exit::Error, error),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Disagreement { .. } => Self::wrong_counts([error]),
            LedgerError::Exists { ref dir } => Self::usage(format!(
                "{error}; continue it with `{}`, or name another directory",
                resume_command(dir)
            )),
            LedgerError::TooLong { .. } => Self::usage(format!(
                "{error}: leave out --dir and --shard to count without one"
            )),
            _ => Self::new(Exit::Error, error),
        }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Contradiction(contradiction) => contradiction.into(),
            JobError::Ledger(error) => error.into(),
            JobError::IsaUnavailable(_) => Self::new(
                Exit::Unavailable,
                format!("{error}; `queenfold devices` shows what it has"),
            ),
            JobError::DeviceUnavailable(_) => Self::new(Exit::Unavailable, error),
            JobError::NoWorkers => Self::usage(
                "0 workers count nothing: give --workers 1 or more, or a device with --gpu",
            ),
            JobError::BoardNotForDevices { .. } => Self::usage(error),
            JobError::Run { source, directory } => {
                let failure = Self::from(source);
                let Some(directory) = directory else {
                    return failure;
                };
                let resume = resume_command(&directory);
                Self {
                    message: format!(
                        "{}; once that is fixed, `{resume}` continues the run",
                        failure.message
                    ),
                    ..failure
                }
            }
            JobError::Stopped {
                cause,
                ref directory,
                ..
            } => {
                let mut message = error.to_string();
                if cause == StopCause::Request {
                    // In a command, every request to stop is a signal.
                    message = message.replacen(&cause.to_string(), "a signal", 1);
                }
                message += &match directory {
                    Some(directory) => format!("; continue with `{}`", resume_command(directory)),
                    None => "; nothing is kept".to_owned(),
                };
                Self::new(Exit::Stopped, message)
            }
            JobError::OneShard { ref missing, .. }
            | JobError::DirectoryChanged { ref missing, .. } => Self::incomplete(&error, missing),
        }
    }
}

/// The command that continues the run in `dir`, ready for a shell.
fn resume_command(dir: &Path) -> String {
    let dir = dir.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    if !dir.is_empty() && dir.chars().all(plain) && !dir.starts_with('-') {
        format!("queenfold resume {dir}")
    } else {
        format!("queenfold resume -- '{}'", dir.replace('\'', "'\\''"))
    }
}
