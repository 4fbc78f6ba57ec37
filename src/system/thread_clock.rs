//! The CPU time of this thread.

use std::time::{Duration, Instant};

use cpu_time::ThreadTime;

/// The length of a timer tick of Windows, which charges CPU time by the whole tick.
const TICK: Duration = Duration::from_nanos(15_625_000);

/// A moment in the CPU time of this thread.
#[derive(Clone, Copy, Debug)]
pub struct ThreadClock {
    charged: ThreadTime,
    wall: Instant,
}

impl ThreadClock {
    /// The present moment.
    pub fn now() -> Self {
        Self {
            charged: ThreadTime::now(),
            wall: Instant::now(),
        }
    }

    /// The CPU time of this thread since then.
    pub fn elapsed(&self) -> Duration {
        within_a_tick(self.wall.elapsed(), self.charged.elapsed())
    }
}

/// The wall time, as far as the ticks charged allow it. A thread that has a core to itself gets its time to the
/// clock's precision; one that waited for a core gets at most a tick more than it was charged.
///
/// The cycles that Windows counts for a thread are finer, but it does not say how long one takes.
fn within_a_tick(wall: Duration, charged: Duration) -> Duration {
    wall.clamp(charged.saturating_sub(TICK), charged + TICK)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_millis(wall: u64, charged: f64) -> f64 {
        let charged = Duration::from_secs_f64(charged / 1e3);
        within_a_tick(Duration::from_millis(wall), charged).as_secs_f64() * 1e3
    }

    #[test]
    fn short_work_has_a_time_though_nothing_was_charged() {
        assert_eq!(of_millis(3, 0.0), 3.0);
        assert_eq!(of_millis(3, 15.625), 3.0);
    }

    #[test]
    fn waiting_for_a_core_does_not_count() {
        assert_eq!(of_millis(2000, 1000.0), 1015.625);
        assert_eq!(of_millis(1010, 1000.0), 1010.0);
    }
}
