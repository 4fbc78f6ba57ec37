use std::time::Instant;

use parking_lot::Mutex;

use super::events::RunEvent;
use super::progress::Progress;
use super::task_map::{MapKeeper, Mapped, TaskMap};
use super::worker_progress::WorkerState;

/// The progress of a run that takes place in this process.
pub(super) struct LiveProgress {
    start: Instant,
    progress: Mutex<Progress>,
    map: Mutex<MapKeeper>,
}

impl LiveProgress {
    /// Of a run that begins now.
    pub(super) fn begin() -> Self {
        Self {
            start: Instant::now(),
            progress: Mutex::default(),
            map: Mutex::default(),
        }
    }

    /// When the run began.
    pub(super) const fn start(&self) -> Instant {
        self.start
    }

    pub(super) fn note(&self, event: &RunEvent) {
        self.progress.lock().note(event);
        self.map.lock().note(&event.kind);
    }

    /// The run begins with these tasks.
    pub(super) fn map_tasks(&self, plans: &[Mapped]) {
        *self.map.lock() = MapKeeper::new(plans);
    }

    /// Which tasks are counted now.
    pub(super) fn map(&self) -> TaskMap {
        let progress = self.progress.lock();
        let counting = progress
            .workers
            .iter()
            .filter_map(|worker| match worker.state {
                WorkerState::Counting(key) => Some(key),
                _ => None,
            });
        self.map.lock().map(counting)
    }

    /// What is known now.
    pub(super) fn now(&self) -> Progress {
        let mut progress = self.progress.lock().clone();
        if !progress.state.is_final() {
            progress.elapsed = self.start.elapsed();
        }
        progress
    }
}
