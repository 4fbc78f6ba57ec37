//! Reads the keyboard of the terminal during a run: the key `p`, and those that send signals.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::signals;
use super::steering::{KEY, Steering};
use super::terminal::{self, SignalKey};
use crate::system::signals::send;
use queenfold::system::threads::start;

/// How long to wait for a key before looking whether to stop.
const LOOK: Duration = Duration::from_millis(200);

/// Listens for the key `p` until it is dropped, and restores the terminal then.
pub struct PauseKey {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl PauseKey {
    /// Listens only if stdin, stdout and stderr are all a terminal: a program that reads the output may
    /// need the keys itself.
    pub fn listen(steering: Steering) -> Option<Self> {
        let on_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        if !on_terminal {
            return None;
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = start("keys", move || {
            while !stopped.load(Ordering::Relaxed) {
                // An error means that the terminal is gone, and no key can arrive.
                match key() {
                    Ok(Some(b'p' | b'P')) => steering.toggle_pause(KEY),
                    Ok(Some(byte)) => send_signal(byte),
                    Ok(None) => {}
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
        terminal::restore();
    }
}

/// Sends the signal that the terminal would have sent for the key `byte`, if any.
fn send_signal(byte: u8) {
    match terminal::signal_key(byte) {
        Some(key @ (SignalKey::Interrupt | SignalKey::Quit)) => signals::deliver(key),
        Some(SignalKey::Suspend) => {
            // The shell that goes on finds its own mode. `key` changes it again later.
            terminal::restore();
            send(SignalKey::Suspend);
        }
        None => {}
    }
}

/// The next key, if one arrives soon.
fn key() -> io::Result<Option<u8>> {
    let ours = terminal::is_ours(io::stdin())?;
    if ours {
        terminal::read_keys_singly()?;
    }
    if !terminal::wait_for_key(LOOK, None)? || !ours {
        return Ok(None);
    }
    terminal::read_key().map(Some)
}
