//! A run that a directory keeps.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::run_again::{self, AgainResult};
use super::{RunDirectoryError, RunResult};
use crate::ledger::{LedgerError, Recording, RunInfo, Shard, Store};
use queenfold::actors::Report;
use queenfold::engine::{Engine, Plan};
use queenfold::job::{Hardware, Job, RunSettings, plan};

/// A run that a directory keeps: a new one, or one to be continued, whose board, engine and shard are those that it was begun
/// with.
#[derive(Clone)]
pub struct RunDirectory {
    pub(super) directory: PathBuf,
    pub(super) job: Job,
    /// The shard of a new run; `None` to continue one.
    begins: Option<Shard>,
    pub(super) configuration: String,
    /// Whether it counts by the other kernels of its engines.
    pub(super) other_way: bool,
}

impl RunDirectory {
    /// Keeps every finished task of `job` in this new directory, so that [`resume`](Self::resume) can
    /// continue the run after a stop or a crash.
    pub fn create(directory: impl Into<PathBuf>, job: &Job) -> Self {
        Self {
            directory: directory.into(),
            job: job.clone(),
            begins: Some(Shard::WHOLE),
            configuration: String::new(),
            other_way: false,
        }
    }

    /// Continues the run in `directory`. A finished run gives its result again.
    ///
    /// # Errors
    /// The directory holds no run, or one that this program cannot read.
    pub fn resume(directory: impl Into<PathBuf>) -> Result<Self, LedgerError> {
        let directory = directory.into();
        let (plan, unique) = counting_plan(&directory)?;
        Ok(Self {
            begins: None,
            ..Self::create(directory, &Job::of(plan).unique(unique))
        })
    }

    /// Counts only this share of the tasks of a new run. [`merge`](crate::ledger::merge) can put the tasks of all shards
    /// together.
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        self.begins = self.begins.map(|_| shard);
        self
    }

    /// How this process counts. Default: on all that the machine has, to the end.
    #[must_use]
    pub fn settings(mut self, settings: RunSettings) -> Self {
        self.job.settings = settings;
        self
    }

    /// Keeps `text` as the configuration of this process. Only people read it.
    #[must_use]
    pub fn configuration(mut self, text: String) -> Self {
        self.configuration = text;
        self
    }

    /// Counts by the kernels that second counts take, CPU workers and devices alike: what another directory counted the
    /// usual way is then counted in two ways.
    #[must_use]
    pub const fn other_way(mut self, other_way: bool) -> Self {
        self.other_way = other_way;
        self
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// What the run counts, with the settings of this process.
    pub const fn job(&self) -> &Job {
        &self.job
    }

    /// Finds the hardware and runs to the end.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. There is no partial result.
    pub fn run(&self) -> Result<RunResult, RunDirectoryError> {
        self.run_on(&Hardware::find(&self.job.settings.hardware)?)
    }

    /// Counts what is missing, on hardware that was found before.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. There is no partial result.
    pub fn run_on(&self, hardware: &Hardware) -> Result<RunResult, RunDirectoryError> {
        let (counting, plans) = self.job.plans(hardware)?;
        let process = self.facts(hardware, &plans)?;
        let recording = match self.begins {
            Some(shard) => {
                let board = self.job.board();
                let engine = counting.engine();
                if engine == Engine::Own || plan(engine, board).name() != counting.name() {
                    return Err(RunDirectoryError::ForeignPlan(counting.name()));
                }
                let info = RunInfo::new(board, &plans, shard, self.configuration.clone());
                Recording::create(&self.directory, &info, &plans, &process)?
            }
            None => match Recording::resume(&self.directory, &plans, &process) {
                // Nothing has to be written to tell the result of a finished run.
                Err(error) if error.is_unwritable() => {
                    let recorded = self.recorded_result(hardware, counting, &plans)?;
                    return recorded.ok_or_else(|| error.into());
                }
                opened => opened?,
            },
        };
        self.count(hardware, (counting, plans), recording)
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
        run_again::count(self, hardware)
    }

    /// The result by the records alone; `None` if tasks are missing.
    fn recorded_result(
        &self,
        hardware: &Hardware,
        plan: Arc<dyn Plan>,
        plans: &[Arc<dyn Plan>],
    ) -> Result<Option<RunResult>, RunDirectoryError> {
        let store = Store::open_to_read(self.directory())?;
        store.check_plans(plans)?;
        let sums = store.sums()?;
        if !sums.coverage.is_whole() {
            return Ok(None);
        }
        let tasks = plans.iter().map(|plan| plan.tasks()).sum();
        let report = Report {
            tasks_done: tasks,
            tasks_total: tasks,
            tasks_planned: tasks,
            ..Report::default()
        };
        RunResult::read((&store, sums), (plan, hardware), report).map(Some)
    }
}

/// The plan of the run in `directory` that counts all solutions, and whether the run has a census. The run
/// is to be continued, so what a killed writer left half done is undone, and who continues it checks the file.
fn counting_plan(directory: &Path) -> Result<(Arc<dyn Plan>, bool), LedgerError> {
    let store = match Store::open_to_glance(directory) {
        Err(LedgerError::Interrupted { .. }) => {
            Store::recover(directory)?;
            Store::open_to_glance(directory)?
        }
        opened => opened?,
    };
    let mut plans = store.plans()?;
    let census = plans.len() > 1;
    Ok((plans.swap_remove(0), census))
}
