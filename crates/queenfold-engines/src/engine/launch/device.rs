//! The trait that every device implements, and its errors.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Completed, Launch, Ticket};
use crate::engine::{DeviceIdentity, decimal};

/// What is known of a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// Which device it is.
    #[serde(flatten)]
    pub identity: DeviceIdentity,
    /// Major and minor compute capability; `None` if it is no GPU.
    pub compute: Option<(u32, u32)>,
    /// Bytes of its memory; a decimal string in JSON, as all numbers of bytes.
    #[serde(with = "decimal")]
    pub memory: u64,
    /// Multiprocessors, or host threads.
    pub multiprocessors: u32,
    /// Bytes of memory that the threads of a multiprocessor share; `None` if it is no GPU.
    pub shared_memory: Option<u32>,
    /// Whether the system ends a launch that takes some seconds, because the device also shows a display.
    pub watchdog: bool,
    /// The version of its driver; empty if it has none.
    pub driver: String,
}

/// A device, owned by one thread.
///
/// Launches of different streams may overlap and end in any order. After [`DeviceError::Lost`] a device
/// cannot be used any more; open it again.
pub trait Device {
    /// What it is.
    fn properties(&self) -> &Properties;

    /// When it was opened: the moment that [`DeviceSpan`](crate::engine::DeviceSpan)s are measured from.
    fn opened(&self) -> Instant;

    /// How many launches it can hold at a time, running and waiting.
    fn slots(&self) -> usize;

    /// Takes a launch. There must be a slot for it.
    ///
    /// # Errors
    /// The launch was not taken; see [`DeviceError`].
    fn submit(&mut self, launch: &Launch) -> Result<Ticket, DeviceError>;

    /// Waits for a launch to end, for at most `patience` and without using the CPU. `None` if none
    /// ended.
    ///
    /// # Errors
    /// The device failed; the state of its launches is unknown.
    fn poll(&mut self, patience: Duration) -> Result<Option<Completed>, DeviceError>;

    /// Ends every launch as soon as the jobs under way are done.
    fn cancel(&mut self);
}

/// A device could not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum DeviceError {
    /// The device has to get more memory for the launch, and that would stop the launches under way: submit
    /// it again when they have ended. Only while there are some.
    #[error("the device has to end its launches first")]
    Busy,
    /// Not enough memory for the launch: a smaller one may fit.
    #[error("out of device memory")]
    OutOfMemory,
    /// No kernel that the device can run could be made.
    #[error("no kernel for this device: {0}")]
    NoKernel(String),
    /// The device, or what connects it, failed.
    #[error("the device failed: {0}")]
    Lost(String),
}

/// A device could not be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OpenError(pub String);

impl From<String> for OpenError {
    fn from(why: String) -> Self {
        Self(why)
    }
}
