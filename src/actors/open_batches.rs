//! The batches that a device has drawn and not settled yet.

use std::collections::HashSet;

use actix::Addr;

use super::collector::Collector;
use super::index::WorkerIndex;
use super::messages::Counted;
use super::queue::Batch;

/// Batches, each with its tasks that are not counted yet. Each is reported when all its tasks are counted or given
/// back.
pub(super) struct OpenBatches {
    worker: WorkerIndex,
    collector: Addr<Collector>,
    open: Vec<Open>,
}

/// A batch, with its tasks that are not counted yet, and those to be given back.
struct Open {
    batch: Batch,
    waiting: HashSet<u64>,
    back: Vec<u64>,
}

impl OpenBatches {
    /// None yet, of this worker.
    pub(super) const fn new(worker: WorkerIndex, collector: Addr<Collector>) -> Self {
        Self {
            worker,
            collector,
            open: Vec::new(),
        }
    }

    /// Adds a batch.
    pub(super) fn add(&mut self, batch: Batch) {
        self.open.push(Open {
            waiting: batch.tasks.iter().copied().collect(),
            back: Vec::new(),
            batch,
        });
    }

    /// Notes that a task is counted.
    pub(super) fn note_counted(&mut self, task: u64) {
        self.end(task);
    }

    /// Notes that a task comes back uncounted.
    pub(super) fn give_back(&mut self, task: u64) {
        if let Some(open) = self.end(task) {
            open.back.push(task);
        }
    }

    fn end(&mut self, task: u64) -> Option<&mut Open> {
        let mut open = self.open.iter_mut();
        open.find_map(|open| open.waiting.remove(&task).then_some(open))
    }

    /// Reports the batches that are over.
    pub(super) fn settle(&mut self) {
        for Open { batch, back, .. } in self.open.extract_if(.., |open| open.waiting.is_empty()) {
            let mut message = Counted::nothing(self.worker, batch.plan);
            message.left = Some(Batch {
                tasks: back,
                ..batch
            });
            self.collector.do_send(message);
        }
    }

    /// Gives back whatever is not counted.
    pub(super) fn return_all(&mut self) {
        for open in &mut self.open {
            open.back.extend(open.waiting.drain());
        }
        self.settle();
    }
}
