//! Whether the process was stopped and went on, as by Ctrl-Z and `fg`.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::SigId;
use signal_hook::consts::SIGCONT;
use signal_hook::low_level::unregister;

/// Knows when the process goes on after it was stopped, as by Ctrl-Z.
#[derive(Debug)]
pub struct Continued {
    continued: Arc<AtomicBool>,
    handler: SigId,
}

impl Continued {
    /// From now on.
    ///
    /// # Errors
    /// The system refuses the handler.
    pub fn listen() -> io::Result<Self> {
        let continued = Arc::default();
        let handler = signal_hook::flag::register(SIGCONT, Arc::clone(&continued))?;
        Ok(Self { continued, handler })
    }

    /// Whether it was stopped and went on since the last [`take`](Self::take).
    pub fn has(&self) -> bool {
        self.continued.load(Ordering::SeqCst)
    }

    /// As [`has`](Self::has), and forgets it.
    pub fn take(&self) -> bool {
        self.continued.swap(false, Ordering::SeqCst)
    }
}

impl Drop for Continued {
    fn drop(&mut self) {
        unregister(self.handler);
    }
}
