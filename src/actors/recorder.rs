use crate::engine::{Engine, Tally, TaskKey, TaskResult};

/// Keeps finished tasks for longer than the run lives.
///
/// The runtime knows no files; whoever keeps records implements this. The collector calls it from
/// the thread of the actors, so that nothing but [`flush`](Self::flush) may take long.
pub trait Recorder: Send + Sync {
    /// Whether the task was recorded before this run began.
    fn is_restored(&self, task: TaskKey) -> bool;

    /// Whether this run is to count the task. Never true of a restored one.
    fn is_pending(&self, task: TaskKey) -> bool;

    /// The sum of the restored tasks of a plan.
    fn restored(&self, engine: Engine) -> Tally;

    /// Takes a finished task to record it. Nothing is promised until [`flush`](Self::flush)
    /// returns, or a bounded time has passed that the implementation states.
    ///
    /// # Errors
    /// This or an earlier task could not be recorded.
    fn record(&self, result: TaskResult) -> Result<(), RecordError>;

    /// Waits until everything taken is safe.
    ///
    /// # Errors
    /// Something could not be recorded.
    fn flush(&self) -> Result<(), RecordError>;
}

/// Why a task could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It is recorded with another result.
    #[error("task {task}: {message}")]
    Mismatch {
        /// The task.
        task: TaskKey,
        /// Both results.
        message: String,
    },
    /// The record cannot be written.
    #[error("{0}")]
    Failed(String),
}
