//! The join on devices: CPU workers make the boards of quadrants, devices cross them and count the pairs of half boards.
//!
//! * `tables`: boards, runs and lists as devices read them.
//! * `jobs`: what a block of a device does at a time.
//! * `program`: the kernel.
//! * `check`: what a launch must not hold.
//! * `bundle`: boards of many sets become one launch.
//! * `sample`: the few half boards of each launch whose pairs the CPU counts, too.
//! * `batch`: the sums of a launch become tallies.
//! * `preparer`: CPU workers make launches of parts of their tasks.
//! * `launcher`: the launches of whole tasks.
//! * `probes`, `crossing_probe`: launches that each take one path of the kernel, for `bench --gpu`.

mod batch;
mod bundle;
mod check;
mod crossing_probe;
mod jobs;
mod launcher;
mod preparer;
mod probes;
mod program;
mod sample;
mod tables;
#[cfg(test)]
mod tests;

pub use crossing_probe::CrossingProbe;
#[doc(hidden)]
pub use launcher::launcher_of_small_blocks;
pub(super) use launcher::{BOARDS, JoinLauncher};
pub use probes::{Path, Probe, upload};
pub use program::programs;
