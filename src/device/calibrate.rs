//! How fast a device counts, measured in a fraction of a second, for an estimate.

use std::time::Duration;

use super::opening::{count_alone, fitted};
use super::{Device, DeviceTrouble};
use crate::engine::{Plan, Tally, Task};

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
