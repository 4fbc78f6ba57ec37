//! What is printed of a board.

use std::path::Path;

use queenfold::job::JobResult;
use queenfold_ledger::ledger::{Confirmation, CountedWith, LedgerError, Store};
use queenfold_ledger::run_directory::RunResult;

/// What a job found, and how often its tasks were counted if a directory keeps them.
pub struct BoardResult {
    /// The counts.
    pub result: JobResult,
    /// `None` without a directory.
    pub confirmation: Option<Confirmation>,
    /// What counted, if this process did not.
    pub earlier: Option<CountedWith>,
}

impl From<JobResult> for BoardResult {
    fn from(result: JobResult) -> Self {
        Self {
            result,
            confirmation: None,
            earlier: None,
        }
    }
}

impl From<RunResult> for BoardResult {
    fn from(recorded: RunResult) -> Self {
        Self {
            result: recorded.result,
            confirmation: Some(recorded.confirmation),
            earlier: None,
        }
    }
}

impl BoardResult {
    /// The result of a run that was resumed, whose tasks are in `directory`.
    ///
    /// # Errors
    /// The ledger there cannot be read.
    pub fn resumed(recorded: RunResult, directory: &Path) -> Result<Self, LedgerError> {
        let mut counted = Self::from(recorded);
        let workers = &counted.result.report.workers;
        if workers.iter().all(|worker| worker.tasks == 0) {
            counted.earlier = CountedWith::read(&Store::open_to_glance(directory)?)?;
        }
        Ok(counted)
    }
}
