use super::events::SickWorker;
use crate::engine::{Correction, TaskKey, TaskResult};

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

    /// Takes results of a task that differ, with what was decided about them. The task was
    /// [recorded](Self::record) before. From then on, the deciding result counts; what it refuses stays in
    /// a log. Whoever adds up tallies must follow.
    ///
    /// A recorder that keeps no such log refuses, which is the default: then the run ends without a
    /// result.
    ///
    /// # Errors
    /// There is no log, or the correction could not be recorded.
    fn correct(&self, correction: Correction) -> Result<(), RecordError> {
        let mut counts = Vec::new();
        for result in correction.results() {
            let (tally, origin) = (result.tally.exact(), &result.origin);
            counts.push(format!("{tally} by {}", origin.counted_by));
        }
        Err(RecordError::Mismatch {
            task: correction.recorded.key,
            message: format!(
                "it was counted with different results: {}",
                counts.join(", ")
            ),
        })
    }

    /// Takes back a result that was [recorded](Self::record): it is doubted, and the run ends before its
    /// task is counted again.
    ///
    /// # Errors
    /// It could not be taken back.
    fn withdraw(&self, task: TaskKey) -> Result<(), RecordError> {
        Err(RecordError::Failed(format!("task {task} stays recorded")))
    }

    /// Notes for the log that a worker counted wrongly.
    fn note_taken_out(&self, _taken_out: &SickWorker) {}

    /// All results that are recorded, in any order. It may take long, and is called when a run is counted
    /// and contradicts what is known.
    ///
    /// # Errors
    /// They cannot be read.
    fn results(&self) -> Result<Vec<RecordedResult>, RecordError> {
        Ok(Vec::new())
    }

    /// Calls `tell` from now on, on any thread, when results became durable, with their number. A
    /// number of 0 is passed over.
    fn on_checkpoint(&self, tell: OnCheckpoint);

    /// Asks for `flushed` to be answered, on any thread, when everything taken so far is safe.
    fn flush(&self, flushed: Flushed);
}

/// A result that a recorder keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResult {
    /// The result.
    pub result: TaskResult,
    /// Whether this run counted it, and not another process before it.
    pub is_own: bool,
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
