//! Runs in a directory: what `run --dir` and `resume` share, and what the commands that read one
//! do.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::engines;
use super::exit::{Exit, Failure};
use super::session::Session;
use super::usage::several;
use crate::actors::{Recorder, Report};
use crate::board::Size;
use crate::engine::Plan;
use crate::ledger::{LedgerError, Missing, Recording, RunInfo, Setting, Store};

/// A run directory that this process writes to.
pub struct Directory {
    dir: PathBuf,
    n: Size,
    /// The counting engine first.
    plans: Vec<Arc<dyn Plan>>,
    recording: Recording,
}

impl Directory {
    /// Begins a new run.
    ///
    /// # Errors
    /// The plans are too long, there is a run in the directory, or it cannot be written.
    pub fn create(
        dir: &Path,
        info: &RunInfo,
        plans: Vec<Arc<dyn Plan>>,
        session: &Session,
    ) -> Result<Self, Failure> {
        let recording = Recording::create(dir, info, &plans, &setting(session, &plans)?);
        Ok(Self {
            dir: dir.to_owned(),
            n: info.n,
            plans,
            recording: recording.map_err(|error| match error {
                LedgerError::Exists { .. } => Failure::usage(format!(
                    "{error}; go on with `{}`, or name another directory",
                    resume_command(dir)
                )),
                LedgerError::TooLong { .. } => Failure::usage(format!(
                    "{error}: leave out --dir and --shard to count without one"
                )),
                other => failure(&other),
            })?,
        })
    }

    /// Opens a run to go on with it.
    ///
    /// # Errors
    /// There is none, it is damaged, in use or not of this program's plans.
    pub fn resume(dir: &Path, session: &Session) -> Result<Self, Failure> {
        let recording = || {
            let info = Store::open_to_read(dir)?.info().clone();
            let plans = plans(&info);
            Ok((info.n, plans))
        };
        let (n, plans) = recording().map_err(|error| failure(&error))?;
        let recording = Recording::resume(dir, &plans, &setting(session, &plans)?);
        Ok(Self {
            dir: dir.to_owned(),
            n,
            plans,
            recording: recording.map_err(|error| failure(&error))?,
        })
    }

    /// The plans, the counting engine first.
    pub fn plans(&self) -> &[Arc<dyn Plan>] {
        &self.plans
    }

    /// Counts what is missing. Time and CPU time in the report are those of all processes that
    /// worked on the run.
    ///
    /// # Errors
    /// The run failed, was stopped, or is one shard of several: no result.
    pub fn count(self, session: &Session) -> Result<Report, Failure> {
        let before = self.recording.before();
        let shard = self.recording.shard();
        let recorder: Arc<dyn Recorder> = Arc::new(self.recording);
        let report = session.advance(self.n, self.plans, Some(recorder));
        let mut report = report.map_err(|failure| {
            let resume = resume_command(&self.dir);
            Failure {
                message: format!(
                    "{}; once that is mended, `{resume}` goes on",
                    failure.message
                ),
                ..failure
            }
        })?;
        report.elapsed += before.elapsed;
        report.cpu += before.counting;
        let sums = Store::open_to_read(&self.dir).and_then(|store| store.sums());
        let coverage = sums.map_err(|error| failure(&error))?.coverage;
        if report.finished {
            // Somebody may have removed or replaced the file meanwhile: what was counted is not kept.
            return if coverage.is_whole() {
                Ok(report)
            } else {
                Err(incomplete(
                    format_args!("{} was changed by another hand", self.dir.display()),
                    &coverage.missing(shard),
                ))
            };
        }
        Err(if coverage.is_whole_for(shard) {
            incomplete(
                format_args!("shard {shard} is complete; no total without the other tasks"),
                &coverage.missing(shard),
            )
        } else {
            Failure::new(
                Exit::Stopped,
                format!(
                    "{}; go on with `{}`",
                    session.stopped(self.n, &report),
                    resume_command(&self.dir)
                ),
            )
        })
    }
}

fn setting(session: &Session, plans: &[Arc<dyn Plan>]) -> Result<Setting, Failure> {
    Ok(Setting {
        isa: session.counter.isa.name().to_owned(),
        workers: session.workers as u64,
        devices: session.device_names(plans)?,
        config: session.config_text()?,
    })
}

/// The plans of a run, as this program makes them.
pub fn plans(info: &RunInfo) -> Vec<Arc<dyn Plan>> {
    let engines = info.plans.iter().map(|plan| plan.engine);
    engines
        .map(|engine| engines::plan(engine, info.n))
        .collect()
}

/// Opens the ledger of `dir` to read it, with the plans of its run.
///
/// # Errors
/// There is none, or it is damaged or of other plans.
pub fn open(dir: &Path) -> Result<(Store, Vec<Arc<dyn Plan>>), Failure> {
    let store = Store::open_to_read(dir).map_err(|error| failure(&error))?;
    let plans = plans(store.info());
    match store.info().check_plans(store.file(), &plans) {
        Ok(()) => Ok((store, plans)),
        Err(error) => Err(failure(&error)),
    }
}

/// How the program ends for an error of the ledger.
pub fn failure(error: &LedgerError) -> Failure {
    let exit = if error.is_mismatch() {
        Exit::Mismatch
    } else {
        Exit::Error
    };
    Failure::new(exit, error)
}

/// How the program ends where tasks are missing: a line for each range of them follows.
pub fn incomplete(what: impl Display, missing: &Missing) -> Failure {
    let first = format!("{what}: {} missing", several(missing.tasks(), "task"));
    let missing = missing.to_string();
    let ranges = missing.lines().map(str::to_owned);
    Failure::lines(Exit::Stopped, std::iter::once(first).chain(ranges))
}

/// The command that goes on with the run in `dir`, ready for a shell.
fn resume_command(dir: &Path) -> String {
    let dir = dir.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    if !dir.is_empty() && dir.chars().all(plain) && !dir.starts_with('-') {
        format!("queenfold resume {dir}")
    } else {
        format!("queenfold resume -- '{}'", dir.replace('\'', "'\\''"))
    }
}
