//! GPUs through CUDA.
//!
//! The CUDA driver (`libcuda`) is loaded when it is first used, if the machine has it. The build does not need it, and
//! without it the program uses CPUs only.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

mod driver;
mod image;
mod slot;
mod stream;

use std::panic::{self, AssertUnwindSafe};
use std::time::Duration;

pub use driver::{FoundDevices, devices, has_endless_kernel};
pub use image::{embedded, for_device};
pub use stream::{Cuda, open};

/// How a CUDA device is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaSettings {
    /// Its number among the devices that CUDA shows, from 0.
    pub index: usize,
    /// Threads of a block, at most: for the kernels of engines a multiple of 32, 32 to 256. The chain takes at most
    /// 128 of them, and the colour kernel as many as let most threads run at a time. The kernels of the ladder take 1 to 1024.
    pub block: u32,
    /// Streams, 1 to 4: launches of different streams overlap.
    pub streams: usize,
    /// Launches that each stream holds, 1 to 4.
    pub slots_per_stream: usize,
    /// How long launches may take to end that were asked to. A job takes some milliseconds; a launch that is
    /// still not done counts as endless.
    pub grace: Duration,
}

impl Default for CudaSettings {
    fn default() -> Self {
        Self {
            index: 0,
            block: 256,
            streams: 2,
            slots_per_stream: 2,
            grace: Duration::from_secs(5),
        }
    }
}

/// Runs `call`, which panics where a library lacks a function, and turns a panic into its message.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    panic::catch_unwind(AssertUnwindSafe(call)).map_err(|panic| {
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
            .unwrap_or_else(|| "a panic".to_owned())
    })
}
