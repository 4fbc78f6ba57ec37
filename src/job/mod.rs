//! A job: "count this board with what there is".
//!
//! This is what a program that uses the library starts with. A job chooses the engine, finds the
//! devices, runs the actors, keeps finished tasks in a directory if asked, and checks the result.
//!
//! ```
//! use queenfold::board::Size;
//! use queenfold::job::Job;
//!
//! let result = Job::new(Size::new(10)?).run()?;
//! assert_eq!(result.outcome.total, 724);
//! assert_eq!(result.outcome.unique(), Some(92));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Job`]: what to count and how, step by step.
//! * [`Hardware`]: workers, instruction set and devices; found once, used by any number of jobs.
//! * [`Hardware::choose_engine`]: the choice of `auto` (`engine_choice`).
//! * [`JobResult`], [`JobError`]: what comes of a job.
//! * `directory`: runs that keep their finished tasks (feature `ledger`).

mod devices;
#[cfg(feature = "ledger")]
mod directory;
mod engine_choice;
mod error;
mod hardware;
mod plans;
mod result;

#[cfg(feature = "ledger")]
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use devices::{DeviceChoice, DeviceSettings, Devices};
#[cfg(feature = "ledger")]
pub use directory::{open, plans_of};
pub use engine_choice::{EngineChoice, fastest_on_cpu};
pub use error::{JobError, StopCause};
pub use hardware::{Hardware, HardwareSettings};
pub use plans::{device_plan, plan};
pub use result::{CensusResult, JobResult};

use crate::actors::{self, Control, Observer, Recorder, Report, RunSpec, Source, WholePlans};
use crate::board::Size;
use crate::engine::{Engine, Plan, Tally};
#[cfg(feature = "ledger")]
use crate::ledger::Shard;
use crate::outcome::{Outcome, check_census};
use crate::simd::Isa;
use crate::telemetry;

/// What to count, how, and on what. Every setting has a default: all solutions and those that differ
/// by more than a symmetry, by the fastest engine, on all cores and GPUs.
#[derive(Clone)]
pub struct Job {
    n: Size,
    engine: Option<Engine>,
    /// Instead of the plan of an engine of this library.
    plan: Option<Arc<dyn Plan>>,
    unique: bool,
    hardware: HardwareSettings,
    tuning: Tuning,
    time_limit: Option<Duration>,
    control: Control,
    observers: Vec<Arc<dyn Observer>>,
    #[cfg(feature = "ledger")]
    directory: Option<directory::Request>,
}

/// How the runtime treats tasks. The defaults suit every board.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// How many batches may wait in the queue for each worker, at least 1.
    pub queue_per_worker: usize,
    /// How long a batch should keep a worker busy.
    pub batch_time: Duration,
    /// The share of the tasks, 0 to 1, that another kernel counts a second time.
    pub audit: f64,
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            queue_per_worker: 2,
            batch_time: Duration::from_millis(50),
            audit: 1e-3,
        }
    }
}

impl Job {
    /// Counts the board of size `n`.
    pub fn new(n: Size) -> Self {
        Self {
            n,
            engine: None,
            plan: None,
            unique: true,
            hardware: HardwareSettings::default(),
            tuning: Tuning::default(),
            time_limit: None,
            control: Control::new(),
            observers: Vec::new(),
            #[cfg(feature = "ledger")]
            directory: None,
        }
    }

    /// Counts the tasks of `plan`: an engine of your own. Its tallies must add up to all solutions of
    /// its board.
    pub fn of(plan: Arc<dyn Plan>) -> Self {
        Self {
            plan: Some(Arc::clone(&plan)),
            ..Self::new(plan.size())
        }
    }

    /// Continues the run in `directory`: its board, engine and shard, with the hardware and the
    /// settings of this job. A finished run gives its result again.
    ///
    /// # Errors
    /// The directory holds no run, or one that this program cannot read.
    #[cfg(feature = "ledger")]
    pub fn resume(directory: impl Into<PathBuf>) -> Result<Self, JobError> {
        let path = directory.into();
        let (plan, unique) = directory::counting_plan(&path)?;
        Ok(Self {
            unique,
            directory: Some(directory::Request::resume(path)),
            ..Self::of(plan)
        })
    }

    /// Uses this engine. Default: the fastest for the board and the hardware.
    #[must_use]
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Uses this instruction set. Default: the widest that the processor has.
    #[must_use]
    pub fn isa(mut self, isa: Isa) -> Self {
        self.hardware.isa = Some(isa);
        self
    }

    /// Uses this number of CPU workers; 0 leaves all work to devices. Default: one for each core that
    /// the process may use.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.hardware.workers = Some(workers);
        self
    }

    /// Lets each CPU worker plan with this much memory, in bytes. Default: see
    /// [`Machine::memory_per_worker`](crate::machine::Machine::memory_per_worker).
    #[must_use]
    pub fn memory_per_worker(mut self, bytes: u64) -> Self {
        self.hardware.memory_per_worker = Some(bytes);
        self
    }

    /// Uses these devices. Default: every GPU of the machine, where that pays.
    #[must_use]
    pub fn devices(mut self, choice: DeviceChoice) -> Self {
        self.hardware.devices = choice;
        self
    }

    /// Whether to count the solutions up to symmetry too, which takes a census of the symmetric
    /// solutions. Default: yes.
    #[must_use]
    pub fn unique(mut self, unique: bool) -> Self {
        self.unique = unique;
        self
    }

    /// Stops after this long. Default: never.
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// How tasks are batched and audited.
    #[must_use]
    pub fn tuning(mut self, tuning: Tuning) -> Self {
        self.tuning = tuning;
        self
    }

    /// Runs under this handle: through a clone of it, another thread can see the progress, pause and
    /// stop the job.
    #[must_use]
    pub fn control(mut self, control: &Control) -> Self {
        self.control = control.clone();
        self
    }

    /// Tells `observer` what happens in the job: see [`RunEvent`](crate::actors::RunEvent). More than
    /// one may be given.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observers.push(observer);
        self
    }

    /// Keeps every finished task in this new directory, so that [`resume`](Self::resume) can continue
    /// the run after a stop or a crash.
    #[cfg(feature = "ledger")]
    #[must_use]
    pub fn directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory::Request::create(directory.into()));
        self
    }

    /// Counts only this share of the tasks. It needs a [`directory`](Self::directory), which must be
    /// set before: the tasks of all shards can be [merged](crate::ledger::merge) there.
    #[cfg(feature = "ledger")]
    #[must_use]
    pub fn shard(mut self, shard: Shard) -> Self {
        if let Some(directory) = &mut self.directory {
            directory.shard = shard;
        }
        self
    }

    /// Keeps `text` in the directory as the configuration of the run. It is for people alone.
    #[cfg(feature = "ledger")]
    #[must_use]
    pub fn configuration(mut self, text: String) -> Self {
        if let Some(directory) = &mut self.directory {
            directory.configuration = text;
        }
        self
    }

    /// The board.
    pub const fn size(&self) -> Size {
        self.n
    }

    /// Finds the hardware and runs to the end.
    ///
    /// # Errors
    /// See [`JobError`]. There is no partial result.
    pub fn run(&self) -> Result<JobResult, JobError> {
        self.run_on(&Hardware::find(&self.hardware)?)
    }

    /// Runs to the end on hardware that was found before. The job's own settings of hardware have no
    /// effect.
    ///
    /// # Errors
    /// See [`JobError`]. There is no partial result.
    pub fn run_on(&self, hardware: &Hardware) -> Result<JobResult, JobError> {
        let plan = match (&self.plan, self.engine) {
            (Some(plan), _) => Arc::clone(plan),
            (None, Some(engine)) => plan(engine, self.n),
            (None, None) => plan(hardware.choose_engine(self.n)?.engine, self.n),
        };
        let census = self.unique.then(|| self::plan(Engine::Census, self.n));
        let plans: Vec<_> = [Some(Arc::clone(&plan)), census]
            .into_iter()
            .flatten()
            .collect();
        #[cfg(feature = "ledger")]
        if let Some(directory) = &self.directory {
            return directory::run(self, directory, hardware, plans);
        }
        let report = self.count(hardware, plans, Arc::new(WholePlans), None)?;
        let time = (report.elapsed, report.cpu);
        if report.finished {
            JobResult::new(plan, hardware, report, time)
        } else {
            Err(self.stopped(report, Duration::ZERO))
        }
    }

    /// Counts the symmetric solutions alone.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn census_on(&self, hardware: &Hardware) -> Result<CensusResult, JobError> {
        let plans = vec![plan(Engine::Census, self.n)];
        let report = self.count(hardware, plans, Arc::new(WholePlans), None)?;
        if !report.finished {
            return Err(self.stopped(report, Duration::ZERO));
        }
        let tally = report.tallies.get(&Engine::Census).copied();
        let tally = tally.unwrap_or_default();
        check_census(self.n, &tally)?;
        Ok(CensusResult {
            r180: tally.r180,
            r90: tally.r90,
            report,
        })
    }

    /// Counts what `source` gives of `plans`, until that is done or something stops it.
    fn count(
        &self,
        hardware: &Hardware,
        plans: Vec<Arc<dyn Plan>>,
        source: Arc<dyn Source>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Result<Report, JobError> {
        let devices = hardware.devices_for(&plans)?;
        let spec = RunSpec {
            plans,
            workers: hardware.workers,
            counter: hardware.counter.clone(),
            queue_per_worker: self.tuning.queue_per_worker,
            batch_time: self.tuning.batch_time,
            audit: self.tuning.audit,
            source,
            recorder,
            observers: self
                .observers
                .iter()
                .cloned()
                .chain(telemetry::observer())
                .collect(),
            time_limit: self.time_limit,
        };
        actors::run_on(&spec, devices, &self.control).map_err(|source| JobError::Run {
            source,
            #[cfg(feature = "ledger")]
            directory: self.directory_path(),
        })
    }

    /// `before`: wall time of earlier processes that worked on the run.
    fn stopped(&self, report: Report, before: Duration) -> JobError {
        let cause = if self.control.is_draining() {
            StopCause::Request
        } else {
            StopCause::TimeLimit
        };
        JobError::Stopped {
            n: self.n,
            cause,
            elapsed: before + report.elapsed,
            report: Box::new(report),
            #[cfg(feature = "ledger")]
            directory: self.directory_path(),
        }
    }

    #[cfg(feature = "ledger")]
    fn directory_path(&self) -> Option<PathBuf> {
        self.directory.as_ref().map(|request| request.path.clone())
    }
}

/// The checked result of the tallies of `plan` and, if it was run, the census.
///
/// # Errors
/// The counts contradict each other or a known count.
pub fn outcome<'a>(
    plan: &dyn Plan,
    tally: impl Fn(Engine) -> Option<&'a Tally>,
) -> Result<Outcome, crate::outcome::Contradiction> {
    let none = Tally::default();
    let all = tally(plan.engine()).unwrap_or(&none);
    Outcome::new(plan.size(), all, tally(Engine::Census))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::known;

    fn job(n: u32) -> Job {
        Job::new(Size::new(n).unwrap()).devices(DeviceChoice::Off)
    }

    #[test]
    fn every_engine_gives_the_known_counts() {
        for engine in [Engine::Chain, Engine::Join] {
            let result = job(10).engine(engine).workers(2).run().unwrap();
            let known = known(result.outcome.n).unwrap();
            assert_eq!(result.outcome.total, known.total);
            assert_eq!(result.outcome.unique(), Some(known.unique));
            assert_eq!((result.plan.engine(), result.workers), (engine, 2));
        }
    }

    #[test]
    fn the_unique_count_can_be_left_out() {
        let result = job(8).unique(false).run().unwrap();
        assert_eq!((result.outcome.total, result.outcome.unique()), (92, None));
    }

    #[test]
    fn the_census_alone_gives_the_symmetric_solutions() {
        let hardware = Hardware::find(&HardwareSettings {
            devices: DeviceChoice::Off,
            ..HardwareSettings::default()
        });
        let census = job(12).census_on(&hardware.unwrap()).unwrap();
        let known = known(Size::new(12).unwrap()).unwrap();
        assert_eq!((census.r180, census.r90), (known.r180, known.r90));
    }

    #[test]
    fn a_job_without_workers_and_devices_is_refused() {
        let error = job(8).workers(0).run().unwrap_err();
        assert!(matches!(error, JobError::NoWorkers), "{error}");
    }

    #[test]
    fn a_job_that_is_drained_says_so() {
        let control = Control::new();
        control.drain();
        let error = job(16).control(&control).run().unwrap_err();
        assert!(
            error.to_string().starts_with("stopped by a request"),
            "{error}"
        );
        assert_eq!(error.report().unwrap().tasks_done, 0);
    }

    #[test]
    fn a_plan_with_wrong_tallies_has_no_result() {
        use crate::engine::FunctionPlan;

        let plan = FunctionPlan::new(Size::new(8).unwrap(), 3, |_| Tally::default());
        let error = Job::of(Arc::new(plan)).run().unwrap_err();
        assert!(matches!(error, JobError::Contradiction(_)), "{error}");
    }

    #[cfg(feature = "ledger")]
    #[test]
    fn shards_are_counted_one_by_one_and_a_run_is_resumed_to_its_result() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("part");
        let part = job(14).directory(&directory).shard("0/2".parse().unwrap());
        let error = part.run().unwrap_err();
        assert!(matches!(error, JobError::OneShard { .. }), "{error}");

        let directory = folder.path().join("whole");
        job(12).directory(&directory).run().unwrap();
        let again = job(12).directory(&directory).run().unwrap_err();
        assert!(matches!(again, JobError::Ledger(_)), "{again}");
        let result = Job::resume(&directory).unwrap().run().unwrap();
        assert_eq!(result.outcome.total, 14_200);
        assert_eq!(
            result.report.workers.iter().map(|w| w.tasks).sum::<u64>(),
            0
        );
    }
}
