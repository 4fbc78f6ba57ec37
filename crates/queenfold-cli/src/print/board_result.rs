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

impl BoardResult {
    /// The result of a run whose tasks are in `directory`, by this process or earlier ones.
    ///
    /// # Errors
    /// The ledger there cannot be read.
    pub fn recorded(run: RunResult, directory: &Path) -> Result<Self, LedgerError> {
        let mut workers = run.result.report.workers.iter();
        let earlier = match workers.all(|worker| worker.tasks == 0) {
            true => CountedWith::read(&Store::open_to_glance(directory)?)?,
            false => None,
        };
        Ok(Self {
            result: run.result,
            confirmation: Some(run.confirmation),
            earlier,
        })
    }
}
