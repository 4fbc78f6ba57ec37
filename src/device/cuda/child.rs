//! Child processes that may hang: they are waited for in limited time, and killed.

use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// How long a killed child may take to end. The system takes the device from it, and its memory.
pub(super) const ENDING: Duration = Duration::from_secs(5);

/// How long the last words of a child that has ended may take to arrive. A process that it started may keep its pipes
/// open.
pub(super) const READING: Duration = Duration::from_secs(1);

/// A child, which is killed when it is not needed any more.
pub(super) struct Process(pub(super) Child);

impl Process {
    /// How it ended; `None` if it runs after `patience`.
    pub(super) fn wait(&mut self, patience: Duration) -> Option<ExitStatus> {
        let begin = Instant::now();
        loop {
            match self.0.try_wait() {
                Ok(None) if begin.elapsed() < patience => thread::sleep(Duration::from_millis(5)),
                ended => return ended.ok().flatten(),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // If it cannot be killed, it has ended by itself.
        let _ = self.0.kill();
        self.wait(ENDING);
    }
}
