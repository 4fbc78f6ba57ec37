//! What is printed of a board.

use queenfold::job::JobResult;
use queenfold_ledger::ledger::{CountedWith, WhoCounted};
use queenfold_ledger::run_directory::RunResult;

/// What a job found, and who counted its tasks if a directory keeps them.
pub struct BoardResult {
    /// The counts.
    pub result: JobResult,
    /// `None` without a directory.
    pub who: Option<WhoCounted>,
}

impl From<JobResult> for BoardResult {
    fn from(result: JobResult) -> Self {
        Self { result, who: None }
    }
}

impl From<RunResult> for BoardResult {
    fn from(recorded: RunResult) -> Self {
        Self {
            result: recorded.result,
            who: Some(recorded.who),
        }
    }
}

impl BoardResult {
    /// What counted, if this process did not.
    pub fn earlier(&self) -> Option<&CountedWith> {
        let workers = &self.result.report.workers;
        let with = self.who.as_ref()?.with.as_ref();
        with.filter(|_| workers.iter().all(|worker| worker.tasks == 0))
    }
}
