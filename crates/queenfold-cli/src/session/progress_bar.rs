//! Shows the progress line and clears it, or says now and then how far a run is.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use console::Term;
use indicatif::ProgressDrawTarget;

use crate::control::terminal;
use crate::output::{bar, say};
use crate::telemetry::progress_line;
use queenfold::actors::Control;
use queenfold::board::Size;
use queenfold::system::threads::start;

/// A progress line on stderr during a run, if stderr is a terminal. Otherwise it is printed now and then, so that a log
/// shows that the run lives. Dropping it clears the line.
pub struct ProgressLine {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// A run that ends earlier shows nothing.
    const PATIENCE: Duration = Duration::from_millis(400);
    const REFRESH: Duration = Duration::from_millis(250);
    /// The width of a line that no terminal shows, in characters.
    const LOGGED: usize = 160;

    /// Shows the progress of the run under `control`: without a terminal `every` so often, if at all. If no thread can be
    /// started, nothing is shown.
    pub fn show(n: Size, control: Control, every: Option<Duration>) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let board = format!("n = {n}: ");
        let name = "progress";
        let thread = match (ProgressDrawTarget::stderr().is_hidden(), every) {
            (false, _) => start(name, move || draw(&board, &control, &stopped)).ok(),
            (true, Some(every)) => start(name, move || log(&board, &control, every, &stopped)).ok(),
            (true, None) => None,
        };
        Self {
            stop: Some(stop),
            thread,
        }
    }
}

/// Whether the run goes on for so long.
fn goes_on(stopped: &Receiver<()>, time: Duration) -> bool {
    stopped.recv_timeout(time) == Err(RecvTimeoutError::Timeout)
}

fn draw(board: &str, control: &Control, stopped: &Receiver<()>) {
    let mut wait = ProgressLine::PATIENCE;
    let mut line = None;
    while goes_on(stopped, wait) {
        wait = ProgressLine::REFRESH;
        // In the background of a shell, the line would stand over what is typed.
        if !terminal::is_ours(io::stderr()).unwrap_or(true) {
            continue;
        }
        let bar = line.get_or_insert_with(|| bar(None, "{wide_msg}"));
        // Looked up each time: the user may resize the terminal.
        let width = usize::from(Term::stderr().size().1);
        let left = width.saturating_sub(board.len());
        bar.set_message(board.to_owned() + &progress_line(&control.progress(), left));
    }
    if let Some(bar) = line {
        bar.finish_and_clear();
    }
}

fn log(board: &str, control: &Control, every: Duration, stopped: &Receiver<()>) {
    while goes_on(stopped, every) {
        let line = progress_line(&control.progress(), ProgressLine::LOGGED);
        say(&format!("{board}{line}"));
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // The thread only draws: its panic is no reason to fail.
            let _ = thread.join();
        }
    }
}
