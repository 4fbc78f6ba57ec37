//! Pausing, resuming and stopping the runs of this process, and who asked for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::exit::SIGNAL;
use crate::output::say;
use queenfold::actors::Control;
use queenfold_ledger::ledger::Request;

/// Who asks, in words: somebody at the keyboard of the run.
pub const KEY: &str = "a key";

/// Steers the runs under a control, and says who asked for it. Clones are the same switch.
#[derive(Clone, Debug)]
pub struct Steering {
    control: Control,
    paused: Arc<AtomicBool>,
    /// Who asked first that the run stops.
    stopped_by: Arc<Mutex<Option<&'static str>>>,
    says_pauses: bool,
    says_stop: bool,
}

impl Steering {
    /// A switch for the runs under `control`. When it is used, it says that the run pauses or goes on, and that it stops.
    pub fn new(control: Control, says_pauses: bool, says_stop: bool) -> Self {
        Self {
            control,
            paused: Arc::default(),
            stopped_by: Arc::default(),
            says_pauses,
            says_stop,
        }
    }

    /// What is steered.
    pub const fn control(&self) -> &Control {
        &self.control
    }

    /// Pauses a run that is running, resumes a paused one.
    pub fn toggle_pause(&self, by: &str) {
        let paused = self.paused.fetch_xor(true, Ordering::SeqCst);
        self.follow(!paused, by, "; once more to go on");
    }

    /// Pauses the run or resumes it, unless that is done.
    pub fn set_paused(&self, paused: bool, by: &str) {
        if self.paused.swap(paused, Ordering::SeqCst) != paused {
            self.follow(paused, by, "");
        }
    }

    fn follow(&self, paused: bool, by: &str, hint: &str) {
        if paused {
            self.control.pause();
        } else {
            self.control.resume();
        }
        if self.says_pauses {
            say(&match paused {
                true => format!("pausing within two seconds, as {by} asks{hint}"),
                false => format!("going on, as {by} asks"),
            });
        }
    }

    /// Stops the run in order. Who asks again changes nothing.
    pub fn stop(&self, by: &'static str) {
        let mut stopped_by = self.stopped_by.lock();
        let is_first = stopped_by.is_none();
        stopped_by.get_or_insert(by);
        drop(stopped_by);
        self.control.drain();
        if self.says_stop && is_first {
            say(&format!(
                "stopping within two seconds, as {by} asks; a second Ctrl-C ends it at once"
            ));
        }
    }

    /// Who asked that the run stops.
    pub fn stopped_by(&self) -> &'static str {
        self.stopped_by.lock().unwrap_or(SIGNAL)
    }

    /// Does what somebody asked for.
    pub fn obey(&self, request: Request, by: &'static str) {
        match request {
            Request::Pause => self.set_paused(true, by),
            Request::Resume => self.set_paused(false, by),
            Request::Stop => self.stop(by),
        }
    }
}
