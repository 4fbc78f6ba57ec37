use std::time::Duration;

use crate::engine::{Engine, Tally, TaskId};

/// Keeps finished tasks for longer than the run lives.
///
/// The runtime knows no files; whoever keeps records implements this. The collector calls it from
/// the thread of the actors, so that nothing but [`flush`](Self::flush) may take long.
pub trait Recorder: Send + Sync {
    /// Whether the task was recorded before this run began.
    fn is_restored(&self, task: TaskId) -> bool;

    /// Whether this run is to count the task. Never true of a restored one.
    fn is_pending(&self, task: TaskId) -> bool;

    /// The sum of the restored tasks of a plan.
    fn restored(&self, engine: Engine) -> Tally;

    /// Takes a finished task to record it. Nothing is promised until [`flush`](Self::flush)
    /// returns, or a bounded time has passed that the implementation states.
    ///
    /// # Errors
    /// This or an earlier task could not be recorded.
    fn record(&self, finished: Finished) -> Result<(), RecordError>;

    /// Waits until everything taken is safe.
    ///
    /// # Errors
    /// Something could not be recorded.
    fn flush(&self) -> Result<(), RecordError>;
}

/// A finished task, and how it was counted.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The task.
    pub task: TaskId,
    /// What it counted.
    pub tally: Tally,
    /// The kernel that counted it.
    pub backend: &'static str,
    /// What the kernel ran on: `cpu`, or the name of a device.
    pub device: String,
    /// The name of the worker.
    pub worker: String,
    /// The kernel that counted it again, with the same result.
    pub audited_by: Option<&'static str>,
    /// How long the count took, an audit not included.
    pub took: Duration,
}

/// Why a task could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is recorded with another result.
    #[error("task {task}: {message}")]
    Mismatch {
        /// The task.
        task: TaskId,
        /// Both results.
        message: String,
    },
    /// The record cannot be written.
    #[error("{0}")]
    Failed(String),
}
