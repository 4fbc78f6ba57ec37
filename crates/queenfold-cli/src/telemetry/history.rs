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
    begun: Option<RunEvent>,
    /// When the next progress is kept.
    next: Duration,
    /// The progress that was not kept last: it is, at the end.
    left: Option<RunEvent>,
}

impl History {
    /// Opens the file when the run is planned. `open` says itself if it cannot.
    pub fn new(open: impl FnOnce() -> io::Result<EventFile> + Send + 'static) -> Self {
        Self(Mutex::new(Kept {
            open: Some(Box::new(open)),
            file: None,
            begun: None,
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
        match &event.kind {
            EventKind::State(RunState::Planning) => self.0.lock().begun = Some(event.clone()),
            EventKind::Planned { .. } => {
                let mut kept = self.0.lock();
                let opened = kept.open.take().map(|open| open());
                kept.file = opened.and_then(Result::ok);
                if let Some(begun) = kept.begun.take() {
                    kept.put(&begun);
                }
                kept.put(event);
            }
            EventKind::Advanced { .. } => {
                let mut kept = self.0.lock();
                if event.at < kept.next {
                    kept.left = Some(event.clone());
                    return;
                }
                kept.left = None;
                kept.put(event);
                kept.next = event.at + event.at.mul_f64(LATER).max(SOONEST);
            }
            EventKind::State(state) if state.is_final() => {
                let mut kept = self.0.lock();
                kept.put_left();
                kept.put(event);
            }
            // Pauses last from one state to the next.
            EventKind::State(_) => self.0.lock().put(event),
            _ if incident(event).is_some() => self.0.lock().put(event),
            _ => {}
        }
    }
}
