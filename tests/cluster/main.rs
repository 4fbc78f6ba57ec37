//! Job arrays: what `array` writes, what `gather` adds up, and both with the real schedulers.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]
#![cfg(unix)]

mod array;
#[cfg(unix)]
mod asking;
mod commands;
mod directives;
mod hyperqueue;
#[path = "../common/isolated.rs"]
mod isolated;
#[path = "../common/program.rs"]
mod program;
mod scripts;
#[path = "../common/skip.rs"]
mod skip;
mod slurm;
mod slurm_cluster;
