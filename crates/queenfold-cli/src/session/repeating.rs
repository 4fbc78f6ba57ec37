//! Work that is done again and again beside a run.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use queenfold::system::threads;

/// Work that is done at once, again and again, and a last time when this is dropped.
#[derive(Debug)]
pub struct Repeating {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Repeating {
    /// Does `work` now and each time when `every` has passed, until it returns `false`.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn new(
        name: &str,
        every: Duration,
        mut work: impl FnMut() -> bool + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = threads::start(name, move || {
            let (mut last, mut wait) = (false, Duration::ZERO);
            while !last {
                last = stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
                if !work() {
                    return;
                }
                wait = every;
            }
        })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Repeating {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // Whatever it did is no reason to fail.
            let _ = thread.join();
        }
    }
}
