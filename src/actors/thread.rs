//! What the thread of a CPU worker does: draw batches, count their tasks, report.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix::Recipient;
use tracing::warn;

use super::attempt::{Outcome, attempt};
use super::events::{RunEvent, TimeSpan};
use super::floor::Floor;
use super::messages::{Costed, Counted, Ended};
use super::queue::{Batch, Outlet};
use super::worker_status::WorkerStatus;
use super::{WorkerReport, panics};
use crate::engine::Counter;

/// How long results may wait for the rest of their batch before they are reported.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// What the thread of a worker needs to begin. Another thread begins with it if the first dies.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) floor: Arc<Floor>,
    pub(super) worker: usize,
    pub(super) name: String,
    pub(super) outlet: Outlet,
    pub(super) collector: Recipient<Counted>,
    pub(super) actor: Recipient<Ended>,
}

impl Desk {
    /// The life of the thread: until the queue is closed, or a panic.
    pub(super) fn work(self) {
        panics::catch_on_this_thread();
        let actor = self.actor.clone();
        let mut work = Work::new(self);
        let end = catch_unwind(AssertUnwindSafe(|| {
            work.run();
            // Freed here, so that joining the thread after its last message takes no time.
            work.counters.clear();
        }));
        let died = end.err().map(|payload| panics::describe(payload.as_ref()));
        actor.do_send(Ended {
            report: std::mem::take(&mut work.report),
            died,
            batch: work.batch.take(),
        });
    }
}

struct Work {
    desk: Desk,
    /// One for each plan, made when first needed.
    counters: Vec<Option<Box<dyn Counter>>>,
    report: WorkerReport,
    /// The batch that is being counted.
    batch: Option<Batch>,
}

impl Work {
    fn new(desk: Desk) -> Self {
        Self {
            counters: desk.floor.plans.iter().map(|_| None).collect(),
            report: WorkerReport {
                name: desk.name.clone(),
                ..WorkerReport::default()
            },
            batch: None,
            desk,
        }
    }

    fn run(&mut self) {
        loop {
            let waiting = Instant::now();
            self.status().waits();
            self.batch = self.desk.outlet.draw();
            let (waited, starved) = self.desk.floor.split_wait(waiting);
            self.report.waiting += waited;
            self.report.starved += starved;
            let Some(batch) = self.batch.clone() else {
                return;
            };
            let batches = self.desk.outlet.depth();
            let observers = &self.desk.floor.observers;
            observers.tell(|| RunEvent::Queued { batches });
            self.count(&batch);
            self.batch = None;
        }
    }

    fn count(&mut self, batch: &Batch) {
        let plan = Arc::clone(&self.desk.floor.plans[batch.plan]);
        let start = Instant::now();
        let nodes = self.report.nodes;
        let mut message = self.message(batch.plan);
        let mut reported = Instant::now();
        let mut begun = reported;
        let mut left = batch.tasks.as_slice();
        while let Some((&index, rest)) = left.split_first()
            && message.mismatch.is_none()
            && !self.desk.floor.is_halted()
        {
            left = rest;
            let task = plan.task(index);
            let counter = &mut self.counters[batch.plan];
            let outcome = attempt(
                &self.desk.floor,
                self.desk.worker,
                batch.plan,
                &task,
                counter,
            );
            let now = Instant::now();
            let took = now - begun;
            begun = now;
            self.report.busy += took;
            self.report.finished = now - self.desk.floor.start;
            match outcome {
                Outcome::Counted(result) => {
                    if self.report.backend.is_empty() || batch.plan == 0 {
                        let backend = result.origin.counted_by.backend();
                        backend.clone_into(&mut self.report.backend);
                    }
                    self.report.tasks += 1;
                    self.report.nodes += result.tally.nodes;
                    message.results.push(Costed {
                        result,
                        cost: task.cost,
                    });
                }
                Outcome::Mismatch(mismatch) => {
                    message.mismatch = Some((index, mismatch.to_string()));
                }
                Outcome::Panic(said) => {
                    warn!(worker = self.desk.name, task = %task.key, "panic: {said}");
                    message.panicked.push((index, said));
                }
            }
            #[cfg(feature = "fault-injection")]
            self.desk.floor.injector.die();
            if now - reported >= REPORT_EVERY {
                reported = now;
                let full = std::mem::replace(&mut message, self.message(batch.plan));
                // A mismatch ends the batch, so the next message needs it too.
                message.mismatch.clone_from(&full.mismatch);
                self.desk.collector.do_send(full);
            }
        }
        self.desk.floor.observers.tell(|| RunEvent::BatchDone {
            worker: self.status().id,
            engine: plan.engine(),
            tasks: batch.tasks.len(),
            nodes: self.report.nodes - nodes,
            time: TimeSpan::since(start),
        });
        message.left = Some(Batch {
            tasks: left.to_vec(),
            ..*batch
        });
        self.desk.collector.do_send(message);
    }

    fn status(&self) -> &WorkerStatus {
        self.desk.floor.status(self.desk.worker)
    }

    fn message(&self, plan: usize) -> Counted {
        Counted {
            worker: self.desk.worker,
            plan,
            results: Vec::new(),
            panicked: Vec::new(),
            mismatch: None,
            left: None,
        }
    }
}
