//! Runs a job: makes its plans, starts the actors, and checks what they counted.

use std::sync::Arc;
use std::time::Duration;

use super::{
    CensusResult, Hardware, Job, JobError, JobResult, RunSettings, Stopped, outcome, plan, plans,
};
use crate::actors::{
    self, DeviceSpec, Recorder, Report, RunEnd, RunSpec, Source, SumCheck, WholePlans,
};
use crate::engine::{Engine, Plan, Tally};
use crate::outcome::{Checked, check_census, is_known};

/// Where no count is known that would show a wrong one, every task is counted a second time while this is expected
/// to take each worker at most so long.
const AUDIT_ALL: Duration = Duration::from_secs(60);

/// The plans of a run, that which counts all solutions first.
#[doc(hidden)]
pub type Plans = Vec<Arc<dyn Plan>>;

impl Job {
    /// Finds the hardware and runs to the end.
    ///
    /// # Errors
    /// See [`JobError`]. There is no partial result.
    pub fn run(&self) -> Result<JobResult, JobError> {
        self.run_on(&Hardware::find(&self.settings.hardware)?)
    }

    /// Runs to the end on hardware that was found before. The job's own settings of hardware have no
    /// effect.
    ///
    /// # Errors
    /// See [`JobError`]. There is no partial result.
    pub fn run_on(&self, hardware: &Hardware) -> Result<JobResult, JobError> {
        let (plan, plans) = self.plans(hardware)?;
        let how = &self.settings;
        let report = how.count_all(hardware, (&plan, plans), Arc::new(WholePlans), None)?;
        let time = (report.elapsed, Some(report.cpu));
        match report.end {
            RunEnd::Stopped(cause) => Err(Stopped::by(self.board, cause, report, Duration::ZERO)),
            RunEnd::Whole | RunEnd::Part => JobResult::new(plan, hardware, report, time),
        }
    }

    /// The plan that counts all solutions, and the plans of the whole run, which it is the first of.
    ///
    /// # Errors
    /// The settings are refused, the plan counts only some of the solutions, or devices that were asked for
    /// do not count by it.
    #[doc(hidden)]
    pub fn plans(&self, hardware: &Hardware) -> Result<(Arc<dyn Plan>, Plans), JobError> {
        self.settings.tuning.check()?;
        let plan = match &self.plan {
            Some(plan) => Arc::clone(plan),
            None => plan(hardware.choose_engine(self.board)?, self.board),
        };
        if !plan.engine().counts_all() {
            return Err(JobError::NoTotal(plan.engine()));
        }
        let census = plans(self.board, self.unique.then_some(Engine::Census));
        let plans: Vec<_> = std::iter::once(Arc::clone(&plan)).chain(census).collect();
        if self.engine_asked_for {
            hardware.devices().check_engine(&plans)?;
        }
        Ok((plan, plans))
    }

    /// Counts the symmetric solutions alone.
    ///
    /// # Errors
    /// See [`JobError`].
    pub fn census_on(&self, hardware: &Hardware) -> Result<CensusResult, JobError> {
        let how = &self.settings;
        how.tuning.check()?;
        let board = self.board;
        let plans = plans(board, [Engine::Census]);
        let is_known = is_known(plans[0].as_ref());
        let check = SumCheck::new(is_known, move |sums| {
            let none = Tally::default();
            let census = sums.get(&Engine::Census).unwrap_or(&none);
            check_census(board, census).map_err(|error| error.to_string())
        });
        let report = how.count(hardware, (plans, check), Arc::new(WholePlans), None)?;
        if let RunEnd::Stopped(cause) = report.end {
            return Err(Stopped::by(board, cause, report, Duration::ZERO));
        }
        let tally = report.tallies.get(&Engine::Census).copied();
        let tally = tally.unwrap_or_default();
        check_census(self.board, &tally)?;
        Ok(CensusResult {
            checked: Checked::new(is_known, report.twice, report.tasks_planned),
            r180: tally.r180,
            r90: tally.r90,
            report,
        })
    }
}

impl RunSettings {
    /// Counts what `source` gives of the plans of a run, of which `plan` counts all solutions, until that is
    /// done or something stops it.
    #[doc(hidden)]
    pub fn count_all(
        &self,
        hardware: &Hardware,
        (plan, plans): (&Arc<dyn Plan>, Plans),
        source: Arc<dyn Source>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Result<Report, JobError> {
        let plan = Arc::clone(plan);
        let check = SumCheck::new(is_known(plan.as_ref()), move |sums| {
            let checked = outcome(plan.as_ref(), |engine| sums.get(&engine));
            checked.map(drop).map_err(|error| error.to_string())
        });
        self.count(hardware, (plans, check), source, recorder)
    }

    /// Counts what `source` gives of `plans`, whose sums `check` compares with what is known.
    fn count(
        &self,
        hardware: &Hardware,
        (plans, check): (Plans, SumCheck),
        source: Arc<dyn Source>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Result<Report, JobError> {
        let devices = hardware.devices_for(&plans)?;
        let mut spec = self.spec(hardware, plans, source, recorder);
        spec.check = Some(check);
        self.run(&spec, devices)
    }

    /// A run with these settings on the CPU workers of `hardware`.
    #[doc(hidden)]
    pub fn spec(
        &self,
        hardware: &Hardware,
        plans: Plans,
        source: Arc<dyn Source>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> RunSpec {
        RunSpec {
            workers: hardware.workers,
            counter: hardware.counter.clone(),
            batch_time: actors::BATCH_TIME,
            audit: self.tuning.audit,
            audit_all: match plans.first().map(|plan| is_known(plan.as_ref())) {
                Some(false) => AUDIT_ALL,
                _ => Duration::ZERO,
            },
            canary: self.tuning.canary,
            check: None,
            source,
            recorder,
            observers: (self.observers.iter().cloned())
                .chain(actors::tracing_bridge::observer())
                .collect(),
            time_limit: self.time_limit,
            plans,
        }
    }

    /// Runs the actors, with these devices.
    #[doc(hidden)]
    pub fn run(&self, spec: &RunSpec, devices: &[DeviceSpec]) -> Result<Report, JobError> {
        Ok(actors::run(spec, devices, &self.control)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::Control;
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
}
