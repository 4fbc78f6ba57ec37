use std::io;
use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::Exit;
use super::output::say;
use super::pause::Pause;
use super::pause_key;
use crate::actors::Control;

/// Listens for Ctrl-C, SIGTERM and SIGUSR1 until the program ends. The first of them drains the runs of
/// `control`; the second ends the program at once. SIGUSR2 pauses and continues.
///
/// # Errors
/// The system refuses the handler or the thread.
pub fn listen(control: Control, pause: Pause, quiet: bool) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGUSR1, SIGUSR2])?;
    let listen = move || {
        let mut asked = false;
        for signal in &mut signals {
            if signal == SIGUSR2 {
                pause.toggle();
                continue;
            }
            if asked {
                pause_key::restore();
                low_level::exit(Exit::Interrupted.code().into());
            }
            asked = true;
            control.drain();
            if !quiet {
                say("stopping when the work in flight is done; once more to quit at once");
            }
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(listen)?;
    Ok(())
}
