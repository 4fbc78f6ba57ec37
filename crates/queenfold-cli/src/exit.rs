//! How the program ends: the exit codes, and which error has which.

use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::shell::{again_command, command_on, resume_command};
use crate::bench::BenchError;
use crate::telemetry::printable;
use queenfold::actors::{RunError, StopCause};
use queenfold::engine::Mismatch;
use queenfold::job::JobError;
use queenfold::outcome::Contradiction;
use queenfold::words::several;
use queenfold_ledger::certificate::CheckError;
use queenfold_ledger::cluster::ArrayDirectory;
use queenfold_ledger::ledger::{LedgerError, Missing, Shard, host_name};
use queenfold_ledger::run_directory::RunDirectoryError;

/// Who stops or pauses a run, in words: a signal.
pub const SIGNAL: &str = "a signal";

/// How the program ends. Scripts rely on these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Everything was done. Also if the reader of the output closed it (`| head`): it had what it
    /// wanted.
    Done = 0,
    /// Any other failure: a task failed twice, a file is not writable.
    Error = 1,
    /// The command line or the configuration is wrong. Nothing was started.
    Usage = 2,
    /// A count differs from a known one, or counts contradict each other. No result is printed, because
    /// a wrong number is worse than none.
    Mismatch = 3,
    /// Stopped by a signal or by the time limit before the end, or tasks are missing for the total
    /// that was asked for.
    Stopped = 4,
    /// A check of `selftest` failed: do not trust this build on this machine.
    SelfTest = 5,
    /// The instruction set or device that was asked for by name is not available. `auto` ends with
    /// this code only if there are no CPU workers. Or what is left of an array is for other hosts.
    Unavailable = 6,
    /// Devices are lost that did most of the work of a run in a directory. What is counted is kept, and `resume` goes on
    /// with what there is.
    DeviceLost = 7,
    /// A second signal arrived while the program was stopping, and ended it at once, or the first one
    /// while `ladder --step` waited for a key: 128 + SIGINT, as shells expect.
    Interrupted = 130,
}

impl Exit {
    /// The number that the shell gets.
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

/// Why a command failed: the exit code and the message.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// The text for stderr.
    pub message: String,
}

impl Failure {
    /// Ends with `exit` and one line. Characters of the message that are not printable are escaped.
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self::lines(exit, [message])
    }

    /// Ends with `exit` and several lines, escaped in the same way.
    pub fn lines(exit: Exit, lines: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        let lines = lines.into_iter().map(|line| printable(&line.to_string()));
        let message = lines.collect::<Vec<_>>().join("\n");
        Self { exit, message }
    }

    /// Counts that contradict each other or a known count: a line for each.
    pub fn counts_differ(lines: impl IntoIterator<Item = impl fmt::Display>) -> Self {
        Self::lines(Exit::Mismatch, lines)
    }

    /// Tasks are missing for a total: `what`, and a line for each range of them.
    pub fn incomplete(what: impl fmt::Display, missing: &Missing) -> Self {
        let tasks = several(missing.tasks(), "task");
        let (first, missing) = (format!("{what}: {tasks} missing"), missing.to_string());
        Self::lines(
            Exit::Stopped,
            [first.as_str()].into_iter().chain(missing.lines()),
        )
    }

    /// A file is not written: it needs another name, or the system does not write it.
    pub fn of_file(what: &str, path: &Path, error: &io::Error) -> Self {
        let exit = match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::InvalidInput => Exit::Usage,
            _ => Exit::Error,
        };
        Self::new(exit, format!("{what} {}: {error}", path.display()))
    }

    /// A job array is where a run should be.
    pub fn holds_array(dir: &Path) -> Self {
        let dir = dir.display();
        Self::usage(format!(
            "{dir} holds a job array: the runs are its shards, below {dir}/shards, and once they are gathered {dir}/whole"
        ))
    }

    /// What is to be counted in `dir` is a second count, and this host made the first one.
    pub fn counted_here(dir: &Path) -> Self {
        let (dir, host) = (dir.display(), host_name());
        let what = format!("{dir}: {host} counted it first, so another host counts it again");
        Self::new(Exit::Unavailable, what)
    }

    /// If counts of the run in `dir` contradict each other, says what helps.
    #[must_use]
    pub fn what_helps(mut self, dir: &Path) -> Self {
        let again = again_command(dir);
        if self.exit == Exit::Mismatch && !self.message.contains(&again) {
            let resume = resume_command(dir);
            let helps = format!("; `{again}` counts each task once more, then `{resume}`");
            self.message += &printable(&helps);
        }
        self
    }

    /// Wrong usage or configuration.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, message)
    }
}

/// Errors of writing results.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::new(Exit::Done, ""),
            _ => Self::new(Exit::Error, format!("cannot write the result: {error}")),
        }
    }
}

/// The exit code of each error whose own text is the message.
macro_rules! exits {
    ($($error:ty: $exit:expr;)*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                let exit: fn(&$error) -> Exit = $exit;
                Self::new(exit(&error), error)
            }
        }
    )*};
}

const fn mismatch_if(counts_differ: bool) -> Exit {
    match counts_differ {
        true => Exit::Mismatch,
        false => Exit::Error,
    }
}

exits! {
    Contradiction: |_| Exit::Mismatch;
    Mismatch: |_| Exit::Mismatch;
    RunError: |error| {
        use RunError::{Contradiction, Faulty, Mismatch};
        mismatch_if(matches!(error, Mismatch { .. } | Faulty { .. } | Contradiction { .. }))
    };
    BenchError: |error| mismatch_if(matches!(error, BenchError::Mismatch { .. }));
    CheckError: |error| mismatch_if(matches!(error, CheckError::Counts(_)));
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Contested { ref file, .. } => {
                let dir = file.parent().unwrap_or(file);
                Self::counts_differ([&error]).what_helps(dir)
            }
            LedgerError::Unfit(_) => Self::usage(error),
            LedgerError::Exists(ref dir) => {
                let resume = resume_command(dir);
                let helps = format!("continue it with `{resume}`, or name another directory");
                Self::usage(format!("{error}; {helps}"))
            }
            LedgerError::NoRun(ref dir) if ArrayDirectory::is_there(dir) => Self::holds_array(dir),
            _ => Self::new(mismatch_if(error.is_mismatch()), error),
        }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        Self::of_job(error, SIGNAL, None)
    }
}

impl Failure {
    /// Why a run in a directory has no result. `stopped_by` asked it to stop, if somebody did, and `goes_on` is the
    /// command that continues it.
    pub fn of_run(error: RunDirectoryError, stopped_by: &str, goes_on: Option<&str>) -> Self {
        match error {
            RunDirectoryError::Job(error) => Self::of_job(error, stopped_by, goes_on),
            RunDirectoryError::Ledger(error) => error.into(),
            RunDirectoryError::OneShard { ref missing, .. } => Self::incomplete(&error, missing),
            RunDirectoryError::ForeignPlan(_) => Self::usage(error),
            _ => Self::new(Exit::Error, error),
        }
    }

    /// Why a job has no result: as [`of_run`](Self::of_run).
    fn of_job(error: JobError, stopped_by: &str, goes_on: Option<&str>) -> Self {
        match error {
            JobError::Contradiction(contradiction) => contradiction.into(),
            JobError::NoWorkers => Self::usage(
                "0 workers count nothing: give --workers 1 or more, or a device with --gpu",
            ),
            JobError::NoTotal(_) | JobError::Setting { .. } | JobError::Size(_) => {
                Self::usage(error)
            }
            JobError::DeviceUnavailable(_) => Self::new(Exit::Unavailable, error),
            JobError::IsaUnavailable(_) => Self::new(
                Exit::Unavailable,
                format!("{error}; `queenfold selftest` shows what it has"),
            ),
            JobError::BoardNotForDevices { .. } | JobError::EngineNotForDevices(_) => Self::new(
                Exit::Unavailable,
                format!("{error}: without --gpu, CPU workers count it"),
            ),
            JobError::Run(error) => {
                let Self { exit, mut message } = error.into();
                let then = |command| format!("; once that is fixed, `{command}` continues the run");
                message += &goes_on.map_or_else(String::new, then);
                Self { exit, message }
            }
            JobError::Stopped(stopped) => {
                let (message, exit) = match stopped.cause {
                    StopCause::Request => (stopped.message(stopped_by), Exit::Stopped),
                    StopCause::TimeLimit => (stopped.to_string(), Exit::Stopped),
                    StopCause::LostDevice(_) => (stopped.to_string(), Exit::DeviceLost),
                };
                let then = |command| format!("continue with `{command}`");
                let then = goes_on.map_or_else(|| "nothing is kept".to_owned(), then);
                Self::new(exit, format!("{message}; {then}"))
            }
            _ => Self::new(Exit::Error, error),
        }
    }
}

/// That the shard in `dir` is complete, and what the total needs besides. Of an array, the others may be second counts.
pub fn complete_shard(dir: &Path, shard: Shard, missing: &Missing) -> String {
    if let Some(array) = ArrayDirectory::of_shard(dir) {
        let index = Path::new(dir.file_name().unwrap_or_default()).display();
        let (of, add_up) = (array.display(), command_on("gather", array));
        return format!("shard {index} of {of} is complete; `{add_up}` adds up the shards");
    }
    let place = match missing.parts.len() {
        0 => String::new(),
        1 => format!(" of part {}", missing.parts),
        2 => format!(" of parts {}", missing.parts),
        parts => format!(" of {parts} other parts"),
    };
    let tasks = several(missing.tasks(), "task");
    format!(
        "shard {shard} is complete; the total needs the {tasks}{place} too: count them, then \
         `queenfold gather DIR... --into NEW`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::actors::Report;
    use queenfold::board::Size;
    use queenfold::job::Stopped;
    use std::time::Duration;

    fn stopped(cause: StopCause, goes_on: Option<&str>) -> Failure {
        let stopped = Stopped {
            board: Size::new(20).unwrap().into(),
            cause,
            elapsed: Duration::from_secs(5),
            report: Report {
                tasks_done: 3,
                tasks_total: 7,
                tasks_planned: 9,
                ..Report::default()
            },
        };
        Failure::of_job(JobError::Stopped(Box::new(stopped)), SIGNAL, goes_on)
    }

    #[test]
    fn a_stopped_job_says_what_stopped_it_and_how_to_continue() {
        let failure = stopped(StopCause::Request, Some("queenfold resume n20"));
        assert_eq!(failure.exit, Exit::Stopped);
        assert_eq!(
            failure.message,
            "stopped by a signal after 5.0 s, with 3 of 7 tasks of n = 20 counted; continue with \
             `queenfold resume n20`"
        );
        let failure = stopped(StopCause::TimeLimit, None);
        assert!(failure.message.starts_with("stopped by the time limit"));
        assert!(failure.message.ends_with("; nothing is kept"));
    }

    #[test]
    fn wrong_counts_end_with_3_and_what_is_not_available_with_6() {
        let exit = |error: JobError| Failure::from(error).exit;
        let wrong =
            queenfold::outcome::Outcome::new(Size::new(8).unwrap(), &Default::default(), None);
        assert_eq!(exit(wrong.unwrap_err().into()), Exit::Mismatch);
        let isa = queenfold::simd::Isa::best();
        assert_eq!(exit(JobError::IsaUnavailable(isa)), Exit::Unavailable);
        assert_eq!(exit(JobError::NoWorkers), Exit::Usage);
    }
}
