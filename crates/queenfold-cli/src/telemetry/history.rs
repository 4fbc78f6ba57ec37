//! The events of a run that a report needs: few enough to be kept for a run of weeks.

use std::io;
use std::time::Duration;

use parking_lot::Mutex;

use super::{EventFile, incident};
use queenfold::actors::{EventKind, Observer, RunEvent, RunState};

/// How far the run is, is kept each time when it has become older by this share, so that a run of a month
/// makes 7,000 lines.
const LATER: f64 = 1.0 / 500.0;

/// And at the earliest after this time.
const SOONEST: Duration = Duration::from_secs(1);

/// What opens the file of a history, once the run has a directory.
type Open = Box<dyn FnOnce() -> io::Result<EventFile> + Send>;

/// Writes the incidents of a run, and now and then how far it is, as lines of the [`EventFile`].
pub struct History(Mutex<Kept>);

struct Kept {
    open: Option<Open>,
    file: Option<EventFile>,
    /// When the next progress is kept.
    next: Duration,
    /// What comes before the next event that is kept: the beginning, or at the end the progress that was not kept last.
    left: Option<RunEvent>,
}

impl History {
    /// Opens the file when the run is planned. `open` says itself if it cannot.
    pub fn new(open: impl FnOnce() -> io::Result<EventFile> + Send + 'static) -> Self {
        Self(Mutex::new(Kept {
            open: Some(Box::new(open)),
            file: None,
            next: Duration::ZERO,
            left: None,
        }))
    }

    /// Writes what is left, and closes the file.
    pub fn close(&self) {
        let mut kept = self.0.lock();
        kept.put_left();
        kept.open = None;
        drop(kept.file.take());
    }
}

impl Kept {
    fn put(&self, event: &RunEvent) {
        if let Some(file) = &self.file {
            file.observer().event(event);
        }
    }

    fn put_left(&mut self) {
        if let Some(left) = self.left.take() {
            self.put(&left);
        }
    }
}

impl Observer for History {
    fn event(&self, event: &RunEvent) {
        let kind = &event.kind;
        // Pauses last from one state to the next.
        let is_kept = matches!(kind, EventKind::Advanced { .. } | EventKind::State(_));
        if !is_kept && incident(event).is_none() {
            return;
        }
        let mut kept = self.0.lock();
        match kind {
            EventKind::State(RunState::Planning) => kept.left = Some(event.clone()),
            EventKind::Advanced { .. } => {
                kept.left = Some(event.clone());
                if event.at >= kept.next {
                    kept.put_left();
                    kept.next = event.at + event.at.mul_f64(LATER).max(SOONEST);
                }
            }
            _ => {
                if let EventKind::Planned { .. } = kind {
                    kept.file = kept.open.take().and_then(|open| open().ok());
                    kept.put_left();
                } else if matches!(kind, EventKind::State(state) if state.is_final()) {
                    kept.put_left();
                }
                kept.put(event);
            }
        }
    }
}
