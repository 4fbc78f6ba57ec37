//! All tests but those that need a process of their own.
//!
//! Most need the default features. On Windows and with musl, the engines and the examples are left.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

#[cfg(all(unix, not(target_env = "musl")))]
mod cli;
#[cfg(all(unix, not(target_env = "musl")))]
mod cluster;
#[cfg_attr(
    not(all(unix, not(target_env = "musl"))),
    allow(dead_code, reason = "what is left out has no tests")
)]
mod common;
#[cfg(all(unix, not(target_env = "musl")))]
mod devices;
mod engines;
mod examples;
#[cfg(all(unix, not(target_env = "musl")))]
mod ladder;
#[cfg(all(unix, not(target_env = "musl")))]
mod ledger;
#[cfg(all(unix, not(target_env = "musl")))]
mod project;
