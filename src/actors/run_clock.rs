//! The moments in the life of a run that its times are measured from.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// When a run began, when the first worker was ready, and when the last task was handed out.
pub(super) struct RunClock {
    pub(super) start: Instant,
    /// Nanoseconds from `start` to when the first worker was ready to count; `u64::MAX` before that.
    ready: AtomicU64,
    /// Nanoseconds from `start` to when the last task was handed out; `u64::MAX` before that.
    exhausted: AtomicU64,
}

impl RunClock {
    /// CPU workers are ready at once, devices once they are open.
    pub(super) const fn new(start: Instant, has_cpu_workers: bool) -> Self {
        Self {
            start,
            ready: AtomicU64::new(if has_cpu_workers { 0 } else { u64::MAX }),
            exhausted: AtomicU64::new(u64::MAX),
        }
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Notes that a device is ready to count.
    pub(super) fn note_ready(&self) {
        self.ready.fetch_min(self.now(), Ordering::Relaxed);
    }

    /// How long the run has been counting.
    pub(super) fn counting(&self) -> Duration {
        let all = self.start.elapsed();
        // If no device was ever ready: the whole time.
        let ready = Duration::from_nanos(self.ready.load(Ordering::Relaxed));
        all.checked_sub(ready).unwrap_or(all)
    }

    /// Notes whether every task has been handed out.
    pub(super) fn set_exhausted(&self, exhausted: bool) {
        let since = if !exhausted {
            u64::MAX
        } else if self.exhausted.load(Ordering::Relaxed) == u64::MAX {
            self.now()
        } else {
            return;
        };
        self.exhausted.store(since, Ordering::Relaxed);
    }

    /// The parts of the time since `from` while there were tasks to hand out, and after that.
    pub(super) fn split_wait(&self, from: Instant) -> (Duration, Duration) {
        let waited = from.elapsed();
        let exhausted = Duration::from_nanos(self.exhausted.load(Ordering::Relaxed));
        let starved = self.start.elapsed().saturating_sub(exhausted).min(waited);
        (waited - starved, starved)
    }
}
