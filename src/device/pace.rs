//! How fast a device counts, by the times of its launches.

use std::time::Duration;

use crate::engine::DeviceSpan;

/// How fast a device counts.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Cost per second in which a kernel ran, smoothed; `None` until the first launch has ended.
    pub(super) speed: Option<f64>,
    /// Up to when the device's time is accounted for, measured from when it was opened.
    until: Duration,
    /// Cost of launches that ended within that time.
    cost: f64,
}

impl Pace {
    /// Notes a launch of this cost, whose kernel ran in `kernel`.
    ///
    /// Kernels of several streams share the device: only the time counts in which none of the
    /// launches noted before ran.
    pub(super) fn note(&mut self, cost: f64, kernel: DeviceSpan) {
        self.cost += cost;
        let took = kernel.end.saturating_sub(kernel.start.max(self.until));
        if took.is_zero() {
            return;
        }
        let speed = std::mem::take(&mut self.cost) / took.as_secs_f64().max(1e-6);
        self.speed = Some(self.speed.map_or(speed, |known| 0.7 * known + 0.3 * speed));
        self.until = kernel.end;
    }

    /// The device was opened again: its clock starts from zero.
    pub(super) const fn restart(&mut self) {
        self.until = Duration::ZERO;
        self.cost = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u64, end: u64) -> DeviceSpan {
        DeviceSpan {
            start: Duration::from_secs(start),
            end: Duration::from_secs(end),
        }
    }

    #[test]
    fn kernels_that_overlap_are_not_taken_for_slow_ones() {
        let mut pace = Pace::default();
        // Two streams: each kernel waits for the one before it, so that each seems to take two
        // seconds, and a launch ends every second.
        for launch in 0..20 {
            pace.note(7.0, span(launch, launch + 2));
        }
        let speed = pace.speed.unwrap();
        assert!((speed / 7.0 - 1.0).abs() < 0.01, "{speed}");
    }

    #[test]
    fn a_kernel_that_ran_within_another_adds_its_cost_to_the_next() {
        let mut pace = Pace::default();
        pace.note(4.0, span(0, 4));
        pace.note(2.0, span(1, 3));
        assert_eq!(pace.speed, Some(1.0));
        pace.note(2.0, span(4, 8));
        assert_eq!(pace.speed, Some(1.0));
        pace.restart();
        pace.note(1.0, span(0, 1));
        assert_eq!(pace.speed, Some(1.0));
    }
}
