//! What an owner reports.

use std::time::Instant;

use crate::engine::{DeviceSpans, Tally, Task};

/// Where and when a launch ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchTiming {
    /// The stream's number, from 0.
    pub stream: usize,
    /// When the device was opened: the moment that `spans` are measured from.
    pub opened: Instant,
    /// Its parts.
    pub spans: DeviceSpans,
}

/// What became of tasks.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnerEvent {
    /// The device was given a launch of so many tasks.
    Launched(usize),
    /// They were counted.
    Counted {
        /// Each with its tally.
        tallies: Vec<(Task, Tally)>,
        /// Where and when the device counted them; `None` if nothing was left for it to do.
        timing: Option<LaunchTiming>,
    },
    /// They were not counted: somebody else has to count them.
    Returned {
        /// The tasks.
        tasks: Vec<Task>,
        /// Why not.
        reason: ReturnReason,
    },
    /// The device counts wrongly. What it counted since its last good canary cannot be trusted, and it is not to be
    /// used any more.
    Mismatch(String),
    /// It failed like this, and was opened again.
    Restarted(String),
    /// It failed like this for good. It takes no more tasks.
    GivenUp(String),
}

/// Why tasks come back uncounted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReturnReason {
    /// [`Owner::halt`](super::Owner::halt) ended their launch early.
    Halted,
    /// The device failed like this. What becomes of it, [`Owner::work`](super::Owner::work) reports next.
    Failed(String),
}
