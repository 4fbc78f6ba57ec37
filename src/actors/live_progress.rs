use std::time::Instant;

use parking_lot::Mutex;

use super::events::RunEvent;
use super::host_progress::HostProgress;
use super::progress::Progress;

/// The progress of a run that takes place in this process.
pub(super) struct LiveProgress {
    start: Instant,
    progress: Mutex<Progress>,
}

impl LiveProgress {
    /// Of a run that begins now.
    pub(super) fn begin() -> Self {
        Self {
            start: Instant::now(),
            progress: Mutex::default(),
        }
    }

    /// When the run began.
    pub(super) const fn start(&self) -> Instant {
        self.start
    }

    pub(super) fn note(&self, event: &RunEvent) {
        self.progress.lock().note(event);
    }

    pub(super) fn show_hosts(&self, hosts: Vec<HostProgress>) {
        self.progress.lock().hosts = Some(hosts);
    }

    /// What is known now.
    pub(super) fn now(&self) -> Progress {
        let mut progress = self.progress.lock().clone();
        if !progress.state.is_final() {
            progress.elapsed = self.start.elapsed();
        }
        progress
    }
}
