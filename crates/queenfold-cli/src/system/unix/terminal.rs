//! The terminal: whose it is, when there is a key, and its mode.

use std::io::{self, PipeReader};
use std::os::fd::AsFd;
use std::time::Duration;

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

use crate::system::SignalKey;

/// The mode of the terminal before the program changed it.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Notes the mode of the terminal, for [`restore`].
pub fn remember() {
    if let Ok(modes) = tcgetattr(io::stdin()) {
        BEFORE.lock().get_or_insert(modes);
    }
}

/// Gives the terminal the mode that it had before.
pub fn restore() {
    if let Some(before) = BEFORE.lock().take() {
        // If the terminal refuses, nothing can be done.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// Whether the process may use this terminal: it is not in the background.
///
/// # Errors
/// It is no terminal, or gone.
pub fn is_ours(terminal: impl AsFd) -> io::Result<bool> {
    Ok(tcgetpgrp(terminal)? == getpgrp())
}

/// Waits until a key can be read, but no longer than `longest`, nor after the other end of `end` is closed.
/// Returns whether one can: keys that wait for another process cannot.
///
/// # Errors
/// The terminal is gone.
pub fn wait_for_key(longest: Duration, end: Option<&PipeReader>) -> io::Result<bool> {
    let longest = Timespec::try_from(longest).map_err(|_| Errno::INVAL)?;
    let stdin = io::stdin();
    let end = end.map(|end| PollFd::new(end, PollFlags::empty()));
    let mut look: Vec<_> = std::iter::once(PollFd::new(&stdin, PollFlags::IN))
        .chain(end)
        .collect();
    match poll(&mut look, Some(&longest)) {
        // A signal ended the wait.
        Ok(_) | Err(Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    let ready = look[0].revents().contains(PollFlags::IN);
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    if look[0].revents().intersects(gone) {
        return Err(Errno::IO.into());
    }
    let ours = is_ours(io::stdin())?;
    if ready && !ours {
        // The keys stay there: do not ask again at once.
        let _ = poll(&mut [], Some(&longest));
    }
    Ok(ready && ours)
}

/// Reads a key, once there is one.
///
/// # Errors
/// The terminal is gone.
pub fn read_key() -> io::Result<u8> {
    let mut byte = [0];
    match rustix::io::read(io::stdin(), &mut byte)? {
        0 => Err(Errno::IO.into()),
        _ => Ok(byte[0]),
    }
}

/// Makes the terminal deliver each key at once and without echo, Ctrl-C too: two signals in a row can
/// arrive as one, two keys cannot. Needed again after the process was stopped (Ctrl-Z), because the
/// shell resets the terminal.
///
/// # Errors
/// The terminal is gone.
pub fn read_keys_singly() -> io::Result<()> {
    let stdin = io::stdin();
    let mut modes = tcgetattr(&stdin)?;
    let lines = LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG;
    if modes.local_modes.intersects(lines) {
        let mut before = BEFORE.lock();
        before.get_or_insert_with(|| modes.clone());
        modes.local_modes -= lines;
        tcsetattr(&stdin, OptionalActions::Now, &modes)?;
    }
    Ok(())
}

/// Which signal the user's terminal sends for the key `byte`, if any.
pub fn signal_key(byte: u8) -> Option<SignalKey> {
    let before = BEFORE.lock();
    let modes = before.as_ref()?;
    if !modes.local_modes.contains(LocalModes::ISIG) {
        return None;
    }
    [
        (SpecialCodeIndex::VINTR, SignalKey::Interrupt),
        (SpecialCodeIndex::VQUIT, SignalKey::Quit),
        (SpecialCodeIndex::VSUSP, SignalKey::Suspend),
    ]
    .into_iter()
    // 0 means that there is no such key.
    .find(|(code, _)| byte != 0 && modes.special_codes[*code] == byte)
    .map(|(_, key)| key)
}
