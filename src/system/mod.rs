//! What operating systems do differently, behind one interface. `unix/` and `windows/` have the same files
//! with the same functions.
//!
//! * `files`: what has to be said to open a file of a stranger, to lock it, and to keep its name.
//! * `file_kind`: which files may be replaced that are there, and how.
//! * `host`: the name of this machine.
//! * `memory`: how the allocator takes it.
//! * `processes`: children that signals of the terminal do not reach, and the priority of this process.
//! * `signals`: Ctrl-C and its like.
//! * `stdio`: which standard streams there are.
//! * `terminal`: whose it is, when there is a key, and its mode.
//! * `thread_clock`: the CPU time of a thread.
//! * `threads`: a thread, or why there is none.
//!
//! What a system tells about the hardware is in the room [`machine`](crate::machine).

#![cfg_attr(
    not(feature = "cli"),
    allow(dead_code, unused_imports, reason = "the program uses all of it")
)]

#[cfg(feature = "ledger")]
#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod here;

#[cfg(feature = "ledger")]
mod asked;
#[cfg(feature = "ledger")]
pub(crate) mod file_kind;
#[cfg(windows)]
mod thread_clock;
pub(crate) mod threads;

#[cfg(feature = "cli")]
pub(crate) use here::{continued::Continued, signals};
#[cfg(feature = "ledger")]
pub(crate) use {
    asked::{Asked, SignalKey},
    here::{files, host, memory, processes, stdio, terminal},
};

#[cfg(not(windows))]
pub(crate) use cpu_time::ThreadTime as ThreadClock;
#[cfg(windows)]
pub(crate) use thread_clock::ThreadClock;
