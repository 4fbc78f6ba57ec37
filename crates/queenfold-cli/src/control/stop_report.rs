//! What a command that prints its result only at the end says when a signal stops it.

use std::sync::Arc;

use parking_lot::Mutex;

use super::signals;
use crate::exit::{Exit, Failure};
use crate::output::say;

/// How far a command is, in words. The first signal ends the program and says it.
#[derive(Clone)]
pub struct StopReport(Arc<Mutex<String>>);

impl StopReport {
    /// Listens for signals until the program ends. `done` is what is done so far.
    ///
    /// # Errors
    /// The system refuses the handler or the thread.
    pub fn listen(done: &str) -> Result<Self, Failure> {
        let report = Self(Arc::new(Mutex::new(done.to_owned())));
        let stopped = report.clone();
        let stop = move || {
            let done = stopped.0.lock();
            say(&format!("stopped by a signal: {done}"));
            signals::end_at_once(Exit::Stopped);
        };
        signals::listen(stop, None)?;
        Ok(report)
    }

    /// Notes what is done now.
    pub fn note(&self, done: String) {
        *self.0.lock() = done;
    }
}
