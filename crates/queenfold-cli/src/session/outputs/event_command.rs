//! A command of a shell that is run when something happens that a person wants to know: `--on-event`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::exit::{Exit, Failure};
use crate::output::say;
use crate::telemetry::incident;
use queenfold::actors::{EventKind, Observer, RunEvent, RunState};
use queenfold::board::{GivenBoard, GivenSquares};
use queenfold::system::threads;
use queenfold_ledger::ledger::host_name;
use queenfold_ledger::system::processes::{in_own_group, kill_group, shell};

/// A command that takes longer is killed.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the command for each notice, one after the other. Dropping it waits for those that are left.
pub struct EventCommand {
    /// `None` is the end.
    notices: Sender<Option<Json>>,
    /// Closed after the last command.
    ended: Receiver<()>,
}

/// The run that notices are about.
#[derive(Clone, Debug)]
pub struct NoticedRun {
    /// The board.
    pub board: GivenBoard,
    /// The run directory, if there is one.
    pub directory: Option<PathBuf>,
}

impl NoticedRun {
    /// What the command reads; version 3. Bytes of the directory that are no UTF-8 are replaced.
    fn notice(&self, event: &str, text: &str, result: Option<Json>) -> Json {
        let directory = self.directory.as_ref();
        json!({
            "queenfold_notice": 3,
            "event": event,
            "n": self.board.size(),
            "given": GivenSquares::of(&self.board),
            "host": host_name(),
            "directory": directory.map(|directory| directory.display().to_string()),
            // A pipe takes 64 KiB before anybody reads.
            "text": text.chars().take(4096).collect::<String>(),
            "result": result,
        })
    }
}

impl EventCommand {
    /// Runs `command` for what the observers and [`end`](Self::end) tell.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn new(command: &str) -> Result<Self, Failure> {
        let command = command.to_owned();
        let (notices, waiting) = mpsc::channel::<Option<Json>>();
        let (end, ended) = mpsc::channel::<()>();
        let work = move || {
            let _end = end;
            let mut failed = false;
            for notice in waiting.iter().map_while(|notice| notice) {
                if let Err(why) = tell(&command, &notice, TIMEOUT)
                    && !std::mem::replace(&mut failed, true)
                {
                    say(&format!(
                        "the command of --on-event failed ({why}); later failures are not told"
                    ));
                }
            }
        };
        threads::start("on-event", work).map_err(|error| Failure::new(Exit::Error, error))?;
        Ok(Self { notices, ended })
    }

    /// An observer that gives notice of what happens in a run before its end.
    pub fn observer(&self, run: NoticedRun) -> Arc<dyn Observer> {
        let (notices, paused) = (self.notices.clone(), AtomicBool::new(false));
        Arc::new(move |event: &RunEvent| {
            let mut text = incident(event).unwrap_or_default();
            let what = match &event.kind {
                EventKind::DeviceGivenUp { .. } => "device_lost",
                EventKind::Faulty(_) => "mismatch",
                EventKind::Contradicted { reason } => {
                    text.clone_from(reason);
                    "mismatch"
                }
                EventKind::PausedFor { .. } => {
                    paused.store(true, Ordering::Relaxed);
                    "paused"
                }
                EventKind::State(RunState::Running) if paused.swap(false, Ordering::Relaxed) => {
                    "resumed".clone_into(&mut text);
                    "resumed"
                }
                _ => return,
            };
            let _ = notices.send(Some(run.notice(what, &text, None)));
        })
    }

    /// Gives notice of the end of a run: its result as JSON, or why there is none.
    pub fn end(&self, run: &NoticedRun, end: Result<Option<Json>, &Failure>) {
        let board = run.board.in_words();
        let notice = match end {
            Ok(None) => {
                let text = format!("all that was to be counted of {board} is counted");
                run.notice("finished", &text, None)
            }
            Ok(Some(result)) => {
                let total = result["total"].as_str().unwrap_or_default();
                let of = if run.board.is_free() {
                    "solution"
                } else {
                    "completion"
                };
                let plural = if total == "1" { "" } else { "s" };
                let text = format!("{board} has {total} {of}{plural}");
                run.notice("finished", &text, Some(result))
            }
            Err(Failure { exit, message }) => {
                let what = match exit {
                    Exit::Stopped => "stopped",
                    Exit::Mismatch => "mismatch",
                    _ => "failed",
                };
                run.notice(what, message, None)
            }
        };
        let _ = self.notices.send(Some(notice));
    }
}

impl Drop for EventCommand {
    fn drop(&mut self) {
        let _ = self.notices.send(None);
        // One may hang before the last one.
        let _ = self.ended.recv_timeout(2 * TIMEOUT);
    }
}

/// Runs the command to its end. It has a process group of its own: Ctrl-C is for the run.
///
/// # Errors
/// How it failed, in words.
fn tell(command: &str, notice: &Json, timeout: Duration) -> Result<(), String> {
    let until = Instant::now() + timeout;
    let words = |error: io::Error| error.to_string();
    // Standard output has the results.
    let (input, output) = (Stdio::piped(), Stdio::null());
    let mut command = shell(command);
    let command = in_own_group(&mut command).stdin(input).stdout(output);
    let mut child = command.spawn().map_err(words)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read it.
        let _ = writeln!(stdin, "{notice}");
    }
    while Instant::now() < until {
        if let Some(status) = child.try_wait().map_err(words)? {
            return status
                .success()
                .then_some(())
                .ok_or_else(|| status.to_string());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_group(&mut child);
    child.wait().map_err(words)?;
    Err("it took too long, and was killed".to_owned())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn call(command: &str, timeout: Duration) -> String {
        tell(command, &Json::Null, timeout).unwrap_err()
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed_with_its_children() {
        let begun = Instant::now();
        let why = call("sleep 60 | cat", Duration::from_millis(50));
        assert!(why.contains("killed"), "{why}");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_command_need_not_read_and_may_leave_a_child_behind() {
        let begun = Instant::now();
        let why = call("sleep 50 >/dev/null 2>&1 & exit 3", TIMEOUT);
        assert_eq!(why, "exit status: 3");
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}
