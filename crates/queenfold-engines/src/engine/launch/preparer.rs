//! How CPU workers prepare launches for a device, where that takes long.

use super::batch::LaunchBatch;
use crate::engine::tally::Tally;
use crate::engine::task::Task;
use crate::engine::task_watch::{NotCounted, TaskWatch};

/// Counts tasks on a CPU worker, and leaves parts of them to a device as long as that has room.
///
/// Made by [`Launcher::preparer`](super::Launcher::preparer), one for each worker: it keeps its buffers between
/// tasks.
pub trait Preparer {
    /// Counts a task, but for the parts that `device` takes. Returns the tally of what was counted here: the
    /// tally of the task is the sum of this one and of those of its parts.
    ///
    /// # Errors
    /// As [`Counter::count_watched`](crate::engine::Counter::count_watched). Then the parts that were given are
    /// of no use.
    fn prepare(
        &mut self,
        task: &Task,
        watch: &TaskWatch,
        device: &mut dyn PartTaker,
    ) -> Result<Tally, NotCounted>;
}

/// Takes parts of a task for a device.
pub trait PartTaker {
    /// Whether a launch that takes so many bytes of the memory of the device would be taken now. To ask before the launch is
    /// made saves making it in vain.
    fn has_room(&self, bytes: u64) -> bool;

    /// Takes a part of the task being prepared: a batch with a launch, whose tally is that of the part alone.
    /// `work` is what it takes the device, in any unit that is the same for all parts of the plan.
    fn take(&mut self, part: Box<dyn LaunchBatch>, work: f64);

    /// Notes that the preparer counts itself what would be so much work for a device.
    fn keep(&mut self, work: f64);
}
