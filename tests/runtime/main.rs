//! The runtime, as its callers use it.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

mod alone;
mod events;
#[cfg(feature = "fault-injection")]
mod faults;
#[path = "../common/run_spec.rs"]
mod run_spec;
mod runs;
#[cfg(feature = "fault-injection")]
mod sick;
mod sources;
mod speed;
mod stops;

#[cfg(not(feature = "fault-injection"))]
#[path = "../common/skip.rs"]
mod skip;

#[cfg(not(feature = "fault-injection"))]
#[test]
fn injected_faults_are_skipped() {
    skip::skipped("injected faults need --features fault-injection");
}
