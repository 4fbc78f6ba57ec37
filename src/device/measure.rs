//! How fast a device counts: a whole board, for `bench --gpu`, or measured in a fraction of a second, for an estimate.

use std::time::{Duration, Instant};

use super::opening::{count_alone, fitted};
use super::{Device, DeviceTrouble, LaunchTiming, Owner, OwnerEvent};
use crate::engine::{DeviceSpan, Plan, Tally, Task};

/// The result of counting a whole board on one device, and the time it took.
#[derive(Clone, Debug, Default)]
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
    let failed = DeviceTrouble::into_words;
    let start = Instant::now();
    let mut measured = DeviceMeasurement::default();
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
            let events = owner.work(Duration::ZERO).map_err(failed)?;
            take(events, &mut measured, &mut kernels);
        }
        if next == plan.tasks() && owner.is_idle() {
            break;
        }
        let events = owner.work(Duration::from_millis(100)).map_err(failed)?;
        take(events, &mut measured, &mut kernels);
    }
    measured.wall = start.elapsed();
    (measured.kernel, measured.window) = union(kernels);
    Ok(measured)
}

fn take(events: Vec<OwnerEvent>, measured: &mut DeviceMeasurement, kernels: &mut Vec<DeviceSpan>) {
    for event in events {
        if let OwnerEvent::Counted { tallies, timing } = event {
            measured.tally += tallies.into_iter().map(|(_, tally)| tally).sum();
            if let Some(LaunchTiming { spans, .. }) = timing {
                measured.launches += 1;
                kernels.push(spans.kernel);
            }
        }
    }
}

/// A kernel that takes this long shows the speed of its device: most of its threads are busy most of
/// the time.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

/// How long to wait for a launch.
const PATIENCE: Duration = Duration::from_secs(10);

/// Measures how fast `device` counts, in [work](crate::engine::Launcher::work) per second. Launches tasks of `plan`,
/// more each time, until a kernel takes 20 ms or a launch holds the whole board.
///
/// # Errors
/// The device does not count this plan, failed, or counted wrongly; in words.
pub fn calibrate(device: &mut dyn Device, plan: &dyn Plan) -> Result<f64, String> {
    let launcher = plan.launcher().map_err(|_| "no kernel".to_owned())?;
    let launcher = fitted(launcher, device.properties());
    let mut count = 1;
    loop {
        let tasks: Vec<Task> = (0..count).map(|index| plan.task(index)).collect();
        let batch = launcher
            .batch(&tasks, count)
            .map_err(|error| error.to_string())?;
        let counted = count_alone(device, batch, PATIENCE);
        let (tallies, took) = counted.map_err(DeviceTrouble::into_words)?;
        if took >= LONG_ENOUGH || count == plan.tasks() {
            let sum: Tally = tallies.into_iter().sum();
            return Ok(sum.nodes as f64 / took.as_secs_f64().max(1e-6));
        }
        count = (8 * count).min(plan.tasks());
    }
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
