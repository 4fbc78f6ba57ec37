//! Where Ctrl-C and other signals arrive, for every command that acts on them.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use super::exit::{Exit, Failure};
use super::pause::Pause;
use super::terminal;
use crate::ledger::{FILE_LIMIT, is_file_limit};

/// How many signals were acted on.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

/// The longest wait for a signal to be acted on.
const PATIENCE: Duration = Duration::from_millis(500);

/// Sends a signal to this process and those that a terminal would send it to with it. Returns when this
/// process has acted on it: if the same signal came again before, the two would be one.
pub fn deliver(signal: Signal) {
    let before = HANDLED.load(Ordering::Acquire);
    // An error would mean that there is no such group, but this process is in it.
    let _ = kill_current_process_group(signal);
    let since = Instant::now();
    while HANDLED.load(Ordering::Acquire) == before && since.elapsed() < PATIENCE {
        thread::sleep(PATIENCE / 100);
    }
}

/// Makes a write beyond the limit of a file's size an error of that write. By default the system ends the
/// process with SIGXFSZ.
pub fn survive_file_limit() {
    // Nobody reads the flag: a handler is all that is needed. Without one the default stays.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Listens for signals until the program ends. The first Ctrl-C, SIGTERM or SIGUSR1 calls `stop`; the
/// second ends the program at once. SIGUSR2 pauses and continues, if there is something to pause.
/// SIGHUP calls `stop` too, however often it comes: a terminal that closes sends it more than once.
/// SIGQUIT (`Ctrl-\`) ends it at once too, as the system does, but with the terminal as it was.
///
/// # Errors
/// The system refuses the handler or the thread.
pub fn listen(stop: impl FnOnce() + Send + 'static, pause: Option<Pause>) -> Result<(), Failure> {
    let refused = |error: io::Error| {
        let why = match is_file_limit(&error) {
            true => FILE_LIMIT.to_owned(),
            false => error.to_string(),
        };
        Failure::new(Exit::Error, format!("cannot listen for signals: {why}"))
    };
    let wanted = [SIGINT, SIGTERM, SIGUSR1, SIGQUIT]
        .into_iter()
        .chain((!is_ignored(SIGHUP)).then_some(SIGHUP))
        .chain(pause.as_ref().map(|_| SIGUSR2));
    let mut signals = Signals::new(wanted).map_err(refused)?;
    let mut stop = Some(stop);
    let listen = move || {
        for signal in &mut signals {
            match &pause {
                Some(pause) if signal == SIGUSR2 => pause.toggle(),
                _ if signal == SIGHUP => {
                    if let Some(stop) = stop.take() {
                        stop();
                    }
                }
                _ if signal == SIGQUIT => {
                    terminal::restore();
                    // It does not return, because SIGQUIT ends a process.
                    let _ = low_level::emulate_default_handler(signal);
                }
                _ => match stop.take() {
                    Some(stop) => stop(),
                    None => end_at_once(Exit::Interrupted),
                },
            }
            HANDLED.fetch_add(1, Ordering::Release);
        }
    };
    thread::Builder::new()
        .name("signals".into())
        .spawn(listen)
        .map_err(refused)?;
    Ok(())
}

/// Whether the process was started with `signal` ignored, as `nohup` does with SIGHUP. If the system does
/// not say so, it was not.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Ends the program without waiting for its other threads.
pub fn end_at_once(exit: Exit) -> ! {
    terminal::restore();
    low_level::exit(exit.code().into())
}
