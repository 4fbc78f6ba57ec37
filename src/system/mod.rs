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

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as here;
#[cfg(windows)]
use windows as here;

pub(crate) use here::thread_clock::ThreadClock;

pub(crate) mod threads;

#[cfg(any(feature = "cli", feature = "cuda"))]
pub(crate) use here::processes;
#[cfg(feature = "ledger")]
pub(crate) mod file_kind;
#[cfg(feature = "ledger")]
pub(crate) use here::{files, host};
#[cfg(feature = "cli")]
pub(crate) use here::{memory, signals, stdio, terminal};

#[cfg(feature = "tui")]
pub(crate) use here::continued::Continued;

#[cfg(feature = "cli")]
mod asked;
#[cfg(feature = "cli")]
pub(crate) use asked::{Asked, SignalKey};
