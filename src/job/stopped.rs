use std::fmt;
use std::time::Duration;

use crate::actors::Report;
use crate::board::GivenBoard;
use crate::engine::WorkerId;
use crate::telemetry;

/// How far a job came that was stopped before its end.
#[derive(Debug)]
pub struct Stopped {
    /// The board.
    pub board: GivenBoard,
    /// What stopped it.
    pub cause: StopCause,
    /// Wall time of all processes that worked on the run.
    pub elapsed: Duration,
    /// What this process did.
    pub report: Report,
}

impl Stopped {
    /// The message of a program that knows more about the cause: `stopped by CAUSE after 5.0 s, …`. Says
    /// what was given up, if anything was.
    pub fn message(&self, cause: impl fmt::Display) -> String {
        let Self {
            board,
            elapsed,
            report,
            ..
        } = self;
        let given_up = match report.given_up {
            0 => String::new(),
            tasks => format!(
                ", {} given up ({} of work lost)",
                telemetry::several(tasks, "unfinished task"),
                telemetry::duration(report.lost)
            ),
        };
        format!(
            "stopped by {cause} after {}, with {} of {} tasks of {} counted{given_up}",
            telemetry::duration(*elapsed),
            report.tasks_done,
            report.tasks_total,
            board.in_words()
        )
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(self.cause))
    }
}

/// What stopped a job before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// [`Control::drain`](crate::actors::Control::drain).
    Request,
    /// The time limit.
    TimeLimit,
    /// This device is lost. It had done most of the work, and a process that begins again may have it back.
    LostDevice(WorkerId),
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("a request"),
            Self::TimeLimit => f.write_str("the time limit"),
            Self::LostDevice(device) => {
                write!(f, "the loss of {device}, which did most of the work,")
            }
        }
    }
}
