//! Who hears the events of a run: its own account of them, and the observers that it was given.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tracing::warn;

use crate::actors::{EventKind, LiveProgress, Observer, RunEvent, TimeSpan, panics};

/// All who hear what happens in a run, and its clock. Clones are the same.
#[derive(Clone)]
pub(crate) struct Observers(Arc<Shared>);

struct Shared {
    progress: Arc<LiveProgress>,
    listeners: Vec<Listener>,
}

struct Listener {
    observer: Arc<dyn Observer>,
    /// Whether it panicked.
    broken: AtomicBool,
}

impl Observers {
    /// A run whose events update `progress` and go to `observers`.
    pub(crate) fn new(progress: Arc<LiveProgress>, observers: &[Arc<dyn Observer>]) -> Self {
        let listener = |observer: &Arc<dyn Observer>| Listener {
            observer: Arc::clone(observer),
            broken: AtomicBool::new(false),
        };
        Self(Arc::new(Shared {
            progress,
            listeners: observers.iter().map(listener).collect(),
        }))
    }

    /// When the run began.
    pub(crate) fn start(&self) -> Instant {
        self.0.progress.start()
    }

    /// How far the run is.
    pub(crate) fn progress(&self) -> &LiveProgress {
        &self.0.progress
    }

    /// Tells all of something that happened just now.
    pub(crate) fn tell(&self, kind: EventKind) {
        let at = self.start().elapsed();
        let event = RunEvent { at, kind };
        self.0.progress.note(&event);
        for listener in &self.0.listeners {
            listener.call(|observer| observer.event(&event));
        }
    }

    /// Shows all a thread that counts: this one.
    pub(crate) fn show_worker_thread(&self) {
        for listener in &self.0.listeners {
            listener.call(|observer| observer.worker_thread());
        }
    }

    /// From `start` to `end` by the clock of the run.
    pub(crate) fn span(&self, start: Instant, end: Instant) -> TimeSpan {
        let since = |at: Instant| -> Duration { at.saturating_duration_since(self.start()) };
        TimeSpan {
            start: since(start),
            end: since(end),
        }
    }
}

impl Listener {
    fn call(&self, call: impl FnOnce(&dyn Observer)) {
        if self.broken.load(Ordering::Relaxed) {
            return;
        }
        let heard = catch_unwind(AssertUnwindSafe(|| call(self.observer.as_ref())));
        if let Err(payload) = heard
            && !self.broken.swap(true, Ordering::Relaxed)
        {
            let said = panics::describe(payload.as_ref());
            warn!("an observer panicked and gets no more events: {said}");
        }
    }
}
