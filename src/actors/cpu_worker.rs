//! What the thread of a CPU worker does: draw batches, count their tasks, report.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::Recipient;
use tracing::warn;

use super::attempt::{Attempt, attempt};
use super::messages::{Costed, Counted, Ended};
use super::queue::{Batch, Outlet};
use super::shared::RunShared;
use super::{EventKind, panics};
use crate::engine::Counter;

/// How long results may wait for the rest of their batch before they are reported.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// What the thread of a worker needs to begin. Another thread begins with it if the first dies.
#[derive(Clone)]
pub(super) struct WorkerContext {
    pub(super) shared: Arc<RunShared>,
    pub(super) worker: usize,
    pub(super) name: String,
    pub(super) outlet: Outlet,
    pub(super) collector: Recipient<Counted>,
    pub(super) actor: Recipient<Ended>,
}

impl WorkerContext {
    /// The life of the thread: until the queue is closed, or a panic.
    pub(super) fn work(self) {
        panics::catch_on_this_thread();
        let actor = self.actor.clone();
        let mut work = CpuWorkerLoop::new(self);
        let end = catch_unwind(AssertUnwindSafe(|| {
            work.run();
            // Freed here, so that joining the thread after its last message takes no time.
            work.counters.clear();
        }));
        let died = end.err().map(|payload| panics::describe(payload.as_ref()));
        actor.do_send(Ended {
            died,
            batch: work.batch.take(),
        });
    }
}

struct CpuWorkerLoop {
    context: WorkerContext,
    /// One for each plan, made when first needed.
    counters: Vec<Option<Box<dyn Counter>>>,
    /// The batch that is being counted.
    batch: Option<Batch>,
}

impl CpuWorkerLoop {
    fn new(context: WorkerContext) -> Self {
        Self {
            counters: context.shared.plans.iter().map(|_| None).collect(),
            batch: None,
            context,
        }
    }

    fn run(&mut self) {
        loop {
            let shared = &self.context.shared;
            let worker = shared.worker_id(self.context.worker);
            let waiting = Instant::now();
            shared.observers.tell(EventKind::Waiting { worker });
            self.batch = self.context.outlet.draw();
            let has_batch = self.batch.is_some();
            shared.tell_waited(self.context.worker, waiting, has_batch);
            let Some(batch) = self.batch.clone() else {
                return;
            };
            let batches = self.context.outlet.depth();
            shared.observers.tell(EventKind::Queued { batches });
            self.count(&batch);
            self.batch = None;
        }
    }

    fn count(&mut self, batch: &Batch) {
        let plan = Arc::clone(&self.context.shared.plans[batch.plan]);
        let start = Instant::now();
        let mut nodes = 0;
        let mut message = self.message(batch.plan);
        let mut reported = start;
        let mut left = batch.tasks.as_slice();
        while let Some((&index, rest)) = left.split_first()
            && message.mismatch.is_none()
            && !self.context.shared.is_halted()
        {
            let task = plan.task(index);
            let counter = &mut self.counters[batch.plan];
            let outcome = attempt(
                &self.context.shared,
                self.context.worker,
                batch.plan,
                &task,
                counter,
            );
            match outcome {
                Attempt::GivenUp => break,
                Attempt::Counted(result) => {
                    nodes += result.tally.nodes;
                    message.results.push(Costed {
                        result,
                        cost: task.cost,
                    });
                }
                Attempt::Mismatch(mismatch) => {
                    message.mismatch = Some((index, mismatch.to_string()));
                }
                Attempt::Panic(said) => {
                    warn!(worker = self.context.name, task = %task.key, "panic: {said}");
                    message.panicked.push((index, said));
                }
            }
            left = rest;
            #[cfg(feature = "fault-injection")]
            self.context.shared.injector.die();
            if reported.elapsed() >= REPORT_EVERY {
                reported = Instant::now();
                let full = std::mem::replace(&mut message, self.message(batch.plan));
                // A mismatch ends the batch, so the next message needs it too.
                message.mismatch.clone_from(&full.mismatch);
                self.context.collector.do_send(full);
            }
        }
        let shared = &self.context.shared;
        shared.observers.tell(EventKind::BatchDone {
            worker: shared.worker_id(self.context.worker),
            engine: plan.engine(),
            tasks: batch.tasks.len(),
            nodes,
            time: shared.observers.span(start, Instant::now()),
        });
        message.left = Some(Batch {
            tasks: left.to_vec(),
            ..*batch
        });
        self.context.collector.do_send(message);
    }

    fn message(&self, plan: usize) -> Counted {
        Counted::nothing(self.context.worker, plan)
    }
}
