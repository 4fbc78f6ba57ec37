//! A run whose directory is still to be made.

use std::path::PathBuf;

use super::recorded_job::RecordedJob;
use super::{RunDirectoryError, RunResult};
use crate::engine::Engine;
use crate::job::{Hardware, Job, plan};
use crate::ledger::{Recording, RunInfo, Shard};

/// A run that will keep its finished tasks in a new directory.
#[derive(Clone)]
pub struct NewRun {
    recorded: RecordedJob,
    shard: Shard,
}

impl NewRun {
    pub(super) fn new(directory: PathBuf, job: &Job) -> Self {
        Self {
            recorded: RecordedJob {
                directory,
                job: job.clone(),
                configuration: String::new(),
            },
            shard: Shard::WHOLE,
        }
    }

    /// Counts only this share of the tasks. [`merge`](crate::ledger::merge) can put the tasks of all shards
    /// together.
    #[must_use]
    pub const fn shard(mut self, shard: Shard) -> Self {
        self.shard = shard;
        self
    }

    /// Keeps `text` as the configuration of the run. Only people read it.
    #[must_use]
    pub fn configuration(mut self, text: String) -> Self {
        self.recorded.configuration = text;
        self
    }

    /// Finds the hardware and runs to the end.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. There is no partial result.
    pub fn run(&self) -> Result<RunResult, RunDirectoryError> {
        self.run_on(&Hardware::find(&self.recorded.job.settings.hardware)?)
    }

    /// Runs to the end on hardware that was found before.
    ///
    /// # Errors
    /// See [`RunDirectoryError`]. There is no partial result.
    pub fn run_on(&self, hardware: &Hardware) -> Result<RunResult, RunDirectoryError> {
        let RecordedJob {
            directory,
            job,
            configuration,
        } = &self.recorded;
        let (counting, plans) = job.plans(hardware)?;
        let again = |engine| plan(engine, job.board()).name() == counting.name();
        let can_resume = counting.engine() != Engine::Own && again(counting.engine());
        if !can_resume {
            return Err(RunDirectoryError::ForeignPlan(counting.name()));
        }
        let process = self.recorded.facts(hardware, &plans)?;
        let info = RunInfo::new(job.board(), &plans, self.shard, configuration.clone());
        let recording = Recording::create(directory, &info, &plans, &process)?;
        self.recorded.count(hardware, (counting, plans), recording)
    }
}
