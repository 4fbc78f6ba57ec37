//! Tasks as a launch.

use super::request::{Completed, Launch};
use crate::engine::mismatch::Mismatch;
use crate::engine::tally::Tally;

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
