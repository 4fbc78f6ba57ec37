//! How the ladder hears that it should stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cli::control::signals;
use crate::cli::exit::{Exit, Failure};

/// Whether the user asked for the end.
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    waits_for_keys: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for signals until the program ends. While the program waits for keys, nobody looks at [`asked`](Self::asked),
    /// so that a signal ends it at once.
    ///
    /// # Errors
    /// The system refuses.
    pub fn listen(waits_for_keys: bool) -> Result<Self, Failure> {
        let interrupt = Self {
            asked: Arc::default(),
            waits_for_keys: Arc::new(waits_for_keys.into()),
        };
        let (asked, waits) = (
            Arc::clone(&interrupt.asked),
            Arc::clone(&interrupt.waits_for_keys),
        );
        let stop = move || match waits.load(Ordering::Relaxed) {
            true => signals::end_at_once(Exit::Interrupted),
            false => asked.store(true, Ordering::Relaxed),
        };
        signals::listen(stop, None)?;
        Ok(interrupt)
    }

    /// Whether the program waits for keys from now on.
    pub fn set_waits_for_keys(&self, waits: bool) {
        self.waits_for_keys.store(waits, Ordering::Relaxed);
    }

    /// Set when the user asked for the end.
    pub fn asked(&self) -> &AtomicBool {
        &self.asked
    }
}
