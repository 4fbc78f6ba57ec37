//! How fast a device counts a whole board, for `bench --gpu`.

use std::time::{Duration, Instant};

use super::{LaunchTiming, Owner, OwnerEvent, ReturnReason};
use crate::engine::{DeviceSpan, Plan, Tally};

/// The result of counting a whole board on one device, and the time it took.
#[derive(Clone, Debug)]
pub struct DeviceMeasurement {
    /// What was counted.
    pub tally: Tally,
    /// From the first task to the last tally.
    pub wall: Duration,
    /// The time in which at least one kernel ran.
    pub kernel: Duration,
    /// From the beginning of the first kernel to the end of the last.
    pub window: Duration,
    /// Launches.
    pub launches: u64,
}

impl DeviceMeasurement {
    /// The share of the time between the first and the last kernel in which a kernel ran.
    pub fn busy(&self) -> f64 {
        if self.window.is_zero() {
            return 1.0;
        }
        self.kernel.as_secs_f64() / self.window.as_secs_f64()
    }
}

/// Counts `plan` on the device of `owner` alone, which was opened for it.
///
/// # Errors
/// The device failed or counted wrongly; in words.
pub fn measure(mut owner: Owner, plan: &dyn Plan) -> Result<DeviceMeasurement, String> {
    let start = Instant::now();
    let mut measured = DeviceMeasurement {
        tally: Tally::default(),
        wall: Duration::ZERO,
        kernel: Duration::ZERO,
        window: Duration::ZERO,
        launches: 0,
    };
    let mut kernels = Vec::new();
    let mut next = 0;
    loop {
        while let Some(wanted) = owner.wants().filter(|_| next < plan.tasks()) {
            let mut cost = 0.0;
            let mut tasks = Vec::new();
            while next < plan.tasks() && cost < wanted {
                let task = plan.task(next);
                cost += task.cost;
                tasks.push(task);
                next += 1;
            }
            owner.offer(tasks);
            // Submit each launch as soon as it is made.
            take(owner.work(Duration::ZERO), &mut measured, &mut kernels)?;
        }
        if next == plan.tasks() && owner.is_idle() {
            break;
        }
        let events = owner.work(Duration::from_millis(100));
        take(events, &mut measured, &mut kernels)?;
    }
    measured.wall = start.elapsed();
    (measured.kernel, measured.window) = union(kernels);
    Ok(measured)
}

fn take(
    events: Vec<OwnerEvent>,
    measured: &mut DeviceMeasurement,
    kernels: &mut Vec<DeviceSpan>,
) -> Result<(), String> {
    for event in events {
        match event {
            OwnerEvent::Launched(_) => {}
            OwnerEvent::Counted { tallies, timing } => {
                measured.tally += tallies.into_iter().map(|(_, tally)| tally).sum();
                if let Some(LaunchTiming { spans, .. }) = timing {
                    measured.launches += 1;
                    kernels.push(spans.kernel);
                }
            }
            OwnerEvent::Returned { reason, .. } => {
                return Err(match reason {
                    ReturnReason::Failed(why) => why,
                    // Nothing here halts the device.
                    ReturnReason::Halted => "the run was stopped".to_owned(),
                });
            }
            OwnerEvent::Mismatch(what)
            | OwnerEvent::Restarted(what)
            | OwnerEvent::GivenUp(what) => return Err(what),
        }
    }
    Ok(())
}

/// The time that `spans` cover, and the time from their first beginning to their last end.
fn union(mut spans: Vec<DeviceSpan>) -> (Duration, Duration) {
    spans.sort_by_key(|span| span.start);
    let (Some(first), Some(last)) = (spans.first(), spans.iter().map(|span| span.end).max()) else {
        return (Duration::ZERO, Duration::ZERO);
    };
    let begin = first.start;
    let mut covered = Duration::ZERO;
    let mut until = begin;
    for span in spans {
        covered += span.end.saturating_sub(span.start.max(until));
        until = until.max(span.end);
    }
    (covered, last - begin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_spans_share_is_covered_once() {
        let span = |start, end| DeviceSpan {
            start: Duration::from_secs(start),
            end: Duration::from_secs(end),
        };
        let spans = vec![span(8, 9), span(1, 4), span(2, 3), span(3, 6)];
        let (covered, window) = union(spans);
        assert_eq!((covered.as_secs(), window.as_secs()), (6, 8));
        assert_eq!(union(Vec::new()), (Duration::ZERO, Duration::ZERO));
    }
}
