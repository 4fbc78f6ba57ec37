//! What each worker is doing, for `Progress` and for observers.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use super::events::{Observers, RunEvent};
use crate::engine::{CountedBy, TaskKey, TaskResult, WorkerId};

/// What a worker does, and what it did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerProgress {
    /// The worker.
    pub id: WorkerId,
    /// The kernel or device that counted its latest task; `None` before the first.
    pub counted_by: Option<CountedBy>,
    /// What it does now.
    pub state: WorkerState,
    /// Tasks counted.
    pub tasks: u64,
    /// Nodes searched in them.
    pub nodes: u64,
    /// How long it counted them.
    pub busy: Duration,
}

impl WorkerProgress {
    /// Nodes for each second of counting.
    pub fn nodes_per_second(&self) -> f64 {
        if self.busy.is_zero() {
            0.0
        } else {
            self.nodes as f64 / self.busy.as_secs_f64()
        }
    }
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// It makes itself ready: its thread starts, its device is opened and tested.
    Starting,
    /// It waits for a batch.
    Waiting,
    /// It counts this task on the CPU.
    Counting(TaskKey),
    /// Its device counts.
    Launching,
    /// It has ended.
    Gone,
}

/// Where one worker says what it does. Clones are of the same worker.
#[derive(Clone)]
pub(super) struct WorkerStatus {
    pub(super) id: WorkerId,
    progress: Arc<Mutex<WorkerProgress>>,
    pub(super) observers: Observers,
}

impl WorkerStatus {
    pub(super) fn new(id: WorkerId, observers: Observers) -> Self {
        let progress = WorkerProgress {
            id,
            counted_by: None,
            state: WorkerState::Starting,
            tasks: 0,
            nodes: 0,
            busy: Duration::ZERO,
        };
        Self {
            id,
            progress: Arc::new(Mutex::new(progress)),
            observers,
        }
    }

    /// What the worker does now.
    pub(super) fn progress(&self) -> WorkerProgress {
        self.progress.lock().clone()
    }

    pub(super) fn waits(&self) {
        let worker = self.id;
        if self.goes(WorkerState::Waiting) {
            self.observers.tell(|| RunEvent::Waiting { worker });
        }
    }

    pub(super) fn begins(&self, key: TaskKey) {
        let worker = self.id;
        self.goes(WorkerState::Counting(key));
        self.observers.tell(|| RunEvent::TaskBegun { worker, key });
    }

    pub(super) fn launches(&self) {
        self.goes(WorkerState::Launching);
    }

    pub(super) fn counted(&self, result: &TaskResult) {
        let mut progress = self.progress.lock();
        progress.tasks += 1;
        progress.nodes += result.tally.nodes;
        progress.busy += result.duration;
        let counted_by = &result.origin.counted_by;
        if progress.counted_by.as_ref() != Some(counted_by) {
            progress.counted_by = Some(counted_by.clone());
        }
        drop(progress);
        self.observers.tell(|| RunEvent::TaskDone(result.clone()));
    }

    /// A result was confirmed by a second count that took this long.
    pub(super) fn audited(&self, result: &TaskResult, took: Duration) {
        if let Some(by) = &result.audited_by {
            self.observers.tell(|| RunEvent::Audited {
                worker: self.id,
                key: result.key,
                by: by.clone(),
                took,
            });
        }
    }

    pub(super) fn ends(&self) {
        let worker = self.id;
        self.goes(WorkerState::Gone);
        self.observers.tell(|| RunEvent::Gone { worker });
    }

    /// Whether the state is another one than before.
    fn goes(&self, state: WorkerState) -> bool {
        std::mem::replace(&mut self.progress.lock().state, state) != state
    }
}
