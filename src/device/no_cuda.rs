//! In place of [`cuda`](super::cuda) in a build without it: there is no GPU.

use super::{Device, DeviceError, OpenError};
use crate::engine::DeviceProgram;

pub use super::cuda_settings::{CudaSettings, FoundDevices};

/// There is none.
pub enum Cuda {}

impl Cuda {
    /// Says what is missing.
    pub fn open(_: CudaSettings) -> Result<Self, OpenError> {
        Err(OpenError(devices().missing))
    }

    /// Of none.
    pub const fn occupancy(&mut self, _: DeviceProgram) -> Result<(u32, u32), DeviceError> {
        match *self {}
    }
}

/// Says what is missing.
pub fn open(_: &CudaSettings) -> Result<Box<dyn Device>, OpenError> {
    Err(OpenError(devices().missing))
}

/// Finds none, and says what is missing.
pub fn devices() -> FoundDevices {
    FoundDevices {
        missing:
            "counting on a GPU needs the Cargo feature cuda, which this program was built without: \
                  `cargo install --locked --path crates/queenfold-cli --features cuda`"
                .to_owned(),
        ..FoundDevices::default()
    }
}

/// No kernel runs.
pub const fn has_endless_kernel() -> bool {
    false
}
