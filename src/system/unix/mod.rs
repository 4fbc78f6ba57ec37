//! Linux, macOS and their like.

#[cfg(feature = "cli")]
pub mod continued;
pub mod files;
pub mod host;
pub mod memory;
pub mod processes;
#[cfg(feature = "cli")]
pub mod signals;
pub mod stdio;
pub mod terminal;
