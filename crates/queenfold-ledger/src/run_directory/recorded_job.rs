//! A job whose finished tasks a directory keeps.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::RunDirectoryError;
use super::count_again::recounted;
use crate::ledger::{Confirmation, Facts, LedgerSums, Recording, RunInfo, Session, Shard, Store};
use queenfold::actors::Report;
use queenfold::engine::{CountedBy, Engine, Plan, RecountKernel, second_kernel};
use queenfold::job::{Hardware, Job, JobError, JobResult, plan};

/// What a finished run in a directory found.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Its result. The times are those of all processes that counted for the first time.
    pub result: JobResult,
    /// How often its tasks were counted.
    pub confirmation: Confirmation,
}

impl RunResult {
    /// The result of a whole run. Its ledger says how it was checked, and how long it took.
    pub(super) fn read(
        (store, sums): (&Store, &LedgerSums),
        (plan, hardware): (Arc<dyn Plan>, &Hardware),
        report: Report,
    ) -> Result<Self, RunDirectoryError> {
        store.check_decided(sums)?;
        let confirmation = Confirmation::read(store)?;
        let time = Session::time(&store.sessions()?, false);
        let mut result = JobResult::new(plan, hardware, report, (time.elapsed, time.cpu))?;
        result.checked = confirmation.checked(&result.outcome);
        Ok(Self {
            result,
            confirmation,
        })
    }
}

/// A job, and where its finished tasks are kept.
#[derive(Clone)]
pub(super) struct RecordedJob {
    pub(super) directory: PathBuf,
    pub(super) job: Job,
    pub(super) configuration: String,
    /// Whether it counts by the other kernels of its engines.
    pub(super) other_way: bool,
}

impl RecordedJob {
    /// What the ledger keeps of this process.
    pub(super) fn facts(
        &self,
        hardware: &Hardware,
        plans: &[Arc<dyn Plan>],
    ) -> Result<Facts, JobError> {
        let devices = hardware.devices_for(plans)?.iter();
        Ok(Facts {
            isa: hardware.counter.isa.name().to_owned(),
            workers: hardware.workers_of_run() as u64,
            devices: devices.map(|device| device.name.clone()).collect(),
            config: self.configuration.clone(),
            ..Facts::default()
        })
    }

    /// Counts what `recording` lacks of the plans of a run, of which `plan` counts all solutions.
    pub(super) fn count(
        &self,
        hardware: &Hardware,
        (plan, plans): (Arc<dyn Plan>, Vec<Arc<dyn Plan>>),
        recording: Recording,
    ) -> Result<RunResult, RunDirectoryError> {
        let before = recording.before();
        let shard = recording.shard();
        let division = recording.division().clone();
        let recording = Arc::new(recording);
        let source = Arc::clone(&recording);
        let how = &self.job.settings;
        let plans = match self.other_way {
            true => self.other_ways(&plans, hardware),
            false => plans,
        };
        let report = how.count_all(hardware, (&plan, plans), source, Some(recording))?;
        let store = Store::open_to_glance(&self.directory)?;
        let sums = store.sums()?;
        let coverage = &sums.coverage;
        let missing = || coverage.missing(&division);
        if report.is_whole() && coverage.is_whole() {
            return RunResult::read((&store, &sums), (plan, hardware), report);
        }
        Err(if report.is_whole() {
            // Somebody removed or replaced the file meanwhile: what was counted is not kept.
            RunDirectoryError::DirectoryChanged {
                directory: self.directory.clone(),
                missing: missing(),
                report: Box::new(report),
            }
        } else if coverage.is_whole_for(shard, &division) {
            RunDirectoryError::OneShard {
                shard,
                missing: missing(),
                report: Box::new(report),
            }
        } else {
            how.stopped(self.job.board(), report, before).into()
        })
    }

    /// Plans whose tasks are counted as the second time, after such hardware as this.
    fn other_ways(&self, plans: &[Arc<dyn Plan>], hardware: &Hardware) -> Vec<Arc<dyn Plan>> {
        let settings = &hardware.counter;
        let kernel = |plan: &Arc<dyn Plan>| {
            let first = CountedBy::Cpu(plan.counter(settings).backend().into());
            let kernel = match self.job.settings.hardware.isa {
                Some(isa) => RecountKernel::other_way(isa, &first),
                None => second_kernel(plan.as_ref(), settings, &first),
            };
            (plan.engine(), kernel)
        };
        let kernels: BTreeMap<_, _> = plans.iter().map(kernel).collect();
        recounted(plans, move |plan, _| kernels[&plan.engine()], true)
    }
}

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
                other_way: false,
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

    /// Counts by the kernels that second counts take, CPU workers and devices alike: what another directory counted the
    /// usual way is then counted in two ways.
    #[must_use]
    pub const fn other_way(mut self, other_way: bool) -> Self {
        self.recorded.other_way = other_way;
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
            ..
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
