//! The terminal of a run: its keys, and what it was before at the end.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::system::terminal;

pub(crate) use crate::system::SignalKey;
pub(crate) use crate::system::terminal::{
    is_ours, read_key, read_keys_singly, remember, signal_key, wait_for_key,
};

/// Whether a dashboard has the screen.
static SCREEN: AtomicBool = AtomicBool::new(false);

/// Notes whether a dashboard has the screen, for [`restore`].
pub fn screen_taken(taken: bool) {
    SCREEN.store(taken, Ordering::SeqCst);
}

/// Restores the terminal. Call it before the process ends without running destructors.
pub fn restore() {
    if SCREEN.swap(false, Ordering::SeqCst) {
        // Lines that wrap, the screen from before the dashboard, and its cursor (xterm's control sequences 7, 1049, 25).
        let _ = io::stderr().write_all(b"\x1b[?7h\x1b[?1049l\x1b[?25h");
    }
    terminal::restore();
}
