//! What operating systems do differently about the terminal and the process, behind one interface. `unix/` and `windows/`
//! have the same files with the same functions.
//!
//! * `memory`: how the allocator takes it.
//! * `signals`: Ctrl-C and its like.
//! * `stdio`: which standard streams there are.
//! * `terminal`: whose it is, when there is a key, and its mode.

#[cfg_attr(unix, path = "unix/mod.rs")]
#[cfg_attr(windows, path = "windows/mod.rs")]
mod here;

mod asked;

pub use asked::{Asked, SignalKey};
pub use here::{continued::Continued, memory, signals, stdio, terminal};
