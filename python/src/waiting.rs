//! Work on another thread, while Python handles signals and calls the progress callback.

use std::panic;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::records::record;

/// How often signals are looked for. A result does not wait for that.
pub const SIGNALS: Duration = Duration::from_millis(50);

/// How often the callback is called.
const CALLS: Duration = Duration::from_millis(250);

record! {
    /// How far a run is.
    Progress(share, seconds, tasks_done) {
        /// The share of the work that is done, 0 to 1; None before it is known.
        share: Option<f64>,
        /// Seconds since the call began.
        seconds: f64,
        /// Seconds that are left; None before they can be estimated.
        seconds_left: Option<f64>,
        /// Tasks counted.
        tasks_done: u64,
        /// All tasks; None before it is known.
        tasks_total: Option<u64>,
        /// Solutions found so far.
        solutions: u128,
    }
}

impl Progress {
    /// Of a call that nobody asks how far it is.
    pub fn at(elapsed: Duration) -> Self {
        Self {
            share: None,
            seconds: elapsed.as_secs_f64(),
            seconds_left: None,
            tasks_done: 0,
            tasks_total: None,
            solutions: 0,
        }
    }
}

/// Does `work` on a thread of its own, without the lock of the interpreter. Meanwhile signals are handled, and
/// `callback` gets what `progress` says. If either raises, `stop` asks the work to end; when it has ended, what
/// was raised is the result.
pub fn wait<T: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
    stop: impl Fn(),
    progress: impl Fn(Duration) -> Progress,
) -> PyResult<T> {
    if let Some(callback) = callback
        && !callback.is_callable()
    {
        let kind = callback.get_type().name()?;
        let message = format!("progress: expected a function, not '{kind}'");
        return Err(PyTypeError::new_err(message));
    }
    let begun = Instant::now();
    let mut called = begun;
    thread::scope(|scope| {
        let (done, ended) = mpsc::channel::<()>();
        let worker = scope.spawn(move || {
            // Dropped at the end, whether the work ends or panics.
            let _done = done;
            work()
        });
        let mut raised = None;
        // A receiver cannot be shared between threads, but may be lent to the one that waits.
        let mut ended = ended;
        loop {
            let receiver = &mut ended;
            let waited = py.detach(move || receiver.recv_timeout(SIGNALS));
            if waited != Err(RecvTimeoutError::Timeout) {
                break;
            }
            if raised.is_some() {
                continue;
            }
            let mut outcome = py.check_signals();
            if let Some(callback) = callback
                && outcome.is_ok()
                && called.elapsed() >= CALLS
            {
                called = Instant::now();
                outcome = callback.call1((progress(begun.elapsed()),)).map(drop);
            }
            if let Err(error) = outcome {
                raised = Some(error);
                stop();
            }
        }
        let result = py.detach(|| worker.join());
        match raised {
            Some(error) => Err(error),
            None => Ok(result.unwrap_or_else(|payload| panic::resume_unwind(payload))),
        }
    })
}
