//! Lines on standard error: what the program says and logs. They wait while a dashboard has the screen.

use std::io::{self, Write};

use parking_lot::Mutex;

/// The lines that wait; `None` if they need not.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// The most lines that wait. Of more, the oldest are lost.
const MOST_HELD: usize = 1000;

/// From now on, lines wait for [`release_messages`].
pub fn hold_messages() {
    HELD.lock().get_or_insert_default();
}

/// Lines need not wait any more. Returns those that did.
pub fn release_messages() -> Vec<String> {
    HELD.lock().take().unwrap_or_default()
}

/// The line that waits last, if one does.
pub fn last_message() -> Option<String> {
    HELD.lock().as_ref()?.last().cloned()
}

/// Keeps lines if they have to wait. Returns whether they do.
pub fn keep_message(lines: &str) -> bool {
    let mut held = HELD.lock();
    let Some(held) = held.as_mut() else {
        return false;
    };
    held.extend(lines.lines().map(str::to_owned));
    let old = held.len().saturating_sub(MOST_HELD);
    held.drain(..old);
    true
}

/// Standard error for the log, whose lines may have to wait.
#[derive(Debug)]
pub(super) struct Log;

impl Write for Log {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        if keep_message(&String::from_utf8_lossy(text)) {
            return Ok(text.len());
        }
        io::stderr().write(text)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}
