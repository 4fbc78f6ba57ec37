//! Reads the keyboard of the terminal during a run: the key `p`, and those that send signals.

use std::io::{self, IsTerminal, Stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use rustix::process::{Signal, kill_current_process_group};

use super::pause::Pause;
use super::signals;
use super::terminal::{self, SignalKey};

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
        Some(SignalKey::Interrupt) => signals::deliver(Signal::INT),
        Some(SignalKey::Quit) => signals::deliver(Signal::QUIT),
        Some(SignalKey::Suspend) => {
            // The shell that goes on finds its own mode. `key` changes it again later.
            terminal::restore();
            // An error would mean that there is no such group, but this process is in it.
            let _ = kill_current_process_group(Signal::TSTP);
        }
        None => {}
    }
}

/// The next key, if one arrives soon.
fn key(stdin: &Stdin) -> rustix::io::Result<Option<u8>> {
    let ours = terminal::is_ours()?;
    if ours {
        terminal::read_keys_singly(stdin)?;
    }
    if !terminal::wait_for_key(LOOK, None)? || !ours {
        return Ok(None);
    }
    let mut byte = [0];
    match rustix::io::read(stdin, &mut byte)? {
        0 => Err(rustix::io::Errno::IO),
        _ => Ok(Some(byte[0])),
    }
}
