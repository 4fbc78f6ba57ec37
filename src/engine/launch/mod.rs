//! How tasks become launches for a device.
//!
//! An engine describes its kernel by a [`DeviceProgram`]. Its [`Launcher`] turns tasks into a
//! [`Launch`], which is checked against the program's `Layout` when it is made, and turns what comes
//! back into tallies.

mod batch;
mod launcher;
mod layout;
mod preparer;
mod program;
mod request;
mod words;

pub use batch::LaunchBatch;
pub use launcher::{DeviceCanary, Launcher, NoLauncher};
pub(crate) use layout::{JobWords, LaunchWords, Layout, TableWords};
pub use layout::{LaunchError, Scratch};
pub use preparer::{PartTaker, Preparer};
#[cfg(feature = "cuda")]
pub(crate) use program::fnv;
pub use program::{BLOCK_THREADS, DeviceProgram, Specialisation};
pub(crate) use program::{MACHINE_SOURCE, ThreadUse};
pub use request::{Completed, DeviceSpan, DeviceSpans, Launch, Ticket};
pub use words::{Draft, Recycled, Words};
