//! Threads.

use std::io::{self, ErrorKind};
use std::thread::{Builder, JoinHandle};
use std::thread::{Scope, ScopedJoinHandle};

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
