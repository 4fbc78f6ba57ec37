//! Windows.

pub mod files;
pub mod host;
pub mod processes;
