//! What the runtime of a worker and its link to the coordinator share: the source of its tasks and the recorder of its
//! results.

use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;
use tracing::warn;

use crate::actors::Finding;
use crate::actors::{
    Flushed, OnCheckpoint, Part, RecordError, Recorder, Restored, Source, Step, Supply, Walk,
};
use crate::cluster::lease::{Holder, Journal};
use crate::engine::{Engine, Plan};

/// What the runtime and the link share.
pub(super) struct Shared {
    pub(super) holder: Mutex<Holder>,
    pub(super) journal: Mutex<Option<Journal>>,
    pub(super) wake: Notify,
    pub(super) start: Instant,
    pub(super) flushes: Mutex<Vec<(Instant, Flushed)>>,
    pub(super) on_checkpoint: Mutex<Option<OnCheckpoint>>,
    /// Since when the worker takes leave.
    pub(super) leaving: Mutex<Option<Instant>>,
}

impl Shared {
    /// Nothing has happened yet.
    pub(super) fn new(holder: Holder, journal: Option<Journal>) -> Self {
        Self {
            holder: Mutex::new(holder),
            journal: Mutex::new(journal),
            wake: Notify::new(),
            start: Instant::now(),
            flushes: Mutex::new(Vec::new()),
            on_checkpoint: Mutex::new(None),
            leaving: Mutex::new(None),
        }
    }

    /// The time since the worker took part.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn note(&self, item: Finding) {
        let number = self.holder.lock().record(self.now(), item.clone());
        let mut journal = self.journal.lock();
        if let Some(open) = &mut *journal
            && let Err(error) = open.note(number, &item)
        {
            warn!("no journal any more: {}: {error}", open.path().display());
            *journal = None;
        }
    }
}

/// Where tasks come from: the leases.
pub(super) struct Leases(pub(super) Arc<Shared>);

impl Source for Leases {
    fn open(&self, plan: &dyn Plan) -> Supply {
        Supply {
            walk: Box::new(LeaseWalk {
                shared: Arc::clone(&self.0),
                engine: plan.engine(),
            }),
            size: None,
            restored: Restored::default(),
            part: Part::WHOLE,
        }
    }
}

struct LeaseWalk {
    shared: Arc<Shared>,
    engine: Engine,
}

impl Walk for LeaseWalk {
    fn step(&mut self) -> Step {
        let mut holder = self.shared.holder.lock();
        let step = holder.step(self.engine);
        if holder.is_low() && !holder.has_asked() {
            self.shared.wake.notify_one();
        }
        step
    }
}

/// Where results go: to the coordinator, and into the journal until it has them.
pub(super) struct Outbox(pub(super) Arc<Shared>);

impl Recorder for Outbox {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        if let Finding::Result(result) = &finding {
            self.0.holder.lock().measure(result);
        }
        self.0.note(finding);
        Ok(())
    }

    fn on_checkpoint(&self, tell: OnCheckpoint) {
        *self.0.on_checkpoint.lock() = Some(tell);
    }

    fn flush(&self, flushed: Flushed) {
        self.0.flushes.lock().push((Instant::now(), flushed));
        self.0.wake.notify_one();
    }
}
