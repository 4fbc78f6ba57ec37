//! Threads.

use std::io::{self, ErrorKind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};
use std::time::Duration;

/// Starts a thread of this name.
///
/// # Errors
/// The system refuses another one.
pub fn start<T: Send + 'static>(
    name: impl Into<String>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let thread = Builder::new().name(name.into()).spawn(work);
    thread.map_err(in_words)
}

/// Starts a thread that may borrow what lives longer than `scope`.
///
/// # Errors
/// The system refuses another one.
pub fn start_scoped<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(in_words)
}

/// A thread that works beside a run until this is dropped, which waits for its end.
#[derive(Debug)]
pub struct Background {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Background {
    /// Starts a thread of this name. `work` must end soon after it is told to stop.
    ///
    /// # Errors
    /// The system refuses another one.
    pub fn start(name: &str, work: impl FnOnce(&Stop) + Send + 'static) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let thread = start(name, move || work(&Stop(stopped)))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // Whatever it did is no reason to fail.
            let _ = thread.join();
        }
    }
}

/// Tells a [`Background`] thread to stop.
pub struct Stop(Receiver<()>);

impl Stop {
    /// Waits for it, but no longer than this. Returns whether the thread has to stop.
    pub fn comes_within(&self, time: Duration) -> bool {
        self.0.recv_timeout(time) != Err(RecvTimeoutError::Timeout)
    }
}

fn in_words(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock => io::Error::other(LIMIT),
        _ => error,
    }
}

/// Why there is no other thread.
const LIMIT: &str = "this process may have no more threads (`ulimit -u`, or pids.max of its cgroup); with fewer \
                     `--workers` it needs fewer";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_of_threads_is_named_with_what_helps() {
        let error = in_words(ErrorKind::WouldBlock.into()).to_string();
        assert!(error.contains("`ulimit -u`") && error.contains("`--workers`"));
    }
}
