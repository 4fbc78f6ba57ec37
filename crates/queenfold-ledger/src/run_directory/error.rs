//! The errors of run directories: those of jobs and ledgers, and runs that end before they are whole.

use crate::ledger::{LedgerError, Missing, Shard};
use queenfold::actors::Report;
use queenfold::engine::PlanName;
use queenfold::job::JobError;

/// Why a run in a directory has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunDirectoryError {
    /// What could have happened without a directory.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The directory cannot be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The plan is not one that this library could resume.
    #[error("a directory keeps only runs of the engines of this library, not of plan {0}")]
    ForeignPlan(PlanName),
    /// The shard is complete, but it is not the whole run.
    #[error("shard {shard} is complete; no total without the other tasks")]
    OneShard {
        /// The shard.
        shard: Shard,
        /// The tasks of the run that are not there.
        missing: Missing,
        /// What this process did.
        report: Box<Report>,
    },
}

impl RunDirectoryError {
    /// What the run did, if it ended without failing.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Job(error) => error.report(),
            Self::OneShard { report, .. } => Some(report),
            Self::Ledger(_) | Self::ForeignPlan(_) => None,
        }
    }
}
