//! The project itself: its layers, its README, and its machine code.

#[cfg(unix)]
mod archive;
mod build;
mod codegen;
#[cfg(feature = "cli")]
#[path = "../common/isolated.rs"]
mod isolated;
mod layers;
mod modules;
#[cfg(feature = "cli")]
mod readme;
mod records;
#[path = "../common/skip.rs"]
mod skip;
mod skipped;

#[cfg(not(feature = "cli"))]
#[test]
fn the_readme_is_skipped() {
    skip::skipped("the commands of the README need --features cli");
}
