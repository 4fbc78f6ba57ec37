//! Pausing and resuming: what SIGUSR2 and the key `p` do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::output::say;
use crate::actors::Control;

/// A switch that pauses a run and resumes it. Clones are the same switch.
#[derive(Clone, Debug)]
pub struct Pause {
    control: Control,
    paused: Arc<AtomicBool>,
    quiet: bool,
}

impl Pause {
    /// A switch for the runs under `control`.
    pub fn new(control: Control, quiet: bool) -> Self {
        Self {
            control,
            paused: Arc::default(),
            quiet,
        }
    }

    /// Pauses a run that is running, resumes a paused one.
    pub fn toggle(&self) {
        let paused = self.paused.fetch_xor(true, Ordering::SeqCst);
        self.follow(!paused, "pausing within two seconds; once more to go on");
    }

    /// Pauses the run or resumes it, unless that is done.
    pub fn set(&self, paused: bool) {
        if self.paused.swap(paused, Ordering::SeqCst) != paused {
            self.follow(paused, "pausing within two seconds");
        }
    }

    fn follow(&self, paused: bool, pausing: &str) {
        if paused {
            self.control.pause();
        } else {
            self.control.resume();
        }
        if !self.quiet {
            say(if paused { pausing } else { "going on" });
        }
    }
}
