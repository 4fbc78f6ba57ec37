//! Linux, macOS and their like.

pub mod files;
pub mod host;
pub mod processes;
