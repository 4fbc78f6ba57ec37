//! Runs of [`queenfold`] that are kept: each in a directory of its own, with one record for each task that is finished.
//!
//! | what you want | where to begin |
//! |---|---|
//! | keep what was counted, resume, divide, count again | [`RunDirectory`] |
//!
//! # What is promised
//!
//! [Semantic versioning](https://semver.org) holds for what this page lists. The crate has more that is public, for the
//! program, tests and Python module; that is hidden here and may change in any version.

// Rooms: ARCHITECTURE.md says what each of them is for, and in which order they may use each other.
#[doc(hidden)]
pub mod certificate;
#[doc(hidden)]
pub mod cluster;
#[doc(hidden)]
pub mod ledger;
#[doc(hidden)]
pub mod run_directory;
#[doc(hidden)]
pub mod system;

// What users of the library see. `tests/project/facade.rs` counts it.
#[doc(inline)]
pub use ledger::{LedgerError, Shard, ShardError};
#[doc(inline)]
pub use run_directory::{AgainResult, RunDirectory, RunDirectoryError, RunResult};
