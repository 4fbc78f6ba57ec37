//! Linux, macOS and their like.

#[cfg(feature = "tui")]
pub mod continued;
#[cfg(feature = "ledger")]
pub mod files;
#[cfg(feature = "ledger")]
pub mod host;
#[cfg(feature = "cli")]
pub mod memory;
#[cfg(any(feature = "cli", feature = "cuda"))]
pub mod processes;
#[cfg(feature = "cli")]
pub mod signals;
#[cfg(feature = "cli")]
pub mod stdio;
#[cfg(feature = "cli")]
pub mod terminal;
pub mod thread_clock;
