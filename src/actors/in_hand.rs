//! What a worker has in hand: the watch over the task that it counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::engine::TaskWatch;

/// How long tasks in hand may go on after a run was asked to stop or to pause. Then they are given up.
/// It must leave the counters time to look at their watches within two seconds after the request, also on a
/// busy machine.
pub(super) const GRACE: Duration = Duration::from_secs(1);

/// The watches over the tasks that the workers of a run count on the CPU.
pub(super) struct InHand {
    give_up: Arc<AtomicBool>,
    watches: Vec<TaskWatch>,
}

impl InHand {
    /// For so many workers.
    pub(super) fn new(workers: usize) -> Self {
        let give_up = Arc::new(AtomicBool::new(false));
        let watch = |_| TaskWatch::new(Arc::clone(&give_up));
        Self {
            watches: (0..workers).map(watch).collect(),
            give_up,
        }
    }

    /// The watch over the task that a worker counts.
    pub(super) fn watch(&self, worker: usize) -> &TaskWatch {
        &self.watches[worker]
    }

    /// A watch over a task that is counted a second time: nothing of it is shown.
    pub(super) fn second_watch(&self) -> TaskWatch {
        TaskWatch::new(Arc::clone(&self.give_up))
    }

    /// From now on, or no longer, tasks in hand are to be given up.
    pub(super) fn set_give_up(&self, give_up: bool) {
        self.give_up.store(give_up, Ordering::Relaxed);
    }
}
