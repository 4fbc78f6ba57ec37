//! How tasks become launches for a device.
//!
//! An engine describes its kernel by a [`DeviceProgram`]. Its [`Launcher`] turns tasks into a
//! [`Launch`], which is checked against the program's `Layout` when it is made, and turns what comes
//! back into tallies.

mod batch;
mod device;
mod jobs;
mod launcher;
mod layout;
mod program;
mod request;
#[cfg(test)]
pub(crate) mod variant_tests;

pub use batch::LaunchBatch;
pub use device::{Device, DeviceError, OpenError, Properties};
#[cfg(test)]
pub(crate) use jobs::exact;
pub(crate) use jobs::{JOB_WORDS, JobGroup, Jobs, SampledLaunch};
pub use launcher::{DeviceCanary, Launcher, NoLauncher};
pub use layout::{LaunchError, LaunchWords, Layout};
pub(crate) use program::RESERVED;
pub use program::{BLOCK_THREADS, DeviceProgram, ThreadUse};
pub use request::{Completed, DeviceSpan, DeviceSpans, Launch, Ticket};
