//! Where Ctrl-C and other signals arrive, for every command that acts on them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::steering::Steering;
use super::terminal;
use crate::exit::{Exit, Failure, SIGNAL};
use crate::system::{Asked, SignalKey, signals};
use queenfold::system::threads;
use queenfold_ledger::ledger::FILE_LIMIT;
use queenfold_ledger::system::files::is_open_limit;

pub(crate) use crate::system::signals::{abort_with, survive_file_limit};

/// How many signals were acted on.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// The longest wait for a signal to be acted on.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long after the first signal another SIGTERM is one with it. A run that is stopped ends within two seconds.
const ONE_REQUEST: Duration = Duration::from_secs(5);

/// Sends the signal of the key to this process and those that a terminal would send it to with it. Returns
/// when this process has acted on it: if the same signal came again before, the two would be one.
pub fn deliver(key: SignalKey) {
    let before = HANDLED.load(Ordering::Acquire);
    signals::send(key);
    let since = Instant::now();
    while HANDLED.load(Ordering::Acquire) == before && since.elapsed() < PATIENCE {
        thread::sleep(PATIENCE / 100);
    }
}

/// Listens for signals until the program ends. The first Ctrl-C, SIGTERM or SIGUSR1 calls `stop`; a second Ctrl-C
/// ends the program at once, and so does SIGTERM or SIGUSR1 some seconds later. SIGUSR2 pauses and continues, if there
/// is something to pause. SIGHUP and SIGXCPU call `stop` too, however often they come.
/// SIGQUIT (`Ctrl-\`) ends it at once too, as the system does, but with the terminal as it was.
///
/// # Errors
/// The system refuses the handler or the thread.
pub fn listen(
    stop: impl FnOnce() + Send + 'static,
    pause: Option<Steering>,
) -> Result<(), Failure> {
    let refused = |error: io::Error| {
        let why = match is_open_limit(&error) {
            true => FILE_LIMIT.to_owned(),
            false => error.to_string(),
        };
        Failure::new(Exit::Error, format!("cannot listen for signals: {why}"))
    };
    let asked = signals::listen(pause.is_some()).map_err(refused)?;
    let mut stop = Some(stop);
    let mut asked_at = Instant::now();
    let listen = move || {
        for asked in asked {
            match (asked, &pause) {
                (Asked::Pause, Some(pause)) => pause.toggle_pause(SIGNAL),
                (Asked::Pause, None) => {}
                (Asked::Quit, _) => {
                    terminal::restore();
                    signals::end_by_quit();
                }
                (asked, _) => match (stop.take(), asked) {
                    (Some(stop), _) => {
                        asked_at = Instant::now();
                        stop();
                    }
                    (None, Asked::HangUp) => {}
                    (None, Asked::Terminate) if asked_at.elapsed() < ONE_REQUEST => {}
                    (None, _) => end_at_once(Exit::Interrupted),
                },
            }
            HANDLED.fetch_add(1, Ordering::Release);
        }
    };
    threads::start("signals", listen).map_err(refused)?;
    Ok(())
}

/// Listens for signals until the program ends; what is returned is then set.
///
/// # Errors
/// As [`listen`].
pub fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let asked = Arc::new(AtomicBool::new(false));
    let ask = Arc::clone(&asked);
    listen(move || ask.store(true, Ordering::Relaxed), None)?;
    Ok(asked)
}

/// Ends the program without waiting for its other threads.
pub fn end_at_once(exit: Exit) -> ! {
    terminal::restore();
    signals::exit(exit.code())
}
