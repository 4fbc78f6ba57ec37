use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::Exit;
use super::keys;
use super::pause::Pause;
use super::usage::say;
use crate::actors::Control;

/// Whether a signal has asked to stop.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Listens for Ctrl-C, SIGTERM and SIGUSR1 until the program ends. The first of them drains
    /// the runs of `control`; the second ends the program at once. SIGUSR2 pauses and goes on.
    ///
    /// # Errors
    /// The system refuses the handler or the thread.
    pub fn listen(control: Control, pause: Pause, quiet: bool) -> io::Result<Self> {
        let stop = Self::default();
        let asked = stop.clone();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGUSR2])?;
        thread::Builder::new()
            .name("signals".into())
            .spawn(move || {
                for signal in &mut signals {
                    if signal == SIGUSR2 {
                        pause.toggle();
                        continue;
                    }
                    if asked.0.swap(true, Ordering::SeqCst) {
                        keys::restore();
                        low_level::exit(Exit::Interrupted.code().into());
                    }
                    control.drain();
                    if !quiet {
                        say("stopping when the work in flight is done; once more to quit at once");
                    }
                }
            })?;
        Ok(stop)
    }

    /// Whether a signal came.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
