//! The events of runs as JSON Lines, for other programs. docs/FORMATS.md describes the lines.

use std::io::{self, Write};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crossbeam::channel::{self, Receiver, RecvTimeoutError, Sender};
use parking_lot::Mutex;
use serde::Serialize;
use serde_json::json;

use queenfold::actors::{EventKind, Observer, RunEvent, RunState};
use queenfold::system::threads;

/// The version of the lines. It goes up when a line changes its meaning or loses a field; new fields and
/// new events do not change it.
pub const EVENT_FORMAT: u32 = 4;

/// How often lines are written.
const WRITE_EVERY: Duration = Duration::from_millis(100);

/// How long the end of a run waits for a file that takes long to write to.
const LONGEST_FLUSH: Duration = Duration::from_secs(1);

/// Bytes of lines that may wait, if the file takes long to write to. Events beyond that are left out, and
/// counted.
const MOST_WAITING: usize = 16 << 20;

/// A writer of the events of runs, on a thread of its own. Dropping it writes what waits.
pub struct EventFile {
    waiting: Arc<Waiting>,
    /// Requests to write what waits; the thread drops each when it has done so, and ends when this is
    /// dropped.
    requests: Option<Sender<Sender<()>>>,
    thread: Option<JoinHandle<()>>,
}

/// Lines that wait to be written.
#[derive(Default)]
struct Waiting(Mutex<Lines>);

#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Events that were left out since the last line.
    lost: u64,
    /// Whether nobody writes any more.
    closed: bool,
}

impl EventFile {
    /// Begins to write to `out`. When something cannot be written, nothing more is, and `failed` is told
    /// why.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn new(
        out: impl Write + Send + 'static,
        failed: impl FnOnce(io::Error) + Send + 'static,
    ) -> io::Result<Self> {
        let waiting = Arc::new(Waiting::default());
        let (requests, asked) = channel::bounded(0);
        let lines = Arc::clone(&waiting);
        let thread = threads::start("events", move || {
            if let Err(error) = lines.write_all(out, &asked) {
                failed(error);
            }
        })?;
        Ok(Self {
            waiting,
            requests: Some(requests),
            thread: Some(thread),
        })
    }

    /// Waits until all events up to now are written, but no longer than a second: the file may be one
    /// that nobody reads.
    pub fn flush(&self) {
        let (request, done) = channel::bounded::<()>(0);
        if let Some(requests) = &self.requests
            && requests.send_timeout(request, LONGEST_FLUSH).is_ok()
        {
            // The end of the channel is the answer.
            let _ = done.recv_timeout(LONGEST_FLUSH);
        }
    }

    /// An observer that writes the events of runs here.
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.waiting) as _
    }
}

impl Drop for EventFile {
    fn drop(&mut self) {
        drop(self.requests.take());
        if let Some(thread) = self.thread.take() {
            // It does not panic, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

impl Waiting {
    fn add(&self, line: &impl Serialize) {
        let Ok(mut text) = serde_json::to_vec(line) else {
            return;
        };
        text.push(b'\n');
        let mut lines = self.0.lock();
        if lines.closed {
            return;
        }
        if lines.text.len() + text.len() > MOST_WAITING {
            lines.lost += 1;
        } else {
            lines.text.append(&mut text);
        }
    }

    /// Writes lines as they come and as it is asked to, until nobody can ask any more.
    fn write_all(&self, mut out: impl Write, asked: &Receiver<Sender<()>>) -> io::Result<()> {
        let mut last = false;
        while !last {
            let request = asked.recv_timeout(WRITE_EVERY);
            last = matches!(request, Err(RecvTimeoutError::Disconnected));
            let Lines { text, lost, .. } = std::mem::take(&mut *self.0.lock());
            write(&mut out, &text, lost).inspect_err(|_| self.0.lock().closed = true)?;
            drop(request);
        }
        Ok(())
    }
}

fn write(out: &mut impl Write, text: &[u8], lost: u64) -> io::Result<()> {
    if text.is_empty() && lost == 0 {
        return Ok(());
    }
    out.write_all(text)?;
    if lost > 0 {
        writeln!(out, "{{\"lost\":{lost}}}")?;
    }
    out.flush()
}

impl Observer for Waiting {
    fn event(&self, event: &RunEvent) {
        if event.kind == EventKind::State(RunState::Planning) {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let began = now.unwrap_or_default().saturating_sub(event.at);
            // The first line of each run.
            self.add(&json!({
                "queenfold_events": EVENT_FORMAT,
                "program": env!("CARGO_PKG_VERSION"),
                "process": std::process::id(),
                "began": began.as_secs_f64(),
            }));
        }
        self.add(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file that takes so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(text.len())
                .ok_or(io::ErrorKind::StorageFull)?;
            Ok(text.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn event(kind: EventKind) -> RunEvent {
        RunEvent {
            at: Duration::from_millis(1500),
            kind,
        }
    }

    #[test]
    fn a_file_that_is_full_is_told_of_once_and_gets_nothing_more() {
        let (told, failures) = channel::unbounded();
        let file = EventFile::new(Full(10), move |error| told.send(error.kind()).unwrap()).unwrap();
        let observer = file.observer();
        observer.event(&event(EventKind::State(RunState::Planning)));
        assert_eq!(failures.recv().unwrap(), io::ErrorKind::StorageFull);
        file.flush();
        observer.event(&event(EventKind::State(RunState::Running)));
        assert!(file.waiting.0.lock().text.is_empty());
        drop(file);
        assert!(failures.recv().is_err());
    }

    #[test]
    fn events_that_wait_too_long_are_left_out_and_counted() {
        let waiting = Waiting::default();
        waiting.0.lock().text = vec![b' '; MOST_WAITING - 1];
        let queued = event(EventKind::Queued { batches: 3 });
        waiting.event(&queued);
        waiting.event(&queued);
        assert_eq!(waiting.0.lock().lost, 2);
        let (requests, asked) = channel::bounded(0);
        drop(requests);
        let mut out = Vec::new();
        waiting.write_all(&mut out, &asked).unwrap();
        assert!(out.ends_with(b" {\"lost\":2}\n"));
    }
}
