//! Devices that count many subtrees at once: GPUs.
//!
//! The kernels are CUDA C++ in `kernels/`. They are tested without a GPU by executing their compiled form
//! (`tests/ptx_machine`).
//!
//! Nothing here belongs to an engine. An engine describes its kernel by a
//! [`DeviceProgram`](crate::engine::DeviceProgram), and turns tasks into launches by a
//! [`Launcher`](crate::engine::Launcher).
//!
//! * [`Device`]: what every device does: take launches, return sums.
//! * `cuda`: GPUs through CUDA, compiled in by the feature of that name. Without it, `no_cuda` says what is missing.
//! * [`Owner`]: keeps one device busy and checks what it returns.
//! * [`calibrate()`]: finds within a moment how fast a device counts.

mod calibrate;
mod cuda_settings;
mod opening;
mod owner;

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(not(feature = "cuda"))]
#[path = "no_cuda.rs"]
pub mod cuda;

#[doc(inline)]
pub use crate::engine::{Device, DeviceError, OpenError, Properties};
pub use calibrate::calibrate;
pub use opening::{CountedCanary, DeviceTrouble, fitted};
pub use owner::{LaunchTiming, Owner, OwnerEvent, OwnerSettings};
