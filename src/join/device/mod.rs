//! The join on devices: the lists are made on the CPU, and devices count the pairs.
//!
//! * `flat_lists`: lists as devices read them, sorted by more bits than for a CPU.
//! * `planner`: divides the pairs of two lists into parts that each fit a block of a device.
//! * `program`: the kernel, and what a launch must not hold.
//! * `bundle`: lists of many sets become one launch.
//! * `batch`: the sums of a launch become tallies.
//! * `preparer`: CPU workers make launches of parts of their tasks.
//! * `launcher`: the launches of whole tasks.
//! * `probes`: launches that each take one path of the kernel, for `bench --gpu`.

mod batch;
mod bundle;
mod flat_lists;
mod launcher;
mod planner;
mod preparer;
mod probes;
mod program;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use launcher::launcher_of_small_blocks;
pub(super) use launcher::{BOARDS, JoinLauncher};
pub use probes::{Path, Probe, upload};
pub use program::programs;
