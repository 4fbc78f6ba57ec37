//! All tests but those that need a process of their own.
//!
//! Most need what test builds have besides ([dev-dependencies] in Cargo.toml). Where they lack that, or with other
//! features, the engines and the examples are left.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(all(feature = "cli", feature = "emulated-gpu"))]
mod cli;
#[cfg(all(feature = "cli", feature = "emulated-gpu"))]
mod cluster;
#[cfg_attr(
    not(all(feature = "tui", feature = "cuda", feature = "emulated-gpu")),
    allow(dead_code, reason = "what is left out has no tests")
)]
mod common;
#[cfg(all(feature = "cli", feature = "emulated-gpu"))]
mod devices;
mod engines;
mod examples;
#[cfg(all(feature = "cli", feature = "emulated-gpu"))]
mod ladder;
#[cfg(all(feature = "cli", feature = "emulated-gpu"))]
mod ledger;
#[cfg(all(feature = "cli", feature = "emulated-gpu"))]
mod project;
