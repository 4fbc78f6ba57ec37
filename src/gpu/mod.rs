//! Devices that count many subtrees at once: GPUs, and an emulated one that runs the same kernels on
//! host threads.
//!
//! The kernels are CUDA C++ in `kernels/`; their logic compiles for a GPU and as plain C++ for the
//! emulated device, so that what is tested without a GPU is what runs on one.
//!
//! * [`Program`]: a kernel and what it is specialised for; its source and compiler options.
//! * [`Device`]: what every device does: take launches, hand back sums. It knows no engine: a
//!   [`Launch`] is a program, jobs, tables and a number of sums.
//! * [`ChainBatch`]: makes a launch of tasks of the chain engine, and tallies of what comes back.
//! * `cuda`: GPUs through CUDA, compiled in by the feature of that name; `Emulated`: the emulated
//!   device, by the feature `emulated-gpu`.
//! * [`Owner`]: keeps one device busy, checks what it returns, and does what can be done when it
//!   fails.
//! * [`measure()`]: a whole board on one device, with the time it took; [`calibrate()`]: how fast a
//!   device counts, in a moment.

mod batch;
mod calibrate;
mod device;
mod measure;
mod owner;
mod program;

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "emulated-gpu")]
mod emulated;

pub use batch::{ChainBatch, ChainBatcher};
pub use calibrate::calibrate;
pub use device::{
    Completed, Device, DeviceError, Launch, OpenError, Properties, Span, Spans, Ticket,
};
#[cfg(feature = "emulated-gpu")]
pub use emulated::{Emulated, EmulatedSettings, Fault, Trouble};
pub use measure::{Measured, measure};
pub use owner::{Event, Opener, Owner, OwnerSettings, Ran};
pub use program::{Kernel, Program};
