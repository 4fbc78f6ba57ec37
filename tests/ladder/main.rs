//! The ladder: its methods, its commands, its speed.

#[cfg(feature = "cli")]
mod commands;
mod methods;
mod speed;

#[cfg(not(feature = "cli"))]
#[path = "../common/skip.rs"]
mod skip;

#[cfg(not(feature = "cli"))]
#[test]
fn commands_are_skipped() {
    skip::skipped("tests of the commands need --features cli");
}
