//! How results are kept for longer than a run lives: what a ledger, or a user of the library, implements.

use crate::actors::FaultyWorker;
use crate::engine::{Correction, TaskKey, TaskResult};

/// Keeps results for longer than the run lives.
///
/// The runtime knows no files; whoever keeps results implements this. The collector calls it on
/// the thread of the actors, so no call may wait for a disk or a network, with one exception: while
/// more results wait than may pile up in memory, a call may wait until one of them is taken.
pub trait Recorder: Send + Sync {
    /// Takes what the run found. It need not be safe before [`flush`](Self::flush) is answered, or before a bounded time
    /// has passed that the implementation states. One that keeps results alone answers everything else with
    /// [`Finding::unlogged`].
    ///
    /// # Errors
    /// This or an earlier finding could not be recorded.
    fn take(&self, finding: Finding) -> Result<(), RecordError>;

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

/// What a run has recorded, in the order in which it came about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A task was counted.
    Result(TaskResult),
    /// Counts of a recorded task differ, and this was decided. From then on, the deciding result counts; what it refuses
    /// stays in a log. Whoever adds up tallies must follow.
    Correction(Box<Correction>),
    /// A recorded result is taken back: it is doubted, and the run ends before its task is counted again.
    Withdrawal(TaskKey),
    /// A worker counted wrongly. It is noted for the log.
    Faulty(FaultyWorker),
}

impl Finding {
    /// The answer of a recorder without a log: a correction or a withdrawal ends its run without a result.
    ///
    /// # Errors
    /// The finding changes what is recorded.
    pub fn unlogged(&self) -> Result<(), RecordError> {
        match self {
            Self::Result(_) | Self::Faulty(_) => Ok(()),
            Self::Withdrawal(task) => {
                Err(RecordError::Failed(format!("task {task} stays recorded")))
            }
            Self::Correction(correction) => {
                let counts = correction.results().map(|result| {
                    format!("{} by {}", result.tally.exact(), result.origin.counted_by)
                });
                let counts: Vec<_> = counts.collect();
                Err(RecordError::Mismatch {
                    task: correction.recorded.key,
                    message: format!(
                        "it was counted with different results: {}",
                        counts.join(", ")
                    ),
                })
            }
        }
    }
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
