use crate::engine::{TaskKey, TaskResult};

/// Keeps results for longer than the run lives.
///
/// The runtime knows no files; whoever keeps results implements this. The collector calls it on
/// the thread of the actors, so no call may wait for a disk or a network, with one exception: while
/// more results wait than may pile up in memory, a call may wait until one of them is taken.
pub trait Recorder: Send + Sync {
    /// Takes a result to record it. It need not be safe before [`flush`](Self::flush) is answered,
    /// or before a bounded time has passed that the implementation states.
    ///
    /// # Errors
    /// This or an earlier result could not be recorded.
    fn record(&self, result: TaskResult) -> Result<(), RecordError>;

    /// Calls `tell` from now on, on any thread, when results became durable, with their number. A
    /// number of 0 is passed over.
    fn on_checkpoint(&self, tell: OnCheckpoint);

    /// Asks for `flushed` to be answered, on any thread, when everything taken so far is safe.
    fn flush(&self, flushed: Flushed);
}

/// Hears how many results became durable.
pub type OnCheckpoint = Box<dyn Fn(u64) + Send + Sync>;

/// Answers a [flush](Recorder::flush) once. Dropping it without an answer is an error: the recorder
/// is gone.
pub struct Flushed(Option<Tell>);

type Tell = Box<dyn FnOnce(Result<(), RecordError>) + Send>;

impl Flushed {
    /// Calls `tell` with the answer.
    pub fn new(tell: impl FnOnce(Result<(), RecordError>) + Send + 'static) -> Self {
        Self(Some(Box::new(tell)))
    }

    /// Everything taken before the flush is safe, or why it is not.
    pub fn answer(mut self, result: Result<(), RecordError>) {
        if let Some(tell) = self.0.take() {
            tell(result);
        }
    }
}

impl Drop for Flushed {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            let gone = "what was counted cannot be recorded: the recorder is gone";
            tell(Err(RecordError::Failed(gone.to_owned())));
        }
    }
}

/// Why a result could not be recorded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// The task is recorded with another result.
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
