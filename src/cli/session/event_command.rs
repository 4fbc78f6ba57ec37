//! A command that is run when something happens that a person wants to know: `--on-event`.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam::channel::{self, Receiver, Sender};
use serde::Serialize;
use serde_json::Value as Json;

use crate::actors::{EventKind, Observer, RunEvent, RunState};
use crate::board::{GivenBoard, GivenSquares, Size};
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;
use crate::config::CommandLine;
use crate::ledger::host_name;
use crate::system::processes::{in_own_group, is_program, kill_group};
use crate::telemetry::{incident, printable};

/// The version of the JSON text that a command reads.
const NOTICE_FORMAT: u32 = 2;

/// A command that takes longer is killed.
const TIMEOUT: Duration = Duration::from_secs(30);

/// At the end of a run, the time for all notices that wait.
const LAST_TIMEOUT: Duration = Duration::from_secs(60);

/// Notices that wait while a command runs. Further ones are left out.
const MOST_WAITING: usize = 64;

/// The longest text of a notice, in bytes. The whole has to fit the buffer of a pipe, so that a command that
/// reads nothing does not hold it up.
const LONGEST_TEXT: usize = 4096;

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum What {
    Finished,
    Stopped,
    Failed,
    Mismatch,
    DeviceLost,
    Paused,
    Resumed,
    HostJoined,
    HostLeft,
    HostRefused,
}

/// What a command reads, as a line of JSON.
#[derive(Debug, Serialize)]
struct Notice {
    queenfold_notice: u32,
    event: What,
    n: Size,
    #[serde(skip_serializing_if = "Option::is_none")]
    given: Option<GivenSquares>,
    host: String,
    /// Bytes that are no UTF-8 are replaced: JSON cannot have them.
    directory: Option<String>,
    /// What happened, for people.
    text: String,
    /// The result, as `--json` prints it.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Json>,
}

/// Runs a command for each notice, one after the other. Dropping it waits for those that are left.
pub struct EventCommand {
    /// `None` is the end.
    notices: Sender<Option<Notice>>,
    /// When the last command is killed.
    deadline: Arc<OnceLock<Instant>>,
    thread: Option<JoinHandle<()>>,
}

/// The run that notices are about.
#[derive(Clone, Debug)]
pub struct NoticedRun {
    /// The board.
    pub board: GivenBoard,
    /// The run directory, if there is one.
    pub directory: Option<PathBuf>,
}

impl EventCommand {
    /// Runs `command` for what the observers and [`end`](Self::end) tell.
    ///
    /// # Errors
    /// There is no such program: it would be noticed at the end of the run only.
    pub fn new(command: &CommandLine) -> Result<Self, Failure> {
        if !is_program(&command.program) {
            let program = &command.program;
            let is_file = program.contains('/') && Path::new(program).is_file();
            return Err(Failure::usage(match is_file {
                true => {
                    format!("--on-event: `{program}` is not executable; `chmod +x` makes it so")
                }
                false => format!("--on-event: there is no program `{program}`"),
            }));
        }
        let command = command.clone();
        let (notices, waiting) = channel::bounded(MOST_WAITING);
        let deadline = Arc::new(OnceLock::new());
        let last = Arc::clone(&deadline);
        let thread = thread::Builder::new()
            .name("on-event".into())
            .spawn(move || run_all(&command, &waiting, &last))
            .map_err(|error| Failure::new(Exit::Error, error))?;
        Ok(Self {
            notices,
            deadline,
            thread: Some(thread),
        })
    }

    /// An observer that gives notice of what happens in a run before its end.
    pub fn observer(&self, run: NoticedRun) -> Arc<dyn Observer> {
        let notices = self.notices.clone();
        let is_paused = AtomicBool::new(false);
        Arc::new(Noticing {
            run,
            notices,
            is_paused,
        })
    }

    /// Gives notice of the end of a run: its result as JSON, or why there is none.
    pub fn end(&self, run: NoticedRun, end: Result<Option<Json>, &Failure>) {
        let (event, text, result) = match end {
            Ok(result) => {
                let total = result.as_ref().and_then(|result| result["total"].as_str());
                let board = run.board.in_words();
                let text = match total {
                    Some(total) => {
                        let of = match run.board.is_free() {
                            true => "solution",
                            false => "completion",
                        };
                        let plural = if total == "1" { "" } else { "s" };
                        format!("{board} has {total} {of}{plural}")
                    }
                    None => format!("all that was to be counted of {board} is counted"),
                };
                (What::Finished, text, result)
            }
            Err(failure) => {
                let event = match failure.exit {
                    Exit::Stopped => What::Stopped,
                    Exit::Mismatch => What::Mismatch,
                    _ => What::Failed,
                };
                (event, failure.message.clone(), None)
            }
        };
        // The run is over: nobody is held up.
        let _ = self.notices.send(Some(notice(run, event, &text, result)));
    }
}

impl Drop for EventCommand {
    fn drop(&mut self) {
        let _ = self.deadline.set(Instant::now() + LAST_TIMEOUT);
        let _ = self.notices.send(None);
        if let Some(thread) = self.thread.take() {
            // It does not panic, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

fn notice(run: NoticedRun, event: What, text: &str, result: Option<Json>) -> Notice {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    Notice {
        queenfold_notice: NOTICE_FORMAT,
        event,
        n: run.board.size(),
        given: GivenSquares::of(&run.board),
        host: host_name(),
        directory: run
            .directory
            .map(|directory| directory.display().to_string()),
        text: text[..end].to_owned(),
        result,
    }
}

struct Noticing {
    run: NoticedRun,
    notices: Sender<Option<Notice>>,
    is_paused: AtomicBool,
}

impl Observer for Noticing {
    fn event(&self, event: &RunEvent) {
        let what = match &event.kind {
            EventKind::DeviceLost { .. } | EventKind::DeviceGivenUp { .. } => What::DeviceLost,
            EventKind::TakenOut(_)
            | EventKind::HostSick { .. }
            | EventKind::Contradicted { .. } => What::Mismatch,
            EventKind::PausedFor { .. } => {
                self.is_paused.store(true, Ordering::Relaxed);
                What::Paused
            }
            EventKind::State(RunState::Running)
                if self.is_paused.swap(false, Ordering::Relaxed) =>
            {
                What::Resumed
            }
            EventKind::HostJoined { .. } => What::HostJoined,
            EventKind::HostLeft { .. } => What::HostLeft,
            EventKind::HostRefused { .. } => What::HostRefused,
            _ => return,
        };
        let text = match &event.kind {
            EventKind::Contradicted { reason } => reason.clone(),
            EventKind::State(_) => "resumed".to_owned(),
            _ => incident(event).unwrap_or_default(),
        };
        // A run does not wait for a command. If so many notices wait, one more says nothing new.
        let notice = notice(self.run.clone(), what, &text, None);
        let _ = self.notices.try_send(Some(notice));
    }
}

fn run_all(
    command: &CommandLine,
    notices: &Receiver<Option<Notice>>,
    deadline: &OnceLock<Instant>,
) {
    let mut failed = false;
    for notice in notices.iter().map_while(|notice| notice) {
        let until = Instant::now() + TIMEOUT;
        let is_late = || Instant::now() >= deadline.get().map_or(until, |last| until.min(*last));
        if let Err(why) = run_once(command, &notice, is_late)
            && !failed
        {
            failed = true;
            let program = &command.program;
            say(&printable(&format!(
                "the command of --on-event, {program}, failed ({why}); later failures are not told"
            )));
        }
    }
}

/// Runs the command, in a process group of its own: Ctrl-C is for the run.
fn run_once(
    command: &CommandLine,
    notice: &Notice,
    is_late: impl Fn() -> bool,
) -> Result<(), String> {
    let mut text = serde_json::to_vec(notice).map_err(|error| error.to_string())?;
    text.push(b'\n');
    let mut child = in_own_group(&mut Command::new(&command.program))
        .args(&command.arguments)
        .stdin(Stdio::piped())
        // Standard output has the results.
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // A command need not read it.
        let _ = stdin.write_all(&text);
    }
    let said = child.stderr.take().and_then(|stderr| {
        let read = move || last_line(stderr);
        thread::Builder::new().spawn(read).ok()
    });
    let status = wait(&mut child, is_late);
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => {
            let said = said.and_then(|said| said.join().ok()).unwrap_or_default();
            match said.as_str() {
                "" => Err(status.to_string()),
                said => Err(format!("{status}: {said}")),
            }
        }
        None => Err("it took too long, and was killed".to_owned()),
    }
}

/// How the child ended; `None` if it was killed because it did not.
fn wait(child: &mut Child, is_late: impl Fn() -> bool) -> Option<ExitStatus> {
    let mut pause = Duration::from_millis(1);
    while !is_late() {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) => thread::sleep(pause),
            Err(_) => break,
        }
        pause = (pause * 2).min(Duration::from_millis(50));
    }
    // Children of the command, too.
    kill_group(child);
    let _ = child.wait();
    None
}

/// The last line of a text that is not empty.
fn last_line(mut stream: impl Read) -> String {
    let mut last = Vec::new();
    let mut part = [0; 1024];
    while let Ok(length @ 1..) = stream.read(&mut part) {
        last.extend_from_slice(&part[..length]);
        let old = last.len().saturating_sub(LONGEST_TEXT);
        last.drain(..old);
    }
    let text = String::from_utf8_lossy(&last);
    let line = text.lines().rfind(|line| !line.trim().is_empty());
    line.unwrap_or_default().to_owned()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Value;

    fn call(command: &str, is_late: impl Fn() -> bool) -> Result<(), String> {
        let n = Size::new(8).map_err(|error| error.to_string())?;
        let run = NoticedRun {
            board: n.into(),
            directory: None,
        };
        let text = "é".repeat(LONGEST_TEXT);
        let notice = notice(run, What::Failed, &text, None);
        let command = CommandLine::read(command).ok_or("no command")?;
        run_once(&command, &notice, is_late)
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed_with_its_children() {
        let begun = Instant::now();
        let late = || begun.elapsed() > Duration::from_millis(50);
        let killed = call("sh -c sleep${IFS}60|cat", late);
        assert_eq!(killed, Err("it took too long, and was killed".to_owned()));
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_command_need_not_read_and_no_shell_reads_its_arguments() {
        assert_eq!(call("true ; exit 3 $(exit 4)", || false), Ok(()));
        let failed = call("false", || false);
        assert_eq!(failed, Err("exit status: 1".to_owned()));
    }
}
