//! The key `p`: reads the keyboard of the terminal during a run.

use std::io::{self, IsTerminal, Stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::pause::Pause;

/// How long to wait for a key before looking whether to stop.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// The mode of the terminal before keys were read one by one.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Listens for the key `p` until it is dropped, and restores the terminal then.
pub struct PauseKey {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PauseKey {
    /// Listens only if stdin, stdout and stderr are all a terminal: a program that reads the output may
    /// need the keys itself.
    pub fn listen(pause: Pause) -> Option<Self> {
        let on_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        if !on_terminal {
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = Builder::new().name("keys".into()).spawn(move || {
            let stdin = io::stdin();
            while !stopped.load(Ordering::Relaxed) {
                // An error means that the terminal is gone, and no key can arrive.
                match key(&stdin) {
                    Ok(Some(b'p' | b'P')) => pause.toggle(),
                    Ok(_) => {}
                    Err(_) => break,
                }
            }
        });
        Some(Self {
            stop,
            thread: thread.ok(),
        })
    }
}

impl Drop for PauseKey {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread only reads keys: its panic is no reason to fail.
            let _ = thread.join();
        }
        restore();
    }
}

/// Restores the terminal. Call it before the process ends without running destructors.
pub fn restore() {
    let mut before = BEFORE.lock();
    if let Some(before) = before.take() {
        // If the terminal refuses, nothing can be done.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// The next key, if one arrives soon.
fn key(stdin: &Stdin) -> rustix::io::Result<Option<u8>> {
    // A process in the background that touches the terminal is stopped by the system.
    let ours = tcgetpgrp(stdin)? == getpgrp();
    if ours {
        read_keys_singly(stdin)?;
    }
    let mut look = [PollFd::new(stdin, PollFlags::IN)];
    let ready = poll(&mut look, Some(&LOOK))? > 0;
    if !ours || !ready || tcgetpgrp(stdin)? != getpgrp() {
        if ready {
            // Keys for another process wait there: do not ask again at once.
            poll(&mut [], Some(&LOOK))?;
        }
        return Ok(None);
    }
    let mut byte = [0];
    match rustix::io::read(stdin, &mut byte)? {
        0 => Err(rustix::io::Errno::IO),
        _ => Ok(Some(byte[0])),
    }
}

/// Makes the terminal deliver each key at once and without echo. Needed again after the process was
/// stopped (Ctrl-Z), because the shell resets the terminal.
fn read_keys_singly(stdin: &Stdin) -> rustix::io::Result<()> {
    let mut modes = tcgetattr(stdin)?;
    let lines = LocalModes::ICANON | LocalModes::ECHO;
    if modes.local_modes.intersects(lines) {
        let mut before = BEFORE.lock();
        before.get_or_insert_with(|| modes.clone());
        modes.local_modes -= lines;
        tcsetattr(stdin, OptionalActions::Now, &modes)?;
    }
    Ok(())
}
