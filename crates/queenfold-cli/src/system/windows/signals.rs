//! Ctrl-C, Ctrl-Break, and the end of the console or the session.

#![expect(unsafe_code, reason = "calls of Windows")]

use std::io;
use std::sync::mpsc::{Sender, channel};

use parking_lot::Mutex;
use windows_sys::Win32::System::Console::{CTRL_C_EVENT, GenerateConsoleCtrlEvent};

use crate::system::{Asked, SignalKey};

/// Who listens; `None` before anybody does.
static LISTENERS: Mutex<Option<Vec<Sender<Asked>>>> = Mutex::new(None);

/// What the console asks of this process, from now on and for ever. It cannot ask for a pause.
///
/// # Errors
/// The system refuses the handler.
pub fn listen(_pause: bool) -> io::Result<impl Iterator<Item = Asked> + Send> {
    let (sender, asked) = channel();
    let mut listeners = LISTENERS.lock();
    if listeners.is_none() {
        let tell = || {
            for listener in LISTENERS.lock().iter().flatten() {
                // An error means that nobody listens any more.
                let _ = listener.send(Asked::Stop);
            }
        };
        ctrlc::set_handler(tell).map_err(io::Error::other)?;
    }
    listeners.get_or_insert_default().push(sender);
    Ok(asked.into_iter())
}

/// Sends the signal of the key to this process and those that a console would send it to with it.
pub fn send(key: SignalKey) {
    match key {
        SignalKey::Interrupt => {
            // SAFETY: the call takes numbers only. An error would mean that there is no console.
            unsafe { GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0) };
        }
        SignalKey::Quit => end_by_quit(),
        SignalKey::Suspend => {}
    }
}

/// Ends the process at once.
pub fn end_by_quit() {
    exit(1);
}

/// Ends the process without waiting for its other threads.
pub fn exit(code: u8) -> ! {
    std::process::exit(code.into())
}

/// A write beyond the limit of a file's size is an error of that write.
pub const fn survive_file_limit() {}

/// The system has a code of its own for an abort.
pub const fn abort_with(_: u8) {}
