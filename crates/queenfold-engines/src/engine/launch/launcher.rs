//! How the tasks of a plan become launches for a device.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::device::{Completed, Launch};
use super::layout::LaunchError;
use super::program::DeviceProgram;
use crate::engine::canary::Canary;
use crate::engine::device::DeviceKernel;
use crate::engine::mismatch::Mismatch;
use crate::engine::tally::Tally;
use crate::engine::task::Task;

/// Tasks as a launch, and what is needed to make tallies of its sums.
pub trait LaunchBatch {
    /// What to submit; `None` if nothing was left to a device.
    fn launch(&self) -> Option<&Launch>;

    /// The tally of each task, in the order in which the tasks were given. `completed` is what the
    /// launch gave, `None` where there was no launch.
    ///
    /// # Errors
    /// The device did not count what it was sent: a job is missing, or what was counted again on the
    /// CPU is another number.
    fn tallies(self: Box<Self>, completed: Option<&Completed>) -> Result<Vec<Tally>, Mismatch>;
}

/// Makes launches of the tasks of one plan, and tallies of what a device returns.
///
/// This is all that the device layer and the runtime know of an engine.
pub trait Launcher: Send + Sync {
    /// The program that its launches run.
    fn program(&self) -> DeviceProgram;

    /// The name of its way to count, as recorded with each task.
    fn kernel(&self) -> DeviceKernel {
        DeviceKernel::Cuda
    }

    /// The launcher to use in place of this one on a device whose multiprocessors have so many bytes of
    /// shared memory; `None` if that is this one.
    fn fitted(&self, _shared_memory: u32) -> Option<Arc<dyn Launcher>> {
        None
    }

    /// The work of a device for the whole board, estimated, in nodes of its tallies: with the speed of a
    /// device (`device::calibrate` of the program) this gives the time it needs.
    fn work(&self) -> f64;

    /// Makes a batch of tasks of the plan. `seed` chooses which part of it is counted again on the
    /// CPU, so that a device that counts wrongly is noticed.
    ///
    /// # Errors
    /// The launch does not fit its program: a defect of the launcher.
    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError>;

    /// The canary of devices that run this program, and a launcher for its board.
    fn of_canary(&self) -> (Canary, Box<dyn Launcher>);

    /// The canary of a device with so many multiprocessors: enough copies of each task that all of them have something
    /// to count.
    ///
    /// # Errors
    /// As [`batch`](Self::batch).
    fn canary(&self, multiprocessors: u32) -> Result<DeviceCanary, LaunchError> {
        let (canary, launcher) = self.of_canary();
        let copies = multiprocessors.div_ceil(COPY_FOR);
        let tasks = (0..copies).flat_map(|_| (0..canary.tasks().len()).map(|at| canary.task(at)));
        Ok(DeviceCanary {
            batch: launcher.batch(&tasks.collect::<Vec<_>>(), 0)?,
            canary,
        })
    }
}

/// For so many multiprocessors one copy of a canary is enough. That of the chain has 30,000 jobs, one at least for each of
/// their threads. That of the colour engine has a thousand, and no more than 15 blocks, which count a job each, fit on a
/// multiprocessor.
const COPY_FOR: u32 = 32;

/// A canary as a launch.
pub struct DeviceCanary {
    /// The tasks, with their counts.
    pub canary: Canary,
    /// All of them in their order, and again for each copy.
    pub batch: Box<dyn LaunchBatch>,
}

/// Why a plan has no [`Launcher`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLauncher {
    /// Devices have no kernel for the engine.
    Engine,
    /// Devices count only boards of these sizes.
    Board(RangeInclusive<u32>),
}
