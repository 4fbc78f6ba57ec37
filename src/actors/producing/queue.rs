//! The bounded queue between the producer and the workers.

use std::time::Duration;

use crossbeam::channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, bounded, select};

use crate::actors::{PlanIndex, WorkerIndex};
use crate::engine::CountedBy;

/// A handful of tasks of one plan, handed to a worker at once. Never recorded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Batch {
    pub(crate) plan: PlanIndex,
    /// Positions of the tasks in the plan.
    pub(crate) tasks: Vec<u64>,
    /// What they were expected to cost, in core-seconds by the plan's estimate, when the batch was
    /// made.
    pub(crate) cost: f64,
    /// The only worker that may count them: not the one they panicked on, or a device.
    pub(crate) only: Option<WorkerIndex>,
    /// Its tasks are counted again, by none of these kernels. `None`: they are counted for the first time.
    pub(crate) again: Option<Vec<CountedBy>>,
}

impl Batch {
    /// Tasks of a plan that any CPU worker may count.
    pub(crate) const fn of(plan: PlanIndex, tasks: Vec<u64>) -> Self {
        Self {
            plan,
            tasks,
            cost: 0.0,
            only: None,
            again: None,
        }
    }

    /// The same for these of its tasks.
    pub(crate) fn with(&self, tasks: &[u64]) -> Self {
        Self {
            tasks: tasks.to_vec(),
            ..self.clone()
        }
    }

    /// A batch without tasks, which asks a worker to count its canary.
    pub(crate) fn canary(worker: WorkerIndex) -> Self {
        Self {
            only: Some(worker),
            ..Self::of(PlanIndex(0), Vec::new())
        }
    }

    /// Whether it asks for the canary.
    pub(crate) const fn is_canary(&self) -> bool {
        self.tasks.is_empty()
    }
}

/// The end that batches are put into.
///
/// Batches are boxed, because a run of many workers has room for millions of them.
///
/// All CPU workers draw from one queue. Each worker also has a tray for what only it may count: tasks
/// that panicked elsewhere, and what a device asked for. Dropping this end closes queue and trays.
pub(crate) struct Inlet {
    queue: Sender<Box<Batch>>,
    trays: Vec<Sender<Box<Batch>>>,
    queued: Receiver<Box<Batch>>,
    trayed: Vec<Receiver<Box<Batch>>>,
}

/// The end that one worker draws from.
#[derive(Clone)]
pub(crate) struct Outlet {
    queue: Receiver<Box<Batch>>,
    tray: Receiver<Box<Batch>>,
}

/// A queue that holds `depth` batches, and for each worker a tray that holds as many.
pub(crate) fn queue(workers: usize, depth: usize) -> (Inlet, Vec<Outlet>) {
    let (queue, queued) = bounded(depth);
    let (trays, trayed): (Vec<_>, Vec<_>) = (0..workers).map(|_| bounded(depth)).unzip();
    let outlets = trayed
        .iter()
        .map(|tray| Outlet {
            queue: queued.clone(),
            tray: tray.clone(),
        })
        .collect();
    let inlet = Inlet {
        queue,
        trays,
        queued,
        trayed,
    };
    (inlet, outlets)
}

impl Inlet {
    /// Puts a batch into the queue, or into the tray of the worker it is for; gives it back if
    /// that is full.
    pub(crate) fn offer(&self, batch: Batch) -> Result<(), Batch> {
        let to = batch
            .only
            .map_or(&self.queue, |worker| &self.trays[worker.0]);
        to.try_send(Box::new(batch))
            .map_err(|full| *full.into_inner())
    }

    /// Takes back what no worker has drawn yet.
    pub(crate) fn take_back(&self) -> Vec<Batch> {
        let trays = self.trayed.iter().flat_map(undrawn);
        undrawn(&self.queued).chain(trays).collect()
    }

    /// Takes back what is in one worker's tray.
    pub(crate) fn take_back_from(&self, worker: WorkerIndex) -> Vec<Batch> {
        undrawn(&self.trayed[worker.0]).collect()
    }

    /// Batches in the queue.
    pub(crate) fn depth(&self) -> usize {
        self.queued.len()
    }
}

/// What is there now.
fn undrawn(from: &Receiver<Box<Batch>>) -> impl Iterator<Item = Batch> {
    from.try_iter().map(|batch| *batch)
}

impl Outlet {
    /// The next batch, from the tray if there is one; waits for it. `None` once the queue is
    /// closed.
    pub(crate) fn draw(&self) -> Option<Batch> {
        match self.tray.try_recv() {
            Ok(batch) => return Some(*batch),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {}
        }
        select! {
            recv(self.tray) -> batch => batch.ok().map(|batch| *batch),
            recv(self.queue) -> batch => batch.ok().map(|batch| *batch),
        }
    }

    /// The next batch from the tray alone, waiting for it at most for `patience`; or whether the queue is closed.
    pub(crate) fn draw_own(&self, patience: Duration) -> Result<Batch, RecvTimeoutError> {
        self.tray.recv_timeout(patience).map(|batch| *batch)
    }

    /// Batches in the queue.
    pub(crate) fn depth(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(task: u64) -> Batch {
        Batch::of(PlanIndex(0), vec![task])
    }

    fn batch_for(worker: WorkerIndex) -> Batch {
        Batch {
            only: Some(worker),
            ..batch(1)
        }
    }

    #[test]
    fn a_full_queue_gives_the_batch_back() {
        let (inlet, _outlets) = queue(1, 2);
        assert_eq!(inlet.offer(batch(0)), Ok(()));
        assert_eq!(inlet.offer(batch(1)), Ok(()));
        assert_eq!(inlet.offer(batch(2)), Err(batch(2)));
        assert_eq!(inlet.depth(), 2);
    }

    #[test]
    fn a_tray_comes_before_the_queue_and_belongs_to_one_worker() {
        let (inlet, outlets) = queue(2, 2);
        inlet.offer(batch(0)).unwrap();
        inlet.offer(batch_for(WorkerIndex(1))).unwrap();
        assert_eq!(outlets[1].draw(), Some(batch_for(WorkerIndex(1))));
        assert_eq!(outlets[0].draw(), Some(batch(0)));
    }

    #[test]
    fn what_was_not_drawn_can_be_taken_back() {
        let (inlet, outlets) = queue(1, 2);
        inlet.offer(batch(0)).unwrap();
        inlet.offer(batch_for(WorkerIndex(0))).unwrap();
        assert_eq!(inlet.take_back(), [batch(0), batch_for(WorkerIndex(0))]);
        drop(inlet);
        assert_eq!(outlets[0].draw(), None);
    }
}
