//! Runs a job: makes its plans, starts the actors, and checks what they counted.

use std::collections::BTreeMap;
#[cfg(feature = "ledger")]
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{CensusResult, Hardware, Job, JobError, JobResult, StopCause, Stopped, outcome, plan};
use crate::actors::{self, DeviceSpec, Recorder, Report, RunSpec, Source, SumCheck, WholePlans};
use crate::engine::{Engine, Plan, Tally};
#[cfg(feature = "ledger")]
use crate::ledger::{Confirmation, ProcessFacts, Recording, RunInfo, Session, Shard, Store};
use crate::outcome::{Checked, check_census, is_known};
use crate::telemetry;

/// Where no count is known that would show a wrong one, every task is counted a second time while this is expected
/// to take each worker at most so long.
const AUDIT_ALL: Duration = Duration::from_secs(60);

impl Job {
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
        #[cfg(feature = "ledger")]
        self.check_directory_settings()?;
        self.tuning.check()?;
        let census = self.unique.then(|| plan(Engine::Census, self.board));
        let plan = match &self.plan {
            Some(plan) => Arc::clone(plan),
            None => plan(hardware.choose_engine(self.board)?.engine, self.board),
        };
        if !plan.engine().counts_all() {
            return Err(JobError::NoTotal(plan.engine()));
        }
        let plans: Vec<_> = [Some(Arc::clone(&plan)), census]
            .into_iter()
            .flatten()
            .collect();
        if self.engine_asked_for {
            hardware.devices().check_engine(&plans)?;
        }
        #[cfg(feature = "ledger")]
        if let Some(directory) = self.run_directory() {
            let again = |engine| super::plan(engine, self.board).name() == plan.name();
            let can_resume = plan.engine() != Engine::Own && again(plan.engine());
            if !can_resume {
                return Err(JobError::ForeignPlan(plan.name()));
            }
            return self.run_in(directory, hardware, plan, plans);
        }
        let check = check_outcome(Arc::clone(&plan));
        let report = self.count(hardware, (plans, check), Arc::new(WholePlans), None)?;
        let time = (report.elapsed, report.cpu);
        if report.is_whole() {
            JobResult::new(plan, hardware, report, time)
        } else {
            Err(self.stopped(report, Duration::ZERO))
        }
    }

    /// Counts the symmetric solutions alone. Nothing is kept in a directory.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn census_on(&self, hardware: &Hardware) -> Result<CensusResult, JobError> {
        self.tuning.check()?;
        let plans = vec![plan(Engine::Census, self.board)];
        let board = self.board;
        let check: SumCheck = Arc::new(move |sums: &BTreeMap<Engine, Tally>| {
            let none = Tally::default();
            let census = sums.get(&Engine::Census).unwrap_or(&none);
            check_census(board, census).map_err(|error| error.to_string())
        });
        let report = self.count(hardware, (plans, check), Arc::new(WholePlans), None)?;
        if !report.is_whole() {
            return Err(self.stopped(report, Duration::ZERO));
        }
        let tally = report.tallies.get(&Engine::Census).copied();
        let tally = tally.unwrap_or_default();
        check_census(self.board, &tally)?;
        let is_known = is_known(&board);
        Ok(CensusResult {
            checked: Checked::new(is_known, report.twice, report.tasks_planned),
            r180: tally.r180,
            r90: tally.r90,
            report,
        })
    }

    /// Counts what `source` gives of `plans` and hands it to `recorder`, for somebody else who adds it up. The job's own
    /// board, engine and directory have no effect.
    ///
    /// # Errors
    /// The settings are refused, or the run failed.
    pub fn count_for(
        &self,
        hardware: &Hardware,
        plans: &[Arc<dyn Plan>],
        source: Arc<dyn Source>,
        recorder: Arc<dyn Recorder>,
    ) -> Result<Report, JobError> {
        self.tuning.check()?;
        let devices = hardware.devices_for(plans)?;
        let spec = self.spec(hardware, plans.to_vec(), source, Some(recorder));
        self.run_actors(&spec, devices)
    }

    /// Counts what `source` gives of `plans`, until that is done or something stops it.
    fn count(
        &self,
        hardware: &Hardware,
        (plans, check): (Vec<Arc<dyn Plan>>, SumCheck),
        source: Arc<dyn Source>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Result<Report, JobError> {
        let devices = hardware.devices_for(&plans)?;
        let spec = RunSpec {
            check: Some(check),
            ..self.spec(hardware, plans, source, recorder)
        };
        self.run_actors(&spec, devices)
    }

    /// A run of this job on the CPU workers of `hardware`.
    pub(super) fn spec(
        &self,
        hardware: &Hardware,
        plans: Vec<Arc<dyn Plan>>,
        source: Arc<dyn Source>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> RunSpec {
        RunSpec {
            workers: hardware.workers,
            counter: hardware.counter.clone(),
            costs: hardware.costs.clone(),
            queue_per_worker: self.tuning.queue_per_worker,
            batch_time: self.tuning.batch_time,
            audit: self.tuning.audit,
            audit_all: match plans.first().map(|plan| is_known(&plan.given())) {
                Some(false) => AUDIT_ALL,
                _ => Duration::ZERO,
            },
            canary: self.tuning.canary,
            check: None,
            source,
            recorder,
            observers: self
                .observers
                .iter()
                .cloned()
                .chain(telemetry::observer())
                .collect(),
            time_limit: self.time_limit,
            plans,
        }
    }

    /// Runs the actors, with these devices.
    pub(super) fn run_actors(
        &self,
        spec: &RunSpec,
        devices: &[DeviceSpec],
    ) -> Result<Report, JobError> {
        actors::run_on(spec, devices, &self.control).map_err(|source| JobError::Run {
            source,
            #[cfg(feature = "ledger")]
            directory: self.run_directory().map(Path::to_owned),
        })
    }

    /// Counts what the run directory lacks. Time and CPU time of the result are those of all processes
    /// that worked on the run.
    #[cfg(feature = "ledger")]
    fn run_in(
        &self,
        directory: &Path,
        hardware: &Hardware,
        plan: Arc<dyn Plan>,
        plans: Vec<Arc<dyn Plan>>,
    ) -> Result<JobResult, JobError> {
        let devices = hardware.devices_for(&plans)?;
        let config = self.configuration.clone().unwrap_or_default();
        let process = ProcessFacts {
            isa: hardware.counter.isa.name().to_owned(),
            workers: hardware.workers as u64,
            devices: devices.iter().map(|device| device.name.clone()).collect(),
            config: config.clone(),
        };
        let recording = if self.resumed.is_some() {
            match Recording::resume(directory, &plans, &process) {
                // Nothing has to be written to tell the result of a finished run.
                Err(error) if error.is_unwritable() => {
                    let recorded = recorded_result(directory, hardware, plan, &plans)?;
                    return recorded.ok_or_else(|| error.into());
                }
                opened => opened?,
            }
        } else {
            let shard = self.shard.unwrap_or(Shard::WHOLE);
            let info = RunInfo::new(self.board, &plans, shard, config);
            Recording::create(directory, &info, &plans, &process)?
        };
        let before = recording.before();
        let shard = recording.shard();
        let division = recording.division().clone();
        let recording = Arc::new(recording);
        let source = Arc::clone(&recording);
        let check = check_outcome(Arc::clone(&plan));
        let report = self.count(hardware, (plans, check), source, Some(recording))?;
        let store = Store::open_to_read(directory)?;
        let sums = store.sums()?;
        let coverage = &sums.coverage;
        let missing = || coverage.missing(&division);
        match report.is_whole().then_some(plan) {
            Some(plan) if coverage.is_whole() => {
                store.check_decided(&sums)?;
                let time = (
                    before.elapsed + report.elapsed,
                    before.counting + report.cpu,
                );
                let confirmation = Confirmation::read(&store)?;
                Ok(JobResult::new(plan, hardware, report, time)?.confirmed(confirmation))
            }
            // Somebody removed or replaced the file meanwhile: what was counted is not kept.
            Some(_) => Err(JobError::DirectoryChanged {
                directory: directory.to_owned(),
                missing: missing(),
                report: Box::new(report),
            }),
            None if coverage.is_whole_for(shard, &division) => Err(JobError::OneShard {
                shard,
                missing: missing(),
                report: Box::new(report),
            }),
            None => Err(self.stopped(report, before.elapsed)),
        }
    }

    /// Refuses settings of a run directory that could have no effect.
    #[cfg(feature = "ledger")]
    fn check_directory_settings(&self) -> Result<(), JobError> {
        let refused = if let Some(run) = &self.resumed {
            let fixed = [
                (self.unique != run.unique, "unique count"),
                (self.shard.is_some(), "shard"),
                (self.directory.is_some(), "directory"),
            ];
            let refused = |(given, what): (bool, _)| given.then_some(JobError::FixedByRun(what));
            fixed.map(refused).into_iter().flatten().next()
        } else {
            let kept = [
                (self.shard.is_some(), "a shard"),
                (self.configuration.is_some(), "a configuration"),
            ];
            let lost = self.directory.is_none();
            let refused = |(given, what): (bool, _)| {
                (given && lost).then_some(JobError::NeedsDirectory(what))
            };
            kept.map(refused).into_iter().flatten().next()
        };
        refused.map_or(Ok(()), Err)
    }

    /// `before`: wall time of earlier processes that worked on the run.
    pub(super) fn stopped(&self, report: Report, before: Duration) -> JobError {
        let cause = if self.control.is_draining() {
            StopCause::Request
        } else {
            StopCause::TimeLimit
        };
        JobError::Stopped(Box::new(Stopped {
            board: self.board(),
            cause,
            elapsed: before + report.elapsed,
            report,
            #[cfg(feature = "ledger")]
            directory: self.run_directory().map(Path::to_owned),
            #[cfg(feature = "ledger")]
            again: false,
        }))
    }
}

/// The result of the run in `directory` by its records alone; `None` if tasks are missing.
#[cfg(feature = "ledger")]
fn recorded_result(
    directory: &Path,
    hardware: &Hardware,
    plan: Arc<dyn Plan>,
    plans: &[Arc<dyn Plan>],
) -> Result<Option<JobResult>, JobError> {
    let store = Store::open_to_read(directory)?;
    store.info().check_plans(store.file(), plans)?;
    let sums = store.sums()?;
    if !sums.coverage.is_whole() {
        return Ok(None);
    }
    store.check_decided(&sums)?;
    let tasks = plans.iter().map(|plan| plan.tasks()).sum();
    let report = Report {
        tallies: sums.tallies,
        tasks_done: tasks,
        tasks_total: Some(tasks),
        tasks_planned: tasks,
        ..Report::default()
    };
    let time = (Session::wall_time(&store.sessions()?), sums.counting);
    let result = JobResult::new(plan, hardware, report, time)?;
    Ok(Some(result.confirmed(Confirmation::read(&store)?)))
}

/// Compares the sums of a run with what is known, where `plan` counts all solutions.
fn check_outcome(plan: Arc<dyn Plan>) -> SumCheck {
    Arc::new(move |sums: &BTreeMap<Engine, Tally>| {
        outcome(plan.as_ref(), |engine| sums.get(&engine))
            .map(drop)
            .map_err(|error| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::actors::{Control, EventKind, Observer, RunEvent, RunState};
    use crate::board::{Size, known};
    use crate::engine::Tally;
    use crate::job::{DeviceChoice, HardwareSettings};

    fn job(n: u32) -> Job {
        Job::new(Size::new(n).unwrap()).devices(DeviceChoice::Off)
    }

    #[test]
    fn every_engine_gives_the_known_counts() {
        for engine in [Engine::Chain, Engine::Colour] {
            let job = Job::of(plan(engine, Size::new(10).unwrap())).devices(DeviceChoice::Off);
            let result = job.workers(2).run().unwrap();
            let known = known(result.outcome.n).unwrap();
            assert_eq!(result.outcome.total, known.total);
            assert_eq!(result.outcome.unique(), Some(known.unique));
            assert_eq!((result.plan.engine(), result.workers), (engine, 2));
        }
    }

    #[test]
    fn an_engine_that_does_not_count_all_solutions_gives_no_total() {
        let census = plan(Engine::Census, Size::new(28).unwrap());
        let error = Job::of(census).unique(false).run().unwrap_err();
        assert!(matches!(error, JobError::NoTotal(_)), "{error}");
    }

    #[cfg(feature = "ledger")]
    #[test]
    fn a_run_that_could_not_be_resumed_is_not_begun() {
        let folder = tempfile::tempdir().unwrap();
        let n = Size::new(8).unwrap();
        let own = crate::engine::FunctionPlan::new(n, 1, |_| crate::engine::Tally::default());
        let error = Job::of(Arc::new(own)).directory(folder.path().join("run"));
        let error = error.run().unwrap_err();
        let JobError::ForeignPlan(name) = error else {
            panic!("{error}");
        };
        assert_eq!(name.to_string(), "own-1");
        assert!(!folder.path().join("run").exists());
    }

    #[cfg(feature = "ledger")]
    #[test]
    fn a_run_of_an_own_engine_is_left_to_its_owner() {
        use crate::ledger::{LedgerError, ProcessFacts, Recording, RunInfo};

        let folder = tempfile::tempdir().unwrap();
        let n = Size::new(8).unwrap();
        let own = crate::engine::FunctionPlan::new(n, 1, |_| Tally::default());
        let plans: [Arc<dyn Plan>; 1] = [Arc::new(own)];
        let info = RunInfo::new(n, &plans, Shard::WHOLE, String::new());
        let open = Recording::create(folder.path(), &info, &plans, &ProcessFacts::default());
        drop(open.unwrap());
        let error = Job::resume(folder.path()).err().unwrap();
        let other = matches!(error, JobError::Ledger(LedgerError::OtherPlan { .. }));
        assert!(other, "{error}");
        assert!(Recording::resume(folder.path(), &plans, &ProcessFacts::default()).is_ok());
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
        assert!(error.to_string().contains("but 92 is known"), "{error}");
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

    /// Drains a run as soon as it has recorded a task.
    #[cfg(feature = "ledger")]
    struct DrainEarly(Control);

    #[cfg(feature = "ledger")]
    impl Observer for DrainEarly {
        fn event(&self, event: &RunEvent) {
            if matches!(
                event.kind,
                EventKind::Advanced {
                    tasks_done: 1..,
                    ..
                }
            ) {
                self.0.drain();
            }
        }
    }

    #[cfg(feature = "ledger")]
    #[test]
    fn a_stopped_shard_is_measured_by_its_own_tasks() {
        let folder = tempfile::tempdir().unwrap();
        let control = Control::new();
        let n = Size::new(16).unwrap();
        let shard: Shard = "0/2".parse().unwrap();
        let part = Job::of(plan(Engine::Chain, n))
            .devices(DeviceChoice::Off)
            .workers(1)
            .directory(folder.path().join("part"))
            .shard(shard)
            .control(&control)
            .observer(Arc::new(DrainEarly(control.clone())));
        let error = part.run().unwrap_err();
        let tasks = [Engine::Chain, Engine::Census].map(|engine| plan(engine, n).tasks());
        let own = tasks.map(|tasks| tasks.div_ceil(2)).iter().sum();
        let report = error.report().unwrap();
        assert_eq!(report.tasks_total, Some(own));
        assert_eq!(report.tasks_planned, tasks.iter().sum::<u64>());
        assert_eq!(control.progress().tasks_total, Some(own));
        let said = error.to_string();
        let counted = format!(" {} of {own} tasks of n = 16", report.tasks_done);
        assert!(said.contains(&counted), "{said}");
    }

    #[cfg(feature = "ledger")]
    #[test]
    fn what_only_a_directory_keeps_is_refused_without_one() {
        let folder = tempfile::tempdir().unwrap();
        let directory = folder.path().join("part");
        let shard: Shard = "0/2".parse().unwrap();
        let refused = |job: Job| job.run().unwrap_err().to_string();
        assert_eq!(refused(job(12).shard(shard)), "a shard needs a directory");
        assert_eq!(
            refused(job(12).configuration(String::new())),
            "a configuration needs a directory"
        );
        // The order of the calls does not matter.
        let part = job(14).shard(shard).directory(&directory).run();
        assert!(matches!(part, Err(JobError::OneShard { .. })), "{part:?}");
        let resumed = || Job::resume(&directory).unwrap();
        for (job, what) in [
            (resumed().shard(shard), "shard"),
            (resumed().unique(false), "unique count"),
            (
                resumed().directory(folder.path().join("other")),
                "directory",
            ),
        ] {
            let expected = format!("a resumed run keeps the {what} that it was begun with");
            assert_eq!(refused(job), expected);
        }
    }

    /// How many events of each kind a job sent.
    #[derive(Default)]
    struct EventCounts {
        begun: AtomicU64,
        done: AtomicU64,
        nodes: AtomicU64,
        ended: AtomicU64,
    }

    impl Observer for EventCounts {
        fn event(&self, event: &RunEvent) {
            let (counter, by) = match &event.kind {
                EventKind::TaskBegun { .. } => (&self.begun, 1),
                EventKind::TaskCounted(result) => {
                    self.nodes.fetch_add(result.tally.nodes, Ordering::Relaxed);
                    (&self.done, 1)
                }
                EventKind::State(RunState::Finished) => (&self.ended, 1),
                _ => return,
            };
            counter.fetch_add(by, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_observer_hears_of_every_task_and_of_the_end() {
        let counts = Arc::new(EventCounts::default());
        let result = job(12).observer(counts.clone()).run().unwrap();
        let heard = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let nodes: u64 = result
            .report
            .tallies
            .values()
            .map(|tally| tally.nodes)
            .sum();
        assert_eq!(heard(&counts.begun), result.report.tasks_planned);
        assert_eq!(heard(&counts.done), result.report.tasks_planned);
        assert_eq!((heard(&counts.nodes), heard(&counts.ended)), (nodes, 1));
    }
}
