//! How tasks become launches for a device.
//!
//! An engine describes its kernel by a [`DeviceProgram`]. Its [`Launcher`] turns tasks into a
//! [`Launch`], which is checked against the program's `Layout` when it is made, and turns what comes
//! back into tallies.
//!
//! * `device`: what a device is, what it is asked to do, and what it answers.
//! * `program`: a kernel, described for devices; `layout`: how kernels read the words of a launch.
//! * `launcher`: how tasks become launches; `jobs`: the jobs of a launch, and the one that the CPU counts again.
//! * `variant_tests`: what the tests of each engine ask of its program.

mod device;
mod jobs;
mod launcher;
mod layout;
mod program;
#[cfg(test)]
pub(crate) mod variant_tests;

pub use device::{
    Completed, Device, DeviceError, DeviceSpan, DeviceSpans, Launch, OpenError, Properties, Ticket,
};
#[cfg(test)]
pub(crate) use jobs::exact;
pub(crate) use jobs::{JOB_WORDS, JobGroup, Jobs, SampledLaunch};
pub use launcher::{DeviceCanary, LaunchBatch, Launcher, NoLauncher};
pub use layout::{LaunchError, LaunchWords, Layout};
pub(crate) use program::RESERVED;
pub use program::{DeviceProgram, ThreadUse};
