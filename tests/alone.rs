//! Tests that must know what runs in their process: a trace is heard by all its threads, and the runtime
//! must leave none.

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

/// Held during a run: only one at a time. The process decides once for all threads whether a span has a listener, so a run
/// without a trace could turn a span off for a moment.
#[cfg(all(unix, not(target_env = "musl")))]
static ALONE: parking_lot::Mutex<()> = parking_lot::Mutex::new(());
