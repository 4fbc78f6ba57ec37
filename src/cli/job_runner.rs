//! What `run`, `resume` and `census` share: hardware, signals, time limit, progress line, trace.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::calibration::Calibration;
use super::count_report;
use super::event_command::NoticedRun;
use super::exit::{Exit, Failure, SIGNAL, complete_shard};
use super::manners::Manners;
use super::output::{print, say};
use super::output_files;
use super::pause_key::PauseKey;
use super::result_json::ResultJson;
use super::run_outputs::{Beside, RunOutputs};
use super::signals;
use super::steering::{Says, Steering};
use crate::actors::{Control, Report};
use crate::board::{GivenBoard, Size};
use crate::config::{Config, HumanDuration};
use crate::engine::{CountedBy, Plan, RecountKernel, second_kernel};
use crate::job::{AgainResult, CensusResult, Hardware, Job, JobError, JobResult, plan};
use crate::ledger::{Confirmation, Missing, Shard};
use crate::telemetry::{self, TraceFile, printable_json};
#[cfg(feature = "nats")]
use crate::{
    actors::{Recorder, Source},
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

    /// Runs a job to its end, with a progress line. `None` if the job is a shard: it is complete, which
    /// is reported, and has no total.
    ///
    /// # Errors
    /// It was stopped before its end, or it failed: no result.
    pub fn run(&self, job: &Job) -> Result<Option<JobResult>, Failure> {
        let result = self.run_observed(job);
        let known = result.as_ref().map(|result| {
            let result = result.as_ref();
            result.and_then(|result| serde_json::to_value(ResultJson::new(result)).ok())
        });
        self.outputs.end(noticed(job), known);
        result
    }

    fn run_observed(&self, job: &Job) -> Result<Option<JobResult>, Failure> {
        let job = self.under_control(job.clone());
        let unused = job.unused_devices(&self.hardware);
        if let Some(why) = unused.filter(|_| !self.config.output.quiet) {
            let n = job.size();
            say(&format!("n = {n}: no device takes part, because {why}"));
        }
        let (job, beside) = self.observed(job)?;
        let result = job.run_on(&self.hardware);
        self.outputs.flush();
        drop(beside);
        let report = match &result {
            Ok(result) => Some(&result.report),
            Err(error) => error.report(),
        };
        if let Some(report) = report.filter(|_| self.config.output.profile) {
            self.say_profile(job.size(), report);
        }
        match result {
            Ok(result) => {
                if let Some(note) = sick_hardware(&result) {
                    say(&note);
                }
                for note in device_shares(&result).filter(|_| !self.config.output.quiet) {
                    say(&note);
                }
                Ok(Some(result))
            }
            Err(JobError::OneShard { shard, missing, .. }) => {
                let dir = job.run_directory().unwrap_or(Path::new(""));
                if !self.config.output.quiet {
                    say(&complete_shard(dir, shard, &missing));
                }
                if self.config.output.json {
                    print(&printable_json(
                        &shard_json(&job, dir, shard, &missing).to_string(),
                    ))?;
                }
                Ok(None)
            }
            Err(error) => Err(self.failure(error)),
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
    pub fn count_again(&self, job: &Job) -> Result<AgainResult, Failure> {
        let result = self.count_again_observed(job);
        let end = result.as_ref().map(|_| None);
        self.outputs.end(noticed(job), end);
        result
    }

    fn count_again_observed(&self, job: &Job) -> Result<AgainResult, Failure> {
        let (job, beside) = self.observed(self.under_control(job.clone()))?;
        let again = job.count_again_on(&self.hardware);
        self.outputs.flush();
        drop(beside);
        let again = again.map_err(|error| self.failure(error))?;
        let report = again.result.as_ref().map(|result| &result.report);
        if let Some(report) = report.filter(|_| self.config.output.profile) {
            self.say_profile(job.size(), report);
        }
        Ok(again)
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

    /// Counts what `source` gives, with a progress line, and hands it to `recorder`.
    ///
    /// # Errors
    /// The run failed.
    #[cfg(feature = "nats")]
    pub fn count_for(
        &self,
        board: GivenBoard,
        plans: &[Arc<dyn Plan>],
        source: Arc<dyn Source>,
        recorder: Arc<dyn Recorder>,
    ) -> Result<Report, JobError> {
        let job = self.under_control(Job::new(board));
        let job = match self.observed(job.clone()) {
            Ok((job, beside)) => (job, Some(beside)),
            // Nobody sees it.
            Err(_) => (job, None),
        };
        let report = job.0.count_for(&self.hardware, plans, source, recorder);
        self.outputs.flush();
        drop(job.1);
        if let Ok(report) = &report
            && self.config.output.profile
        {
            self.say_profile(board.size(), report);
        }
        report
    }

    /// Says how often the tasks of the run in `dir` were counted, and which counts differed. `counted` is
    /// what a result says of that.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn tell_counts(&self, dir: &Path, counted: Option<Confirmation>) -> Result<(), Failure> {
        count_report::tell(dir, counted, self.config.output.quiet)
    }

    fn say_profile(&self, n: Size, report: &Report) {
        let profile = telemetry::profile(report);
        say(&format!("n = {n}\n{}", profile.trim_end()));
    }

    /// Counts the symmetric solutions of a board alone, with a progress line.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn census(&self, board: GivenBoard) -> Result<CensusResult, Failure> {
        let (job, beside) = self.observed(self.under_control(Job::new(board)))?;
        let census = job.census_on(&self.hardware);
        drop(beside);
        census.map_err(|error| self.failure(error))
    }

    /// Why a job has no result. If it was stopped: by whom.
    fn failure(&self, error: JobError) -> Failure {
        Failure::of_job(error, self.steering.stopped_by())
    }

    /// The job as the signals, the time limit and the settings of this command want it.
    fn under_control(&self, job: Job) -> Job {
        let mut job = job
            .tuning(self.config.tuning())
            .control(self.steering.control())
            .observer(self.manners.observer());
        for observer in self.outputs.observers(&noticed(&job)) {
            job = job.observer(observer);
        }
        match self.config.run.time_limit.0 {
            Some(HumanDuration(limit)) => {
                job.time_limit(limit.saturating_sub(self.start.elapsed()))
            }
            None => job,
        }
    }

    /// The job with what shows it while it runs.
    fn observed(&self, mut job: Job) -> Result<(Job, Beside), Failure> {
        let run = noticed(&job);
        let (beside, observers) = self.outputs.show(&run, None, &self.steering)?;
        for observer in observers {
            job = job.observer(observer);
        }
        Ok((job, beside))
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

fn noticed(job: &Job) -> NoticedRun {
    NoticedRun {
        board: job.board(),
        directory: job.run_directory().map(Path::to_owned),
    }
}

/// What `--json` prints of a shard that is complete: there is no total yet.
fn shard_json(job: &Job, dir: &Path, shard: Shard, missing: &Missing) -> serde_json::Value {
    json!({
        "n": job.size(),
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
