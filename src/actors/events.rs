//! What happens in a run, told while it happens.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{Eta, RunState};
use crate::engine::{Engine, KernelName, TaskKey, TaskResult, WorkerId};

/// Something that happened in a run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RunEvent {
    /// The run went to another state.
    State(RunState),
    /// The producer filled the queue.
    Offered {
        /// When it did.
        time: TimeSpan,
    },
    /// The number of batches in the queue of the CPU workers changed.
    Queued {
        /// Batches that wait.
        batches: usize,
    },
    /// A worker has nothing to count and waits for a batch.
    Waiting {
        /// The worker.
        worker: WorkerId,
    },
    /// A worker begins to count a task on the CPU.
    TaskBegun {
        /// The worker.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
    },
    /// A worker, named in the origin of the result, counted a task. The task is done when the
    /// collector has recorded it.
    TaskDone(TaskResult),
    /// A CPU worker counted a batch, or gave it up.
    BatchDone {
        /// The worker.
        worker: WorkerId,
        /// The engine whose tasks they were.
        engine: Engine,
        /// Tasks that the batch was made of.
        tasks: usize,
        /// Nodes searched in them.
        nodes: u64,
        /// From the first task to the last.
        time: TimeSpan,
    },
    /// A launch on a device ended.
    LaunchDone(LaunchTimes),
    /// A task was counted a second time, with the same result. If the results differ, the run fails.
    Audited {
        /// The worker that did it.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
        /// The kernel of the second count.
        by: KernelName,
        /// How long the second count took.
        took: Duration,
    },
    /// The collector took results from a worker.
    Collected {
        /// Results.
        tasks: usize,
        /// When it did.
        time: TimeSpan,
    },
    /// The speed of the run, all workers together, over the last moments.
    Speed {
        /// Nodes per second.
        nodes_per_second: f64,
    },
    /// The time left was estimated.
    Eta(Option<Eta>),
    /// The recorder made results durable.
    Checkpoint {
        /// Results since the checkpoint before.
        tasks: u64,
    },
    /// A worker ended: it counts nothing more in this run.
    Gone {
        /// The worker.
        worker: WorkerId,
    },
}

/// A stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSpan {
    /// Its beginning.
    pub start: Instant,
    /// Its end, not before the beginning.
    pub end: Instant,
}

impl TimeSpan {
    /// From `start` to now.
    pub(super) fn since(start: Instant) -> Self {
        Self {
            start,
            end: Instant::now(),
        }
    }
}

/// When a device did what for a launch.
#[derive(Clone, Debug)]
pub struct LaunchTimes {
    /// The thread that owns the device.
    pub worker: WorkerId,
    /// What its maker calls the device.
    pub device: String,
    /// The stream of the device that it ran on, from 0.
    pub stream: usize,
    /// Tasks in the launch.
    pub tasks: usize,
    /// Copying jobs to the device.
    pub upload: TimeSpan,
    /// Counting.
    pub kernel: TimeSpan,
    /// Copying sums back.
    pub download: TimeSpan,
}

/// Hears of what happens in a run.
///
/// It is called on the thread where things happen, which waits for it: the actors' thread, the
/// workers' threads and the recorder's. So it must be quick, and hand on what takes long.
pub trait Observer: Send + Sync {
    /// Something happened just now.
    fn event(&self, event: &RunEvent);
}

/// All observers of a run. Clones are the same observers.
#[derive(Clone, Default)]
pub(super) struct Observers(Arc<[Arc<dyn Observer>]>);

impl Observers {
    pub(super) fn new(observers: &[Arc<dyn Observer>]) -> Self {
        Self(observers.into())
    }

    /// Whether there is any.
    pub(super) fn listen(&self) -> bool {
        !self.0.is_empty()
    }

    /// Tells all observers of an event, which is made only if there are any.
    pub(super) fn tell(&self, event: impl FnOnce() -> RunEvent) {
        if self.listen() {
            let event = event();
            for observer in self.0.iter() {
                observer.event(&event);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_event_is_made_when_nobody_listens() {
        Observers::default().tell(|| unreachable!("nobody listens"));
    }
}
