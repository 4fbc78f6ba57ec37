//! The program `queenfold`. Results go to stdout, everything else to stderr (`output`).
//!
//! This crate promises nothing to other crates: they use [`queenfold`], and `queenfold-ledger` for what is kept.

#[doc(hidden)]
pub mod bench;
#[doc(hidden)]
pub mod config;
#[doc(hidden)]
pub mod ladder;
#[doc(hidden)]
pub mod telemetry;

mod args;
mod commands;
mod control;
mod dashboard;
mod exit;
mod output;
mod print;
mod report;
mod session;
mod shell;
mod system;

pub use commands::main;
