use std::time::Duration;

use super::{ChainBatcher, Device};
use crate::engine::{Plan, Tally, Task};

/// A kernel that takes this long tells the speed of its device: most of its threads are busy most of
/// the time.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

/// How long to wait for a launch.
const PATIENCE: Duration = Duration::from_secs(10);

/// Measures how fast `device` counts, in nodes per second, by launches of tasks of `batcher` that grow
/// until a kernel takes 20 ms or the board is counted.
///
/// # Errors
/// The device failed or counted wrongly; in words.
pub fn calibrate(device: &mut dyn Device, batcher: &ChainBatcher) -> Result<f64, String> {
    let plan = batcher.plan();
    let mut count = 1;
    loop {
        let tasks: Vec<Task> = (0..count).map(|index| plan.task(index)).collect();
        let batch = batcher.batch(&tasks, count);
        device
            .submit(&batch.launch)
            .map_err(|error| error.to_string())?;
        let completed = device
            .poll(PATIENCE)
            .map_err(|error| error.to_string())?
            .ok_or_else(|| format!("no answer for {PATIENCE:?}"))?;
        let kernel = completed.spans.kernel;
        let took = kernel.end.saturating_sub(kernel.start);
        let tallies = batch
            .tallies(Some(&completed))
            .map_err(|mismatch| mismatch.0)?;
        let sum: Tally = tallies.into_iter().map(|(_, tally)| tally).sum();
        if took >= LONG_ENOUGH || count == plan.tasks() {
            return Ok(sum.nodes as f64 / took.as_secs_f64().max(1e-6));
        }
        count = (8 * count).min(plan.tasks());
    }
}
