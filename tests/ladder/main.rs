//! The ladder: its methods, its commands, its speed.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(feature = "cli")]
mod boards;
#[cfg(feature = "cli")]
#[path = "../common/child.rs"]
mod child;
mod devices;
#[path = "../common/faulty_device.rs"]
mod faulty_device;
#[cfg(feature = "cli")]
#[path = "../common/isolated.rs"]
mod isolated;
mod methods;
#[cfg(feature = "cli")]
mod pictures;
#[cfg(feature = "cli")]
#[path = "../common/program.rs"]
mod program;
#[cfg(feature = "cli")]
mod rows;
mod speed;
mod stops;

#[cfg(not(feature = "cli"))]
#[path = "../common/skip.rs"]
mod skip;

/// The arguments that run one method: `ladder --method METHOD`, then `rest`.
#[cfg(feature = "cli")]
fn ladder<'a>(method: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    [&["ladder", "--method", method], rest].concat()
}

#[cfg(not(feature = "cli"))]
#[test]
fn commands_are_skipped() {
    skip::skipped("tests of the commands need --features cli");
}
