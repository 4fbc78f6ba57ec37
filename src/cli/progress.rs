//! Shows the progress line and clears it.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::actors::Control;
use crate::board::Size;
use crate::telemetry::progress_line;

/// A progress line on stderr during a run, if stderr is a terminal. Dropping it clears the line.
pub struct ProgressLine {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// A run that ends earlier shows nothing.
    const PATIENCE: Duration = Duration::from_millis(400);
    const REFRESH: Duration = Duration::from_millis(250);

    /// Shows the progress of the run under `control`. If no thread can be started, nothing is shown.
    pub fn show(n: Size, control: Control) -> Self {
        let (stop, stopped) = mpsc::channel::<()>();
        let target = ProgressDrawTarget::stderr();
        if target.is_hidden() {
            return Self {
                stop: None,
                thread: None,
            };
        }
        let draw = move || {
            let mut wait = Self::PATIENCE;
            let mut line = None;
            let mut target = Some(target);
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let bar = line.get_or_insert_with(|| {
                    let target = target.take().unwrap_or_else(ProgressDrawTarget::hidden);
                    ProgressBar::with_draw_target(None, target).with_style(
                        ProgressStyle::with_template("{wide_msg}")
                            .unwrap_or_else(|_| ProgressStyle::default_spinner()),
                    )
                });
                // Looked up each time: the user may resize the terminal.
                let width = usize::from(Term::stderr().size().1);
                let board = format!("n = {n}: ");
                let left = width.saturating_sub(board.len());
                bar.set_message(board + &progress_line(&control.progress(), left));
                wait = Self::REFRESH;
            }
            if let Some(bar) = line {
                bar.finish_and_clear();
            }
        };
        let thread = thread::Builder::new().name("progress".into()).spawn(draw);
        Self {
            stop: Some(stop),
            thread: thread.ok(),
        }
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
