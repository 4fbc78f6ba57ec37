//! How the tasks of a plan become launches for a device.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::batch::LaunchBatch;
use super::layout::LaunchError;
use super::program::DeviceProgram;
use crate::engine::canary::Canary;
use crate::engine::tally::Tally;
use crate::engine::task::Task;

/// Makes launches of the tasks of one plan, and tallies of what a device returns.
///
/// This is all that the device layer and the runtime know of an engine.
pub trait Launcher: Send + Sync {
    /// The program that its launches run.
    fn program(&self) -> DeviceProgram;

    /// The launcher to use in place of this one on a device whose multiprocessors have so many bytes of
    /// shared memory; `None` if that is this one.
    fn fitted(&self, _shared_memory: u32) -> Option<Arc<dyn Launcher>> {
        None
    }

    /// The work of a device for the whole board, estimated, in a unit of the engine's own: with the speed of a
    /// device (`device::calibrate` of the program) this gives the time it needs.
    fn work(&self) -> f64;

    /// The work of a device for tasks with this share of the costs of the plan, which gave this tally.
    fn work_of(&self, share: f64, _tally: &Tally) -> f64 {
        share * self.work()
    }

    /// Makes a batch of tasks of the plan. `seed` chooses which part of it is counted again on the
    /// CPU, so that a device that counts wrongly is noticed.
    ///
    /// # Errors
    /// The launch does not fit its program: a defect of the launcher.
    fn batch(&self, tasks: &[Task], seed: u64) -> Result<Box<dyn LaunchBatch>, LaunchError>;

    /// The canary of a device, made for the same program: enough copies of each task
    /// that the threads of so many multiprocessors have something to count.
    ///
    /// # Errors
    /// As [`batch`](Self::batch).
    fn canary(&self, multiprocessors: u32) -> Result<DeviceCanary, LaunchError>;
}

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
