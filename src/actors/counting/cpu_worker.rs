//! What the thread of a CPU worker does: draw batches, count their tasks, report.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::actors::{
    Batch, CanarySchedule, Collector, Counted, Counters, Ended, EventKind, Outlet, RunShared,
    ToCollector, WorkerIndex, panics, try_task,
};
use crate::engine::WorkerId;
use crate::system::ThreadClock;
use actix::{Addr, Recipient};
use crossbeam::channel::RecvTimeoutError;

/// How long results may wait for the rest of their batch before they are reported.
const REPORT_EVERY: Duration = Duration::from_millis(200);

/// How often a retired worker looks whether the run is over.
const NAP: Duration = Duration::from_millis(50);

/// What the thread of a worker needs to begin. Another thread begins with it if the first dies.
#[derive(Clone)]
pub(crate) struct WorkerContext {
    pub(crate) shared: Arc<RunShared>,
    pub(crate) worker: WorkerIndex,
    pub(crate) outlet: Outlet,
    pub(crate) collector: Addr<Collector>,
    pub(crate) actor: Recipient<Ended>,
    /// Whether a thread before this one died.
    pub(crate) is_restarted: bool,
}

impl WorkerContext {
    /// The name of the worker.
    pub(crate) fn id(&self) -> WorkerId {
        self.shared.roster.id(self.worker)
    }

    /// Tells of something that happened just now.
    pub(crate) fn tell(&self, kind: EventKind) {
        self.shared.observers.tell(kind);
    }

    /// The life of the thread: until the queue is closed, or a panic.
    pub(crate) fn work(self) {
        panics::catch_on_this_thread();
        let actor = self.actor.clone();
        let mut work = CpuWorkerLoop::new(self);
        let end = catch_unwind(AssertUnwindSafe(|| {
            work.run();
            // Freed here, so that joining the thread after its last message takes no time.
            work.counters.clear();
        }));
        let died = end.err().map(|payload| panics::describe(payload.as_ref()));
        // It died in the middle of this batch: what was not reported of it is counted again.
        if let Some(batch) = work.batch.take() {
            let mut message = Counted::nothing(work.context.worker, batch.plan);
            message.left = Some(batch);
            work.context
                .collector
                .do_send(ToCollector::Counted(message));
        }
        actor.do_send(Ended(died));
    }
}

struct CpuWorkerLoop {
    context: WorkerContext,
    counters: Counters,
    /// What was not reported yet of the batch that is being counted.
    batch: Option<Batch>,
    canary_schedule: CanarySchedule,
}

impl CpuWorkerLoop {
    fn new(context: WorkerContext) -> Self {
        Self {
            counters: Counters::new(Arc::clone(&context.shared), context.worker),
            batch: None,
            canary_schedule: CanarySchedule::new(context.is_restarted, false),
            context,
        }
    }

    fn run(&mut self) {
        loop {
            let (worker, waiting) = (self.context.id(), Instant::now());
            self.context.tell(EventKind::Waiting { worker });
            self.batch = self.draw();
            let shared = &self.context.shared;
            let has_batch = self.batch.is_some();
            shared.tell_waited(self.context.worker, waiting, has_batch);
            let Some(batch) = self.batch.clone() else {
                // Everything that the run waited for is tested. If it was stopped, something may not be.
                if self.canary_schedule.is_untested(shared) {
                    self.count_canary();
                }
                return;
            };
            let batches = self.context.outlet.depth();
            self.context.tell(EventKind::Queued { batches });
            // Before the first task, and when everything is counted.
            let canary_is_due = match batch.is_canary() {
                true => self.canary_schedule.is_untested(shared),
                false => self.canary_schedule.is_due(shared),
            };
            if canary_is_due {
                self.count_canary();
            }
            self.count(&batch);
        }
    }

    /// The next batch. A retired worker gets only what was meant for it before.
    fn draw(&self) -> Option<Batch> {
        let (shared, outlet) = (&self.context.shared, &self.context.outlet);
        while shared.roster.is_retired(self.context.worker) {
            match outlet.draw_own(NAP) {
                Ok(batch) => return Some(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
        outlet.draw()
    }

    /// Counts the canary, and tells the collector what came of it. A worker that fails is retired at once.
    fn count_canary(&mut self) {
        let (shared, worker) = (&self.context.shared, self.context.worker);
        let counted = self.canary_schedule.count(&self.counters);
        if counted.outcome.is_err() {
            shared.roster.retire(worker);
        }
        self.context.collector.do_send(ToCollector::Canary(counted));
    }

    fn count(&mut self, batch: &Batch) {
        let plan = Arc::clone(self.context.shared.plan(batch.plan));
        let (start, clock) = (Instant::now(), ThreadClock::now());
        let (worker, mut nodes) = (self.context.worker, 0);
        let nothing = || Counted::nothing(worker, batch.plan);
        let mut message = nothing();
        let mut reported = start;
        let mut left = batch.tasks.as_slice();
        while let Some((&index, rest)) = left.split_first()
            && message.mismatch.is_none()
            && !self.context.shared.is_halted()
            && !self.context.shared.roster.is_retired(worker)
        {
            let (counters, canaries) = (&mut self.counters, &mut self.canary_schedule);
            let task = plan.task(index);
            let Some(searched) = try_task(counters, canaries, batch, &task, &mut message) else {
                break;
            };
            nodes += searched;
            left = rest;
            self.context.shared.faults.after_task();
            let canary_is_due = self.canary_schedule.is_due(&self.context.shared);
            if reported.elapsed() >= REPORT_EVERY || canary_is_due {
                reported = Instant::now();
                let full = std::mem::replace(&mut message, nothing());
                // A mismatch ends the batch, so the next message needs it too.
                message.mismatch.clone_from(&full.mismatch);
                self.context.collector.do_send(ToCollector::Counted(full));
                self.batch = Some(batch.with(left));
            }
            if canary_is_due {
                self.count_canary();
            }
        }
        let shared = &self.context.shared;
        shared.observers.tell(EventKind::BatchDone {
            worker: self.context.id(),
            engine: plan.engine(),
            tasks: batch.tasks.len(),
            nodes,
            time: shared.observers.span(start, Instant::now()),
            cpu: clock.elapsed(),
        });
        self.batch = None;
        message.left = Some(batch.with(left));
        self.context
            .collector
            .do_send(ToCollector::Counted(message));
    }
}
