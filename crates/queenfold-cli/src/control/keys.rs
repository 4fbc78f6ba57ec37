//! Reads the keyboard of the terminal during a run: the key `p`, and those that send signals.

use std::io::{self, IsTerminal};
use std::time::Duration;

use super::signals;
use super::steering::{KEY, Steering};
use super::terminal::{self, SignalKey};
use crate::system::signals::send;
use queenfold::system::threads::Background;

/// How long to wait for a key before looking whether to stop.
const LOOK: Duration = Duration::from_millis(200);

/// Listens for the key `p` until it is dropped, and restores the terminal then.
pub struct PauseKey(Option<Background>);

impl PauseKey {
    /// Listens only if stdin, stdout and stderr are all a terminal: a program that reads the output may
    /// need the keys itself.
    pub fn listen(steering: Steering) -> Option<Self> {
        let on_terminal =
            io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
        if !on_terminal {
            return None;
        }
        let keys = Background::start("keys", move |stop| {
            while !stop.comes_within(Duration::ZERO) {
                // An error means that the terminal is gone, and no key can arrive.
                match key() {
                    Ok(Some(b'p' | b'P')) => steering.toggle_pause(KEY),
                    Ok(Some(byte)) => send_signal(byte),
                    Ok(None) => {}
                    Err(_) => break,
                }
            }
        });
        Some(Self(keys.ok()))
    }
}

impl Drop for PauseKey {
    fn drop(&mut self) {
        drop(self.0.take());
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
