use std::fmt;
use std::ops::RangeInclusive;
#[cfg(feature = "ledger")]
use std::path::PathBuf;
use std::time::Duration;

use crate::actors::{Report, RunError};
use crate::board::Size;
use crate::engine::Engine;
#[cfg(feature = "ledger")]
use crate::engine::PlanName;
#[cfg(feature = "ledger")]
use crate::ledger::{LedgerError, Missing, Shard};
use crate::outcome::Contradiction;
use crate::simd::Isa;
use crate::telemetry;

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// The instruction set that was asked for is not available.
    #[error("this machine has no {0}")]
    IsaUnavailable(Isa),
    /// A device that was asked for is not available.
    #[error("{0}")]
    DeviceUnavailable(String),
    /// There is neither a worker nor a device.
    #[error("0 workers count nothing without a device")]
    NoWorkers,
    /// Devices were asked for, and their kernel does not count this board.
    #[error("devices count boards of {} to {} queens, not of {n}", boards.start(), boards.end())]
    BoardNotForDevices {
        /// The board.
        n: Size,
        /// The sizes of the boards that devices count.
        boards: RangeInclusive<u32>,
    },
    /// The engine counts only some of the solutions.
    #[error(
        "the {0} engine does not count all solutions; `Job::census_on` counts the symmetric ones"
    )]
    NoTotal(Engine),
    /// A directory was asked for, and the plan is not one that this library could resume.
    #[cfg(feature = "ledger")]
    #[error("a directory keeps only runs of the engines of this library, not of plan {0}")]
    ForeignPlan(PlanName),
    /// The run failed.
    #[error("{source}")]
    Run {
        /// Why.
        source: RunError,
        /// Where finished tasks are kept; `None` if they are not.
        #[cfg(feature = "ledger")]
        directory: Option<PathBuf>,
    },
    /// The counts contradict each other or a known count: they are no result.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// The job was stopped before its end.
    #[error(
        "stopped by {cause} after {}, with {} of {} tasks of n = {n} counted",
        telemetry::duration(*elapsed), report.tasks_done, report.tasks_total
    )]
    Stopped {
        /// The board.
        n: Size,
        /// What stopped it.
        cause: StopCause,
        /// Wall time of all processes that worked on the run.
        elapsed: Duration,
        /// How far it came.
        report: Box<Report>,
        /// Where finished tasks are kept; `None` if they are lost.
        #[cfg(feature = "ledger")]
        directory: Option<PathBuf>,
    },
    /// What this names is kept in a directory, and the job has none.
    #[cfg(feature = "ledger")]
    #[error("{0} needs a directory")]
    NeedsDirectory(&'static str),
    /// The job resumes a run, and was given a shard.
    #[cfg(feature = "ledger")]
    #[error("a resumed run keeps the shard that it was begun with")]
    ShardOfResumedRun,
    /// The shard is complete, but it is not the whole run.
    #[cfg(feature = "ledger")]
    #[error("shard {shard} is complete; no total without the other tasks")]
    OneShard {
        /// The shard.
        shard: Shard,
        /// The tasks of the run that are not there.
        missing: Missing,
        /// What this process did.
        report: Box<Report>,
    },
    /// Somebody else removed or replaced the file of the run while it was written.
    #[cfg(feature = "ledger")]
    #[error("{} was changed by another process", directory.display())]
    DirectoryChanged {
        /// The directory.
        directory: PathBuf,
        /// The tasks of the run that are not there.
        missing: Missing,
        /// What this process did.
        report: Box<Report>,
    },
    /// The directory cannot be used.
    #[cfg(feature = "ledger")]
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl JobError {
    /// What the run did, if it ended without failing.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Stopped { report, .. } => Some(report),
            #[cfg(feature = "ledger")]
            Self::OneShard { report, .. } | Self::DirectoryChanged { report, .. } => Some(report),
            _ => None,
        }
    }
}

/// What stopped a job before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// [`Control::drain`](crate::actors::Control::drain).
    Request,
    /// The time limit.
    TimeLimit,
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Request => "a request",
            Self::TimeLimit => "the time limit",
        })
    }
}
