//! Shows the progress line and clears it, or says now and then how far a run is.

use std::io;
use std::time::Duration;

use console::Term;
use indicatif::ProgressDrawTarget;

use crate::control::terminal;
use crate::output::{bar, say};
use crate::telemetry::progress_line;
use queenfold::actors::Control;
use queenfold::board::Size;
use queenfold::system::threads::{Background, Stop};

/// A progress line on stderr during a run, if stderr is a terminal. Otherwise it is printed now and then, so that a log
/// shows that the run lives. Dropping it clears the line.
pub struct ProgressLine(#[expect(dead_code, reason = "it ends with this")] Option<Background>);

impl ProgressLine {
    /// A run that ends earlier shows nothing.
    const PATIENCE: Duration = Duration::from_millis(400);
    const REFRESH: Duration = Duration::from_millis(250);
    /// The width of a line that no terminal shows, in characters.
    const LOGGED: usize = 160;

    /// Shows the progress of the run under `control`: without a terminal `every` so often, if at all. If no thread can be
    /// started, nothing is shown.
    pub fn show(n: Size, control: Control, every: Option<Duration>) -> Self {
        let board = format!("n = {n}: ");
        let name = "progress";
        let shown = match (ProgressDrawTarget::stderr().is_hidden(), every) {
            (false, _) => Background::start(name, move |stop| draw(&board, &control, stop)).ok(),
            (true, Some(every)) => {
                Background::start(name, move |stop| log(&board, &control, every, stop)).ok()
            }
            (true, None) => None,
        };
        Self(shown)
    }
}

fn draw(board: &str, control: &Control, stop: &Stop) {
    let mut wait = ProgressLine::PATIENCE;
    let mut line = None;
    while !stop.comes_within(wait) {
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

fn log(board: &str, control: &Control, every: Duration, stop: &Stop) {
    while !stop.comes_within(every) {
        let line = progress_line(&control.progress(), ProgressLine::LOGGED);
        say(&format!("{board}{line}"));
    }
}
