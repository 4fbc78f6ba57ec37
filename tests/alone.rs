//! Tests that must know what runs in their process: the runtime must leave no thread, and a trace has times.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[allow(dead_code, reason = "the other test program uses all of it")]
mod common;
#[cfg(all(unix, not(target_env = "musl")))]
mod limits;
#[cfg(all(unix, not(target_env = "musl")))]
mod runtime;
#[cfg(all(unix, not(target_env = "musl")))]
mod trace;

/// Held during a run: only one at a time, so that none takes the time of another.
#[cfg(all(unix, not(target_env = "musl")))]
static ALONE: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
