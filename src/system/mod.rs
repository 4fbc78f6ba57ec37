//! What operating systems do differently about threads.
//!
//! * `thread_clock`: the CPU time of a thread.
//! * `threads`: a thread, or why there is none.
//!
//! What a system tells about the hardware is in the room [`machine`](crate::machine).

#[cfg(windows)]
mod thread_clock;
pub mod threads;

#[cfg(not(windows))]
pub use cpu_time::ThreadTime as ThreadClock;
#[cfg(windows)]
pub use thread_clock::ThreadClock;
