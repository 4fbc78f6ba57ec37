//! Where Ctrl-C and other signals arrive, for every command that acts on them.

use std::thread;

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::exit::{Exit, Failure};
use super::pause::Pause;
use super::pause_key;

/// Listens for signals until the program ends. The first Ctrl-C, SIGTERM or SIGUSR1 calls `stop`; the
/// second ends the program at once. SIGUSR2 pauses and continues, if there is something to pause.
///
/// # Errors
/// The system refuses the handler or the thread.
pub fn listen(stop: impl FnOnce() + Send + 'static, pause: Option<Pause>) -> Result<(), Failure> {
    let refused = |error| Failure::new(Exit::Error, format!("cannot listen for signals: {error}"));
    let wanted = [SIGINT, SIGTERM, SIGUSR1]
        .into_iter()
        .chain(pause.as_ref().map(|_| SIGUSR2));
    let mut signals = Signals::new(wanted).map_err(refused)?;
    let mut stop = Some(stop);
    let listen = move || {
        for signal in &mut signals {
            match &pause {
                Some(pause) if signal == SIGUSR2 => pause.toggle(),
                _ => match stop.take() {
                    Some(stop) => stop(),
                    None => end_at_once(Exit::Interrupted),
                },
            }
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(listen)
        .map_err(refused)?;
    Ok(())
}

/// Ends the program without waiting for its other threads.
pub fn end_at_once(exit: Exit) -> ! {
    pause_key::restore();
    low_level::exit(exit.code().into())
}
