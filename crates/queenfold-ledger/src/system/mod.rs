//! What operating systems do differently about files, hosts and children, behind one interface. `unix/` and `windows/`
//! have the same files with the same functions.
//!
//! * `files`: what has to be said to open a file of a stranger, to lock it, and to keep its name.
//! * `file_kind`: which files may be replaced that are there, and how.
//! * `host`: the name of this machine.
//! * `processes`: children that signals of the terminal do not reach, and the priority of this process.

#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod here;

pub mod file_kind;

pub use here::{files, host, processes};
