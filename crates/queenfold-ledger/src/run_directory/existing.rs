//! A run that a directory keeps.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::again::{self, AgainResult};
use super::opening::counting_plan;
use super::recorded_job::RecordedJob;
use super::{NewRun, RunDirectoryError, RunResult};
use crate::ledger::{LedgerError, Recording, Store};
use queenfold::actors::Report;
use queenfold::engine::Plan;
use queenfold::job::{Hardware, Job, RunSettings};

/// A run that a directory keeps, to be continued: its board, engine and shard are those that it was begun with.
#[derive(Clone)]
pub struct RunDirectory(RecordedJob);

impl RunDirectory {
    /// Keeps every finished task of `job` in this new directory, so that [`resume`](Self::resume) can
    /// continue the run after a stop or a crash.
    pub fn create(directory: impl Into<PathBuf>, job: &Job) -> NewRun {
        NewRun::new(directory.into(), job)
    }

    /// Continues the run in `directory`. A finished run gives its result again.
    ///
    /// # Errors
    /// The directory holds no run, or one that this program cannot read.
    pub fn resume(directory: impl Into<PathBuf>) -> Result<Self, LedgerError> {
        let directory = directory.into();
        let (plan, unique) = counting_plan(&directory)?;
        Ok(Self(RecordedJob {
            directory,
            job: Job::of(plan).unique(unique),
            configuration: String::new(),
            other_way: false,
        }))
    }

    /// How this process counts. Default: on all that the machine has, to the end.
    #[must_use]
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.0.job.settings = settings;
        self
    }

    /// Keeps `text` as the configuration of this process. Only people read it.
    #[must_use]
    pub fn configuration(mut self, text: String) -> Self {
        self.0.configuration = text;
        self
    }

    /// As [`NewRun::other_way`].
    #[must_use]
    pub const fn other_way(mut self, other_way: bool) -> Self {
        self.0.other_way = other_way;
        self
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// What the run counts, with the settings of this process.
    pub const fn job(&self) -> &Job {
        &self.0.job
    }

    /// Finds the hardware and runs to the end.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. There is no partial result.
    pub fn run(&self) -> Result<RunResult, RunDirectoryError> {
        self.run_on(&Hardware::find(&self.0.job.settings.hardware)?)
    }

    /// Counts what is missing, on hardware that was found before.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. There is no partial result.
    pub fn run_on(&self, hardware: &Hardware) -> Result<RunResult, RunDirectoryError> {
        let (plan, plans) = self.0.job.plans(hardware)?;
        let process = self.0.facts(hardware, &plans)?;
        let recording = match Recording::resume(self.directory(), &plans, &process) {
            // Nothing has to be written to tell the result of a finished run.
            Err(error) if error.is_unwritable() => {
                let recorded = self.recorded_result(hardware, plan, &plans)?;
                return recorded.ok_or_else(|| error.into());
            }
            opened => opened?,
        };
        self.0.count(hardware, (plan, plans), recording)
    }

    /// Counts the recorded tasks of the run a second time, those without a second count. A task that a device
    /// of this host counted first is counted by another device or by a CPU worker, if there is one; the only device
    /// counts it again if its engine has another kernel for it. On the CPU, each task is counted by another kernel than
    /// the first time if that takes at most four times as long as the widest; the instruction set of the
    /// [settings](Self::settings), if they name one, counts all of them.
    ///
    /// Where the counts differ, a further one decides, and the log of corrections keeps all of them.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. If it was stopped, what was counted is kept, and another call goes on.
    pub fn count_again_on(&self, hardware: &Hardware) -> Result<AgainResult, RunDirectoryError> {
        again::count(&self.0, hardware)
    }

    /// The result by the records alone; `None` if tasks are missing.
    fn recorded_result(
        &self,
        hardware: &Hardware,
        plan: Arc<dyn Plan>,
        plans: &[Arc<dyn Plan>],
    ) -> Result<Option<RunResult>, RunDirectoryError> {
        let store = Store::open_to_read(self.directory())?;
        store.info().check_plans(store.file(), plans)?;
        let sums = store.sums()?;
        if !sums.coverage.is_whole() {
            return Ok(None);
        }
        let tasks = plans.iter().map(|plan| plan.tasks()).sum();
        let report = Report {
            tallies: sums.tallies.clone(),
            tasks_done: tasks,
            tasks_total: tasks,
            tasks_planned: tasks,
            ..Report::default()
        };
        RunResult::read((&store, &sums), (plan, hardware), report).map(Some)
    }
}
