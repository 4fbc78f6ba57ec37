//! Asks runs of other processes to pause, to go on or to stop, and waits until they do.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::live_run::{in_words, last_said, of_holder};
use crate::config;
use crate::exit::{Exit, Failure};
use crate::output::{print, say};
use crate::shell::{command_on, resume_command};
use crate::telemetry::Snapshot;
use queenfold::actors::{PauseReason, RunState, WorkerState};
use queenfold::words::{duration, several};
use queenfold_ledger::cluster::{ArrayDirectory, IndexList};
use queenfold_ledger::ledger::{
    Asked, Asker, Request, Store, holder_of, is_held, put_request, withdraw_request,
};

/// How often a run is looked at while it is waited for.
const LOOK: Duration = Duration::from_millis(100);

/// A request that had no effect is made again after this time. A process that has just begun throws away what it
/// finds, because that was asked of an earlier one.
const AGAIN: Duration = Duration::from_secs(3);

/// How long `resume` waits for a run, and the others unless a flag says so. It looks once a second, and gives up tasks
/// after another one.
pub const WAIT: Duration = Duration::from_secs(30);

/// Which run is asked, and how long it may take to obey.
#[derive(Debug, clap::Args)]
pub struct Asking {
    /// The directory of the run, or of a job array
    dir: PathBuf,

    /// Wait at most so long until the run has obeyed
    #[arg(long, value_name = "D", default_value = "30s", value_parser = config::duration(), allow_hyphen_values = true)]
    wait: Duration,
}

impl Asking {
    /// Asks it.
    ///
    /// # Errors
    /// Those of [`ask`].
    pub fn ask(&self, request: Request) -> Result<(), Failure> {
        ask(&self.dir, request, self.wait)
    }
}

/// Asks the run in `dir`, or all shards of the job array there that are counted at the moment, and prints what they
/// do then. A run that nobody counts is stopped already.
///
/// # Errors
/// There is no run, nobody counts it and it is to do something else than to stop, or it does not obey in time.
pub fn ask(dir: &Path, request: Request, patience: Duration) -> Result<(), Failure> {
    if ArrayDirectory::is_there(dir) {
        return ask_array(dir, request, patience);
    }
    // Whether it is a run directory at all.
    Store::open_to_read(dir)?;
    let name = dir.display();
    if !is_held(dir) {
        return nothing_to(
            request,
            format!("no process works on {name}, which is {}", end(dir)),
        );
    }
    let mut run = [Running::new(dir.to_owned())];
    wait_for(&mut run, request, patience);
    match &run[0].answer {
        Some(Answer::Obeyed(what)) => print(&format!("{name}: {what}")),
        Some(Answer::Ended(how)) if request == Request::Stop => print(&format!("{name}: {how}")),
        Some(Answer::Ended(how)) => Err(Failure::new(
            Exit::Error,
            format!("{name}: it ended before it could {}: {how}", request.name()),
        )),
        Some(Answer::Refused(why)) => Err(Failure::new(Exit::Error, format!("{name}: {why}"))),
        None => Err(Failure::new(
            Exit::Error,
            format!(
                "{name}: {} was asked to {}, and has not done so within {}; `{}` shows what it does",
                holder_of(dir),
                request.name(),
                duration(patience),
                command_on("status", dir)
            ),
        )),
    }
}

fn ask_array(dir: &Path, request: Request, patience: Duration) -> Result<(), Failure> {
    let array = ArrayDirectory::open(dir)?;
    let name = dir.display();
    let held: Vec<u64> = (0..array.array().shards())
        .filter(|index| is_held(&array.shard(*index)))
        .collect();
    if held.is_empty() {
        if request == Request::Resume {
            return Err(Failure::holds_array(dir));
        }
        return nothing_to(request, format!("no process works on a shard of {name}"));
    }
    let mut runs: Vec<_> = held
        .iter()
        .map(|index| Running::new(array.shard(*index)))
        .collect();
    wait_for(&mut runs, request, patience);
    let mut does: BTreeMap<&str, u64> = BTreeMap::new();
    let mut late = Vec::new();
    for (index, run) in held.iter().zip(&runs) {
        let what = match &run.answer {
            Some(Answer::Obeyed(what)) => what.as_str(),
            Some(Answer::Ended(_)) if request == Request::Stop => "stopped",
            Some(Answer::Ended(_)) => "ended",
            Some(Answer::Refused(_)) | None => {
                late.push(*index);
                continue;
            }
        };
        *does.entry(what).or_default() += 1;
    }
    let parts = does.into_iter();
    let parts: Vec<_> = parts
        .map(|(what, shards)| format!("{} {what}", several(shards, "shard")))
        .collect();
    if !parts.is_empty() {
        print(&format!("{name}: {}", parts.join(", ")))?;
    }
    match late.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(
            Exit::Error,
            format!(
                "{name}: asked to {}, and have not done so within {}: the shards {}",
                request.name(),
                duration(patience),
                IndexList::from_iter(late)
            ),
        )),
    }
}

/// Nobody counts. What is to stop has stopped; everything else is impossible.
fn nothing_to(request: Request, why: String) -> Result<(), Failure> {
    let line = format!("nothing to {}: {why}", request.name());
    match request {
        Request::Stop => {
            say(&line);
            Ok(())
        }
        Request::Pause | Request::Resume => Err(Failure::new(Exit::Error, line)),
    }
}

/// A run that a process counts.
struct Running {
    dir: PathBuf,
    /// When it was asked last.
    asked: Option<Instant>,
    answer: Option<Answer>,
}

/// What a run that was asked does.
#[derive(Debug)]
enum Answer {
    /// What it was asked for, in words.
    Obeyed(String),
    /// Nothing: its process has ended. In words, how.
    Ended(String),
    /// It cannot be asked.
    Refused(String),
}

impl Running {
    const fn new(dir: PathBuf) -> Self {
        Self {
            dir,
            asked: None,
            answer: None,
        }
    }

    /// Looks what the run does, and asks it if it does something else.
    fn look(&mut self, request: Request) {
        if !is_held(&self.dir) {
            self.answer = Some(Answer::Ended(end(&self.dir)));
            return;
        }
        // Until it has begun to count, it neither tells what it does nor takes requests.
        let Some(snapshot) = of_holder(&self.dir) else {
            return;
        };
        if request != Request::Stop && obeys(&snapshot, request) {
            self.answer = Some(Answer::Obeyed(in_words(&snapshot)));
            return;
        }
        if self.asked.is_none_or(|asked| asked.elapsed() >= AGAIN) {
            self.asked = Some(Instant::now());
            let by = Asker::Command;
            if let Err(error) = put_request(&self.dir, Asked { request, by }) {
                let why = format!("the run cannot be asked: {error}");
                self.answer = Some(Answer::Refused(why));
            }
        }
    }
}

/// Looks at the runs until each has an answer, or the time is over.
fn wait_for(runs: &mut [Running], request: Request, patience: Duration) {
    let since = Instant::now();
    loop {
        for run in runs.iter_mut().filter(|run| run.answer.is_none()) {
            run.look(request);
        }
        let all = runs.iter().all(|run| run.answer.is_some());
        if all || since.elapsed() >= patience {
            break;
        }
        thread::sleep(LOOK);
    }
    for run in runs {
        // Whoever resumes the run later shall not be stopped by it.
        withdraw_request(&run.dir);
    }
}

/// Whether a run does what was asked for: it stands still, or it is not kept from counting by a request.
fn obeys(snapshot: &Snapshot, request: Request) -> bool {
    let progress = &snapshot.progress;
    let is_asked =
        progress.state == RunState::Paused && progress.paused_for.contains(&PauseReason::Asked);
    let is_idle = || {
        progress.workers.iter().all(|worker| {
            !matches!(
                worker.state,
                WorkerState::Preparing | WorkerState::Counting(_) | WorkerState::Launching
            )
        })
    };
    match request {
        Request::Pause => is_asked && is_idle(),
        Request::Resume => !is_asked,
        Request::Stop => false,
    }
}

/// How the process ended that worked on the run last, in words.
fn end(dir: &Path) -> String {
    match last_said(dir).map(|snapshot| snapshot.progress.state) {
        Some(RunState::Finished) => "finished".to_owned(),
        // One that was killed could not say so.
        _ => format!("stopped; continue with `{}`", resume_command(dir)),
    }
}
