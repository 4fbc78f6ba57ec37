//! The console: when there is a key, and its mode. Every process of a console may use it.

#![expect(unsafe_code, reason = "calls of Windows")]

use std::io::{self, PipeReader};
use std::os::windows::io::{AsRawHandle, RawHandle};
use std::ptr::null_mut;
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use windows_sys::Win32::System::Console::{
    CONSOLE_MODE, ENABLE_ECHO_INPUT, ENABLE_LINE_INPUT, GetConsoleMode, INPUT_RECORD, KEY_EVENT,
    PeekConsoleInputW, ReadConsoleInputW, SetConsoleMode,
};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::core::BOOL;

use crate::system::SignalKey;

/// The mode of the console before the program changed it.
static BEFORE: Mutex<Option<CONSOLE_MODE>> = Mutex::new(None);

/// How often to look for a key.
const LOOK: Duration = Duration::from_millis(20);

/// Notes the mode of the console, for [`restore`].
pub fn remember() {
    if let Ok(mode) = mode() {
        BEFORE.lock().get_or_insert(mode);
    }
}

/// Gives the console the mode that it had before.
pub fn restore() {
    if let Some(before) = BEFORE.lock().take() {
        // If the console refuses, nothing can be done.
        let _ = set_mode(before);
    }
}

/// Whether the process may use the console.
///
/// # Errors
/// None.
pub fn is_ours<T>(_: T) -> io::Result<bool> {
    Ok(true)
}

/// Waits until a key can be read, but no longer than `longest`, nor after the other end of `end` is closed.
/// Returns whether one can.
///
/// # Errors
/// The console is gone.
pub fn wait_for_key(longest: Duration, end: Option<&PipeReader>) -> io::Result<bool> {
    let since = Instant::now();
    loop {
        if is_key_there()? {
            return Ok(true);
        }
        let left = longest.saturating_sub(since.elapsed());
        if left.is_zero() || end.is_some_and(is_closed) {
            return Ok(false);
        }
        thread::sleep(left.min(LOOK));
    }
}

/// Reads a key, once there is one. A key that is no character of ASCII is 0.
///
/// # Errors
/// The console is gone.
pub fn read_key() -> io::Result<u8> {
    while !is_key_there()? {
        thread::sleep(LOOK);
    }
    let mut record = INPUT_RECORD::default();
    let mut count = 0;
    // SAFETY: there is room for one record.
    done(unsafe { ReadConsoleInputW(input(), &mut record, 1, &mut count) })?;
    // SAFETY: the next record was that of a key, and all bits are a number.
    let character = unsafe { record.Event.KeyEvent.uChar.UnicodeChar };
    Ok(u8::try_from(character).unwrap_or(0))
}

/// Makes the console deliver each key at once and without echo. Ctrl-C stays a signal.
///
/// # Errors
/// The console is gone.
pub fn read_keys_singly() -> io::Result<()> {
    remember();
    set_mode(mode()? & !(ENABLE_LINE_INPUT | ENABLE_ECHO_INPUT))
}

/// Which signal the console sends for the key `byte`, if any.
pub fn signal_key(byte: u8) -> Option<SignalKey> {
    (byte == 3).then_some(SignalKey::Interrupt)
}

/// Whether a key waits. Other things that wait, such as a mouse, are thrown away.
fn is_key_there() -> io::Result<bool> {
    loop {
        let mut record = INPUT_RECORD::default();
        let mut count = 0;
        // SAFETY: there is room for one record.
        done(unsafe { PeekConsoleInputW(input(), &mut record, 1, &mut count) })?;
        if count == 0 {
            return Ok(false);
        }
        // SAFETY: the record is that of a key where it is read.
        let is_key = u32::from(record.EventType) == KEY_EVENT
            && unsafe { record.Event.KeyEvent.bKeyDown } != 0;
        if is_key {
            return Ok(true);
        }
        // SAFETY: there is room for one record.
        done(unsafe { ReadConsoleInputW(input(), &mut record, 1, &mut count) })?;
    }
}

/// Whether the other end of a pipe is closed.
fn is_closed(end: &PipeReader) -> bool {
    let none = null_mut();
    // SAFETY: the pipe is open, and a null says that a value is not wanted.
    unsafe {
        PeekNamedPipe(
            end.as_raw_handle(),
            none,
            0,
            null_mut(),
            null_mut(),
            null_mut(),
        ) == 0
    }
}

fn mode() -> io::Result<CONSOLE_MODE> {
    let mut mode = 0;
    // SAFETY: there is room for the mode.
    done(unsafe { GetConsoleMode(input(), &mut mode) })?;
    Ok(mode)
}

fn set_mode(mode: CONSOLE_MODE) -> io::Result<()> {
    // SAFETY: the call takes a number.
    done(unsafe { SetConsoleMode(input(), mode) })
}

fn input() -> RawHandle {
    io::stdin().as_raw_handle()
}

fn done(result: BOOL) -> io::Result<()> {
    match result {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}
