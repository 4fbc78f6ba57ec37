//! Signals.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Signal, kill_current_process_group};
use signal_hook::consts::{
    SIGABRT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
};
use signal_hook::iterator::Signals;
use signal_hook::low_level;

use crate::system::{Asked, SignalKey};

/// What signals ask of this process, from now on and for ever. Each comes once for a signal: Ctrl-C, SIGTERM,
/// SIGUSR1 and SIGXCPU (the limit of processor time of a batch system or of `ulimit -t`) stop, and SIGUSR2 pauses if `pause` says that it can.
///
/// # Errors
/// The system refuses the handlers.
pub fn listen(pause: bool) -> io::Result<impl Iterator<Item = Asked> + Send> {
    let wanted = [SIGINT, SIGTERM, SIGUSR1, SIGXCPU, SIGQUIT]
        .into_iter()
        .chain((!is_ignored(SIGHUP)).then_some(SIGHUP))
        .chain(pause.then_some(SIGUSR2));
    let mut signals = Signals::new(wanted)?;
    let signals = std::iter::from_fn(move || signals.forever().next());
    Ok(signals.map(|signal| match signal {
        SIGUSR2 => Asked::Pause,
        SIGTERM | SIGUSR1 => Asked::Terminate,
        SIGHUP | SIGXCPU => Asked::HangUp,
        SIGQUIT => Asked::Quit,
        _ => Asked::Stop,
    }))
}

/// Sends the signal of the key to this process and those that a terminal would send it to with it.
pub fn send(key: SignalKey) {
    let signal = match key {
        SignalKey::Interrupt => Signal::INT,
        SignalKey::Quit => Signal::QUIT,
        SignalKey::Suspend => Signal::TSTP,
    };
    // An error would mean that there is no such group, but this process is in it.
    let _ = kill_current_process_group(signal);
}

/// Ends the process as the system ends it by `Ctrl-\`.
pub fn end_by_quit() {
    // It does not return, because SIGQUIT ends a process.
    let _ = low_level::emulate_default_handler(SIGQUIT);
}

/// Ends the process without waiting for its other threads.
pub fn exit(code: u8) -> ! {
    low_level::exit(code.into())
}

/// Makes a write beyond the limit of a file's size an error of that write. By default the system ends the
/// process with SIGXFSZ.
pub fn survive_file_limit() {
    // Nobody reads the flag: a handler is all that is needed. Without one the default stays.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Lets an abort end the process with `code` and no core dump. The standard library aborts when there is no memory,
/// and has said so in a line.
pub fn abort_with(code: u8) {
    let always = Arc::new(AtomicBool::new(true));
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, code.into(), always);
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
