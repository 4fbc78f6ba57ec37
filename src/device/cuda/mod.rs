//! GPUs through CUDA.
//!
//! The CUDA driver (`libcuda`) is loaded when it is first used, if the machine has it. The build does not need it, and
//! without it the program uses CPUs only.

#![expect(unsafe_code, reason = "calls of the CUDA driver")]

mod driver;
mod embedded_ptx;
mod slot;
mod stream;

use std::panic::{self, AssertUnwindSafe};

pub use super::cuda_settings::{CudaSettings, FoundDevices};
pub use driver::{devices, has_endless_kernel};
pub use embedded_ptx::{embedded, for_device};
pub use stream::{Cuda, open};

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
