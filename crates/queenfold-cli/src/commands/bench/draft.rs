//! A report that grows. It is printed once: at the end, or when a signal ends the program.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::Serialize;

use crate::control::signals;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};

/// What was measured. Its fields are the JSON.
pub trait Measured: Serialize + Send + 'static {
    /// Nothing follows: because of an error, or because all is measured.
    fn end(&mut self, error: Option<&str>);

    /// What a person reads.
    fn in_words(&self) -> String;
}

/// The report while it grows. It is gone when it is printed.
pub struct Draft<R>(Arc<Mutex<Option<R>>>);

impl<R: Measured> Draft<R> {
    /// Measures what a report is made of, and prints it. A signal prints what was measured so far and ends the program.
    ///
    /// # Errors
    /// Those of measuring; the report cannot be written; the system refuses the handler or the thread.
    pub fn measure(
        report: R,
        json: bool,
        measure: impl FnOnce(&Self) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let draft = Self(Arc::new(Mutex::new(Some(report))));
        let stopped = Self(Arc::clone(&draft.0));
        let stop = move || {
            let why = "stopped by a signal";
            // If stdout cannot be written, nobody can be told.
            let _ = stopped.print(json, Some(why));
            say(why);
            signals::end_at_once(Exit::Stopped)
        };
        signals::listen(stop, None)?;
        let measured = measure(&draft);
        let error = measured.as_ref().err();
        draft.print(json, error.map(|failure| failure.message.as_str()))?;
        measured
    }

    /// Changes it, unless it is printed.
    pub fn note(&self, change: impl FnOnce(&mut R)) {
        if let Some(report) = self.0.lock().as_mut() {
            change(report);
        }
    }

    fn print(&self, json: bool, error: Option<&str>) -> Result<(), Failure> {
        let mut held = self.0.lock();
        let Some(mut report) = held.take() else {
            return Ok(());
        };
        report.end(error);
        match json {
            true => print_json(&report),
            false => print(report.in_words().trim_end()),
        }
    }
}
