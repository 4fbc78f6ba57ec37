//! The program as a user runs it.

mod commands;
mod config;
mod counts;
mod estimate;
#[cfg(feature = "fault-injection")]
mod faults;
#[cfg(unix)]
mod signals;
#[path = "../common/skip.rs"]
mod skip;

#[cfg(not(feature = "fault-injection"))]
#[test]
fn injected_faults_are_skipped() {
    skip::skipped("injected faults need --features fault-injection");
}
