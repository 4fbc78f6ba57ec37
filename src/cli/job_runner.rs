//! What `run`, `resume` and `census` share: hardware, signals, time limit, progress line, trace.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::board_result::BoardResult;
use super::calibration::Calibration;
use super::count_report;
use super::event_command::NoticedRun;
use super::exit::{Exit, Failure, SIGNAL, complete_shard};
use super::manners::Manners;
use super::output::{print, say};
use super::output_files;
use super::pause_key::PauseKey;
use super::result_json::ResultJson;
use super::run_outputs::RunOutputs;
use super::shell::{again_command, resume_command};
use super::signals;
use super::steering::{Says, Steering};
use crate::actors::{Control, Report};
use crate::board::{GivenBoard, Size};
use crate::config::{Config, HumanDuration};
use crate::engine::{CountedBy, Plan, RecountKernel, second_kernel};
use crate::job::{CensusResult, Hardware, Job, JobError, JobResult, RunSettings, plan};
use crate::ledger::{Confirmation, Missing, Shard};
use crate::run_directory::{AgainResult, RunDirectory, RunDirectoryError};
use crate::telemetry::{self, TraceFile, printable_json};
#[cfg(feature = "nats")]
use crate::{
    ledger::{Facts, host_name, program, unix_time},
    machine::Machine,
};

/// What a job may be expected to take that keeps nothing: a day.
const LONGEST_KEPT_NOWHERE: Duration = Duration::from_secs(86_400);

/// What the jobs of one command share: the settings, the hardware, the signals, and the time limit,
/// which holds for all of them together.
pub struct JobRunner {
    hardware: Hardware,
    config: Config,
    steering: Steering,
    _pause_key: Option<PauseKey>,
    trace: Option<TraceFile>,
    outputs: RunOutputs,
    manners: Manners,
    start: Instant,
}

impl JobRunner {
    /// Resolves `config` and listens for signals.
    ///
    /// # Errors
    /// The instruction set or device asked for is not available; a file cannot be written, or is to be
    /// written for two purposes; the system refuses signal handlers.
    pub fn new(config: &Config) -> Result<Self, Failure> {
        output_files::check(&config.trace)?;
        let mut hardware = Hardware::find(&config.hardware())?;
        let calibration = Calibration::find();
        hardware.costs = calibration.costs;
        if let Some(refused) = calibration.refused.filter(|_| !config.output.quiet) {
            say(&refused);
        }
        // Warnings are notes.
        let filter = if config.output.quiet {
            "error"
        } else {
            &config.trace.filter.0
        };
        let trace = output_files::open_trace(&config.trace)?;
        let trace =
            telemetry::start(filter, trace).map_err(|error| Failure::new(Exit::Error, error))?;
        let outputs = RunOutputs::open(config)?;
        let control = Control::new();
        #[cfg(feature = "fault-injection")]
        inject_faults(&control)?;
        let manners = Manners::begin(config, &control)?;
        // The dashboard shows whether the run is paused.
        let quiet_pause = config.output.quiet || config.output.tui;
        let says = Says {
            pauses: !quiet_pause,
            stop: (!config.output.quiet).then_some((
                "stopping within two seconds",
                "; a second signal ends it at once",
            )),
        };
        let steering = Steering::new(control, says);
        let stopped = steering.clone();
        signals::listen(move || stopped.stop(SIGNAL), Some(steering.clone()))?;
        Ok(Self {
            hardware,
            config: config.clone(),
            // The dashboard reads the keys itself.
            _pause_key: (!config.output.quiet && !config.output.tui)
                .then(|| PauseKey::listen(steering.clone()))
                .flatten(),
            steering,
            trace,
            outputs,
            manners,
            start: Instant::now(),
        })
    }

    /// The job for a board that the settings ask for. The engine is chosen now, and the reason is
    /// printed if there is one.
    ///
    /// # Errors
    /// Devices were asked for, and do not count the board.
    pub fn job(&self, board: GivenBoard) -> Result<Job, Failure> {
        let unique = self.config.run.unique;
        match self.config.run.engine.0 {
            Some(engine) => Ok(Job::of(plan(engine, board)).unique(unique)),
            None => {
                let choice = self.hardware.choose_engine(board)?;
                if let Some(reason) = choice.reason.filter(|_| !self.config.output.quiet) {
                    say(&reason);
                }
                let job = Job::of(plan(choice.engine, board)).unique(unique);
                Ok(job.engine_was_chosen())
            }
        }
    }

    /// Refuses a job that is expected to take more than a day, has no time limit, and would keep nothing.
    ///
    /// # Errors
    /// It is such a job.
    pub fn check_kept(&self, job: &Job) -> Result<(), Failure> {
        let time = job.expected_time(&self.hardware);
        let too_long = time.filter(|time| *time > LONGEST_KEPT_NOWHERE);
        let Some(time) = too_long.filter(|_| self.config.run.time_limit.0.is_none()) else {
            return Ok(());
        };
        Err(Failure::usage(format!(
            "{} takes about {} on {} by the costs of its plan, and nothing of it would be kept: give --dir DIR, with \
             which `queenfold resume DIR` goes on after a stop, and --shard I/K to divide it among machines; or --yes \
             to begin all the same. `queenfold estimate {}` counts a sample to tell more",
            job.board().in_words(),
            telemetry::duration(time),
            telemetry::several(self.hardware.workers as u64, "worker"),
            telemetry::board_flags(&job.board())
        )))
    }

    /// Runs a job to its end, with a progress line. `count` counts it with these settings, and keeps its finished
    /// tasks in `directory` if there is one. `None` if that is a shard: it is complete, which is reported, and has
    /// no total.
    ///
    /// # Errors
    /// It was stopped before its end, or it failed: no result.
    pub fn run(
        &self,
        job: &Job,
        directory: Option<&Path>,
        count: impl FnOnce(RunSettings, &Hardware) -> Result<BoardResult, RunDirectoryError>,
    ) -> Result<Option<BoardResult>, Failure> {
        let run = noticed(job, directory);
        let result = self.run_observed(job, &run, count);
        let known = result.as_ref().map(|counted| {
            let counted = counted.as_ref();
            counted.and_then(|counted| serde_json::to_value(ResultJson::new(counted)).ok())
        });
        self.outputs.end(run, known);
        result
    }

    fn run_observed(
        &self,
        job: &Job,
        run: &NoticedRun,
        count: impl FnOnce(RunSettings, &Hardware) -> Result<BoardResult, RunDirectoryError>,
    ) -> Result<Option<BoardResult>, Failure> {
        let n = job.size();
        let unused = job.unused_devices(&self.hardware);
        if let Some(why) = unused.filter(|_| !self.config.output.quiet) {
            say(&format!("n = {n}: no device takes part, because {why}"));
        }
        let counted = self.observed(run, count)?;
        self.say_profile(
            n,
            match &counted {
                Ok(counted) => Some(&counted.result.report),
                Err(error) => error.report(),
            },
        );
        match counted {
            Ok(counted) => {
                if let Some(note) = sick_hardware(&counted.result) {
                    say(&note);
                }
                for note in device_shares(&counted.result).filter(|_| !self.config.output.quiet) {
                    say(&note);
                }
                Ok(Some(counted))
            }
            Err(RunDirectoryError::OneShard { shard, missing, .. }) => {
                let dir = run.directory.as_deref().unwrap_or(Path::new(""));
                if !self.config.output.quiet {
                    say(&complete_shard(dir, shard, &missing));
                }
                if self.config.output.json {
                    print(&printable_json(
                        &shard_json(n, dir, shard, &missing).to_string(),
                    ))?;
                }
                Ok(None)
            }
            Err(error) => {
                let goes_on = run.directory.as_deref().map(resume_command);
                Err(self.failure(error, goes_on.as_deref()))
            }
        }
    }

    /// How long a second count of all tasks of `plans` takes, in seconds, by the costs of the plans: within a
    /// factor of 3. Devices may make it shorter.
    pub fn second_count_seconds(&self, plans: &[Arc<dyn Plan>]) -> f64 {
        let Hardware {
            counter,
            costs,
            workers,
            ..
        } = &self.hardware;
        let of_plan = |plan: &Arc<dyn Plan>| {
            let first = CountedBy::Cpu(plan.counter(counter).backend().into());
            let isa = match second_kernel(plan.as_ref(), counter, costs, &first) {
                RecountKernel::Isa(isa) => isa,
                RecountKernel::Oracle => counter.isa,
            };
            let per_cost = costs.seconds_per_cost(plan.engine(), plan.size(), isa);
            plan.total_cost() * per_cost.unwrap_or(0.0)
        };
        plans.iter().map(of_plan).sum::<f64>() / (*workers).max(1) as f64
    }

    /// Counts a run a second time, with a progress line.
    ///
    /// # Errors
    /// It was stopped before its end, or it failed.
    pub fn count_again(&self, again: RunDirectory) -> Result<AgainResult, Failure> {
        let n = again.job().size();
        let run = noticed(again.job(), Some(again.directory()));
        let goes_on = again_command(again.directory());
        let counted = self.observed(&run, |how, hardware| {
            again.settings(how).count_again_on(hardware)
        });
        let counted = counted
            .and_then(|counted| counted.map_err(|error| self.failure(error, Some(&goes_on))));
        if let Ok(again) = &counted {
            self.say_profile(n, again.result.as_ref().map(|result| &result.report));
        }
        self.outputs.end(run, counted.as_ref().map(|_| None));
        counted
    }

    /// What the jobs of this command run under.
    #[cfg(feature = "nats")]
    pub const fn control(&self) -> &Control {
        self.steering.control()
    }

    /// What a run of `plans` by this command runs on, for a ledger.
    ///
    /// # Errors
    /// Devices were asked for, and do not count the board.
    #[cfg(feature = "nats")]
    pub fn facts(&self, plans: &[Arc<dyn Plan>], config: String) -> Result<Facts, Failure> {
        let devices = self.hardware.devices_for(plans)?;
        let processor = Machine::detect().cpu;
        Ok(Facts {
            host: host_name(),
            processor: processor.unwrap_or_else(|| "unknown".to_owned()),
            program: program(),
            isa: self.hardware.counter.isa.name().to_owned(),
            workers: self.hardware.workers as u64,
            devices: devices.iter().map(|device| device.name.clone()).collect(),
            config,
            started: unix_time(),
            ..Facts::default()
        })
    }

    /// Counts tasks of a board for somebody else who adds them up, with a progress line.
    ///
    /// # Errors
    /// The system refuses another thread. What `count` gives says whether the run failed.
    #[cfg(feature = "nats")]
    pub fn count_for(
        &self,
        board: GivenBoard,
        count: impl FnOnce(RunSettings, &Hardware) -> Result<Report, JobError>,
    ) -> Result<Result<Report, JobError>, Failure> {
        let report = self.observed(&noticed(&Job::new(board), None), count)?;
        self.say_profile(board.size(), report.as_ref().ok());
        Ok(report)
    }

    /// Says how often the tasks of the run in `dir` were counted, and which counts differed. `counted` is
    /// what a result says of that.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn tell_counts(&self, dir: &Path, counted: Option<Confirmation>) -> Result<(), Failure> {
        count_report::tell(dir, counted, self.config.output.quiet)
    }

    /// Says how the workers spent a run, if that was asked for.
    fn say_profile(&self, n: Size, report: Option<&Report>) {
        if let Some(report) = report.filter(|_| self.config.output.profile) {
            let profile = telemetry::profile(report);
            say(&format!("n = {n}\n{}", profile.trim_end()));
        }
    }

    /// Counts the symmetric solutions of a board alone, with a progress line.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn census(&self, board: GivenBoard) -> Result<CensusResult, Failure> {
        let job = Job::new(board);
        let census = self.observed(&noticed(&job, None), |how, hardware| {
            job.clone().settings(how).census_on(hardware)
        })?;
        census.map_err(|error| self.failure(error.into(), None))
    }

    /// Why a job has no result. If it was stopped: by whom, and which command goes on.
    fn failure(&self, error: RunDirectoryError, goes_on: Option<&str>) -> Failure {
        Failure::of_run(error, self.steering.stopped_by(), goes_on)
    }

    /// Counts as the signals, the time limit and the settings of this command want it, and shows it meanwhile.
    fn observed<T>(
        &self,
        run: &NoticedRun,
        count: impl FnOnce(RunSettings, &Hardware) -> T,
    ) -> Result<T, Failure> {
        let (beside, shown) = self.outputs.show(run, None, &self.steering)?;
        let mut observers = vec![self.manners.observer()];
        observers.extend(self.outputs.observers(run));
        observers.extend(shown);
        let limit = self.config.run.time_limit.0;
        let how = RunSettings {
            hardware: self.config.hardware(),
            tuning: self.config.tuning(),
            time_limit: limit
                .map(|HumanDuration(limit)| limit.saturating_sub(self.start.elapsed())),
            control: self.steering.control().clone(),
            observers,
        };
        let counted = count(how, &self.hardware);
        self.outputs.flush();
        drop(beside);
        Ok(counted)
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// Something of it could not be written.
    pub fn finish(self) -> Result<(), Failure> {
        let done = self.trace.map_or(Ok(()), TraceFile::finish);
        done.map_err(|error| Failure::new(Exit::Error, format!("cannot write the trace: {error}")))
    }
}

fn noticed(job: &Job, directory: Option<&Path>) -> NoticedRun {
    NoticedRun {
        board: job.board(),
        directory: directory.map(Path::to_owned),
    }
}

/// What `--json` prints of a shard that is complete: there is no total yet.
fn shard_json(n: Size, dir: &Path, shard: Shard, missing: &Missing) -> serde_json::Value {
    json!({
        "n": n,
        "total": null,
        "unique": null,
        "shard": shard.to_string(),
        "directory": dir.display().to_string(),
        "missing_tasks": missing.tasks(),
    })
}

/// What a result says of workers and devices that counted wrongly, if there were any.
fn sick_hardware(result: &JobResult) -> Option<String> {
    let report = &result.report;
    let names: Vec<_> = report
        .taken_out
        .iter()
        .map(|sick| sick.worker.to_string())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "n = {}: {} counted wrongly; what it counted was counted again, {} corrected, and the result \
             is right. Test this hardware before you use it again",
            result.outcome.n,
            names.join(" and "),
            telemetry::several(report.corrected, "count"),
        )
    })
}

/// What a result says of the devices that took part.
fn device_shares(result: &JobResult) -> impl Iterator<Item = String> {
    let report = &result.report;
    let devices = report.workers.iter().skip(result.workers);
    let counted = devices.filter(|device| device.device_tasks > 0);
    counted.map(|device| {
        format!(
            "n = {}: {} counted {}, {:.1} % of the work",
            result.outcome.n,
            device.counted_by_name(),
            telemetry::several(device.device_tasks, "task"),
            100.0 * report.device_share(device),
        )
    })
}

/// The test hook of builds with fault injection: faults as the environment asks for them.
#[cfg(feature = "fault-injection")]
fn inject_faults(control: &Control) -> Result<(), Failure> {
    if let Ok(faults) = std::env::var("INJECT_FAULTS") {
        control.inject(faults.parse().map_err(Failure::usage)?);
    }
    Ok(())
}
