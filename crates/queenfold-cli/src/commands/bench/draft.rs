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

/// The report while it grows.
pub struct Draft<R> {
    report: Arc<Mutex<Option<R>>>,
    json: bool,
}

impl<R: Measured> Draft<R> {
    pub fn new(report: R, json: bool) -> Self {
        Self {
            report: Arc::new(Mutex::new(Some(report))),
            json,
        }
    }

    /// Makes a signal print what was measured so far and end the program.
    ///
    /// # Errors
    /// The system refuses the handler or the thread.
    pub fn print_when_stopped(&self) -> Result<(), Failure> {
        let draft = Self {
            report: Arc::clone(&self.report),
            json: self.json,
        };
        let stop = move || {
            let why = "stopped by a signal";
            // If stdout cannot be written, nobody can be told.
            let _ = draft.print(Some(why));
            say(why);
            signals::end_at_once(Exit::Stopped)
        };
        signals::listen(stop, None)
    }

    pub fn note(&self, change: impl FnOnce(&mut R)) {
        let mut report = self.report.lock();
        if let Some(report) = report.as_mut() {
            change(report);
        }
    }

    /// Prints it, unless that is done.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn print(&self, error: Option<&str>) -> Result<(), Failure> {
        let mut held = self.report.lock();
        let Some(mut report) = held.take() else {
            return Ok(());
        };
        report.end(error);
        if self.json {
            print_json(&report)
        } else {
            print(report.in_words().trim_end())
        }
    }
}
