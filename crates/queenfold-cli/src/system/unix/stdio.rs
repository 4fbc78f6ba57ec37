//! Which standard streams the process was given.

#![expect(
    unsafe_code,
    reason = "a function that the system calls before the runtime of Rust begins"
)]

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::fcntl_getfd;
use rustix::stdio::stdout;

static CLOSED: AtomicBool = AtomicBool::new(false);

/// The runtime of Rust opens `/dev/null` in place of a standard stream that is closed. What is written there
/// is lost without a word, so this is asked before.
#[used]
// SAFETY: the system calls each function in this section once, on the first thread, before `main`. This one
// takes no arguments, makes one system call and stores a flag: it needs nothing of the runtime.
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

extern "C" fn look() {
    CLOSED.store(fcntl_getfd(stdout()).is_err(), Ordering::Relaxed);
}

/// Whether the process was begun without a standard output.
pub fn has_no_stdout() -> bool {
    CLOSED.load(Ordering::Relaxed)
}
