use std::io::{self, IsTerminal, Stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

use super::pause::Pause;

/// How long one look at the keyboard lasts.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};

/// The terminal as it was before keys were read one by one.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Listens for the key `p` while it lives, and leaves the terminal as it was.
pub struct Keys {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    /// Listens where input, output and messages are all on a terminal: a program that reads our
    /// output may want the keys itself.
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
                // Errors are those of a terminal that went away: there are no keys any more.
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

impl Drop for Keys {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // It only reads keys: a panic there is no reason to fail.
            let _ = thread.join();
        }
        restore();
    }
}

/// Leaves the terminal as it was. To be called before the process ends without dropping anything.
pub fn restore() {
    let mut before = BEFORE.lock();
    if let Some(before) = before.take() {
        // Nothing can be done about a terminal that refuses.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
}

/// The next key, if there is one soon.
fn key(stdin: &Stdin) -> rustix::io::Result<Option<u8>> {
    // In the background the terminal belongs to others, and to touch it would stop the process.
    let ours = tcgetpgrp(stdin)? == getpgrp();
    if ours {
        read_keys_singly(stdin)?;
    }
    let mut look = [PollFd::new(stdin, PollFlags::IN)];
    let ready = poll(&mut look, Some(&LOOK))? > 0;
    if !ours || !ready || tcgetpgrp(stdin)? != getpgrp() {
        if ready {
            // Keys for others lie there: do not ask again at once.
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

/// Hands keys over at once and without showing them. Again after a stop, when the shell has set
/// the terminal back.
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
