//! What is printed of a board.

use crate::job::JobResult;
use crate::ledger::Confirmation;
use crate::run_directory::RunResult;

/// What a job found, and how often its tasks were counted if a directory keeps them.
pub struct BoardResult {
    /// The counts.
    pub result: JobResult,
    /// `None` without a directory.
    pub confirmation: Option<Confirmation>,
}

impl From<JobResult> for BoardResult {
    fn from(result: JobResult) -> Self {
        Self {
            result,
            confirmation: None,
        }
    }
}

impl From<RunResult> for BoardResult {
    fn from(recorded: RunResult) -> Self {
        Self {
            result: recorded.result,
            confirmation: Some(recorded.confirmation),
        }
    }
}
