//! The errors of a job: settings that are not allowed, hardware that is missing, runs without a result.

use std::ops::RangeInclusive;

use super::Stopped;
use crate::actors::{Report, RunError};
use crate::board::{Size, SizeError};
use crate::engine::Engine;
use crate::outcome::Contradiction;
use crate::simd::Isa;

/// Why a job has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JobError {
    /// There is no board of this size.
    #[error(transparent)]
    Size(#[from] SizeError),
    /// A setting has a value that is not allowed: see [`limits`](super::limits).
    #[error("{setting}: expected {expected}")]
    Setting {
        /// The setting, by the name of its field.
        setting: &'static str,
        /// What is allowed.
        expected: String,
    },
    /// The instruction set that was asked for is not available.
    #[error("this machine has no {0}")]
    IsaUnavailable(Isa),
    /// A device that was asked for is not available, or no device is and there are no CPU workers.
    #[error("{0}")]
    DeviceUnavailable(String),
    /// There are no workers, and devices are switched off.
    #[error("0 workers count nothing without a device")]
    NoWorkers,
    /// The address space of the process has no room for the workers.
    #[error("{0}")]
    NoRoom(String),
    /// Devices were asked for, and their kernel does not count this board.
    #[error("devices count boards of {} to {} queens, not of {n}", boards.start(), boards.end())]
    BoardNotForDevices {
        /// The board.
        n: Size,
        /// The sizes of the boards that devices count.
        boards: RangeInclusive<u32>,
    },
    /// Devices were asked for, or there are no CPU workers, and devices have no kernel of the engine.
    #[error("devices do not count by the {0} engine")]
    EngineNotForDevices(Engine),
    /// The engine counts only some of the solutions.
    #[error(
        "the {0} engine does not count all solutions; `Job::census_on` counts the symmetric ones"
    )]
    NoTotal(Engine),
    /// The run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The counts contradict each other or a known count: they are no result.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// The job was stopped before its end.
    #[error("{0}")]
    Stopped(Box<Stopped>),
}

impl JobError {
    /// What the run did, if it ended without failing.
    pub fn report(&self) -> Option<&Report> {
        match self {
            Self::Stopped(stopped) => Some(&stopped.report),
            _ => None,
        }
    }
}
