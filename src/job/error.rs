use std::ops::RangeInclusive;
#[cfg(feature = "ledger")]
use std::path::PathBuf;

use super::Stopped;
use crate::actors::{Report, RunError};
use crate::board::Size;
use crate::engine::Engine;
#[cfg(feature = "ledger")]
use crate::engine::PlanName;
#[cfg(feature = "ledger")]
use crate::ledger::{LedgerError, Missing, Shard};
use crate::outcome::Contradiction;
use crate::simd::Isa;

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// A setting has a value that is not allowed: see [`limits`](super::limits).
    #[error("{setting}: expected {expected}")]
    Setting {
        /// The setting, by the name of its field.
        setting: &'static str,
        /// What is allowed.
        expected: String,
    },
    /// The instruction set that was asked for is not available.
    #[error("this machine has no {0}")]
    IsaUnavailable(Isa),
    /// A device that was asked for is not available, or no device is and there are no CPU workers.
    #[error("{0}")]
    DeviceUnavailable(String),
    /// There are no workers, and devices are switched off.
    #[error("0 workers count nothing without a device")]
    NoWorkers,
    /// The address space of the process has no room for the workers.
    #[error("{} need {} MiB of address space, and the process may have {} MiB (`ulimit -v`)",
        crate::telemetry::several(*workers as u64, "worker"), needed >> 20, limit >> 20)]
    NoRoom {
        /// The workers.
        workers: usize,
        /// What they need, in bytes.
        needed: u64,
        /// What there is, in bytes.
        limit: u64,
    },
    /// Devices were asked for, and their kernel does not count this board.
    #[error("devices count boards of {} to {} queens, not of {n}", boards.start(), boards.end())]
    BoardNotForDevices {
        /// The board.
        n: Size,
        /// The sizes of the boards that devices count.
        boards: RangeInclusive<u32>,
    },
    /// Devices were asked for, or there are no CPU workers, and devices have no kernel of the engine.
    #[error("devices do not count by the {0} engine")]
    EngineNotForDevices(Engine),
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
    #[error("{0}")]
    Stopped(Box<Stopped>),
    /// What this names is kept in a directory, and the job has none.
    #[cfg(feature = "ledger")]
    #[error("{0} needs a directory")]
    NeedsDirectory(&'static str),
    /// The job resumes a run, and was given what this names, which is fixed since the run began.
    #[cfg(feature = "ledger")]
    #[error("a resumed run keeps the {0} that it was begun with")]
    FixedByRun(&'static str),
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
            Self::Stopped(stopped) => Some(&stopped.report),
            #[cfg(feature = "ledger")]
            Self::OneShard { report, .. } | Self::DirectoryChanged { report, .. } => Some(report),
            _ => None,
        }
    }
}
