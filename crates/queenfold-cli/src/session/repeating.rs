//! Work that is done again and again beside a run.

use std::io;
use std::time::Duration;

use queenfold::system::threads::Background;

/// Does `work` now, each time when `every` has passed, and a last time when what is returned is dropped; until it returns
/// `false`.
///
/// # Errors
/// The system refuses another thread.
pub fn repeat(
    name: &str,
    every: Duration,
    mut work: impl FnMut() -> bool + Send + 'static,
) -> io::Result<Background> {
    Background::start(name, move |stop| {
        while work() {
            if stop.comes_within(every) {
                work();
                return;
            }
        }
    })
}
