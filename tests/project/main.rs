//! The project itself: its layers, its pages, and its machine code.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(unix)]
mod archive;
mod build;
mod codegen;
mod facade;
mod features;
#[cfg(feature = "cli")]
mod generated;
#[cfg(all(feature = "tui", feature = "cuda"))]
#[path = "../common/help.rs"]
mod help;
#[cfg(all(feature = "cli", unix))]
#[path = "../common/isolated.rs"]
mod isolated;
mod layers;
mod links;
mod modules;
mod numbers;
#[cfg(all(feature = "cli", unix))]
mod pages;
mod records;
#[path = "../common/skip.rs"]
mod skip;
mod skipped;
mod user_crate;
mod versions;

#[cfg(not(all(feature = "cli", unix)))]
#[test]
fn the_pages_are_skipped() {
    skip::skipped("the commands of the pages need bash, and --features cli");
}
