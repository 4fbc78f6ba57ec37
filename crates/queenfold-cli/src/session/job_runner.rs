//! What the commands share that count on this machine: its hardware, and what they say of a run.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::Session;
use super::outputs::event_command::NoticedRun;
use super::throttle::Throttle;
use crate::config::Config;
use crate::control::keys::PauseKey;
use crate::exit::{Failure, complete_shard};
use crate::output::{print_json, say};
use crate::print::array_report::continue_command;
use crate::print::board_result::BoardResult;
use crate::print::result_json::result_json;
use crate::shell::again_command;
use crate::telemetry;
use queenfold::actors::Report;
use queenfold::board::{GivenBoard, Size};
use queenfold::job::{CensusResult, Hardware, Job, JobResult, RunSettings, plan};
use queenfold::words;
use queenfold_ledger::ledger::{Missing, Shard};
use queenfold_ledger::run_directory::{AgainResult, RunDirectory, RunDirectoryError};

/// What a job may be expected to take that keeps nothing: a day.
const LONGEST_KEPT_NOWHERE: Duration = Duration::from_secs(86_400);

/// The session of a command that counts on the hardware of this machine.
pub struct JobRunner {
    hardware: Hardware,
    _pause_key: Option<PauseKey>,
    throttle: Throttle,
    session: Session,
    json: bool,
}

impl JobRunner {
    /// Finds the hardware that `config` asks for, and begins the session of a command that prints `json` or tables.
    ///
    /// # Errors
    /// The instruction set or device asked for is not available, or as [`Session::begin`].
    pub fn new(config: &Config, json: bool) -> Result<Self, Failure> {
        let hardware = Hardware::find(&config.hardware())?;
        // The dashboard reads the keys itself.
        let is_bare = !config.output.quiet && !config.output.tui;
        let session = Session::begin(config, json)?;
        let steering = session.steering();
        let throttle = Throttle::begin(config, steering.control())?;
        let pause_key = is_bare.then(|| PauseKey::listen(steering.clone()));
        Ok(Self {
            hardware,
            _pause_key: pause_key.flatten(),
            throttle,
            session,
            json,
        })
    }

    /// The job for a board that the settings ask for. The engine is chosen now.
    ///
    /// # Errors
    /// Devices were asked for, and do not count the board.
    pub fn job(&self, board: GivenBoard) -> Result<Job, Failure> {
        let unique = self.config().run.unique;
        match self.config().run.engine {
            Some(engine) => Ok(Job::of(plan(engine, board)).unique(unique)),
            None => {
                let engine = self.hardware.choose_engine(board)?;
                let job = Job::of(plan(engine, board)).unique(unique);
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
        let Some(time) = too_long.filter(|_| self.config().run.time_limit.is_none()) else {
            return Ok(());
        };
        Err(Failure::usage(format!(
            "{} takes about {} on {} by the costs of its plan, and nothing of it would be kept: give --dir DIR, with \
             which `queenfold resume DIR` goes on after a stop, and --shard I/K to divide it among machines; or --yes \
             to begin all the same. `queenfold estimate {}` counts a sample to tell more",
            job.board().in_words(),
            words::duration(time),
            words::several(self.hardware.workers as u64, "worker"),
            words::board_flags(&job.board())
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
            counted.map(result_json)
        });
        self.session.end(&run, known);
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
        if let Some(why) = unused.filter(|_| !self.config().output.quiet) {
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
                if let Some(note) = faulty_hardware(&counted.result) {
                    say(&note);
                }
                for note in device_shares(&counted.result).filter(|_| !self.config().output.quiet) {
                    say(&note);
                }
                Ok(Some(counted))
            }
            Err(RunDirectoryError::OneShard { shard, missing, .. }) => {
                let dir = run.directory.as_deref().unwrap_or(Path::new(""));
                if !self.config().output.quiet {
                    say(&complete_shard(dir, shard, &missing));
                }
                if self.json {
                    print_json(&shard_json(n, dir, shard, &missing))?;
                }
                Ok(None)
            }
            Err(error) => {
                let goes_on = run.directory.as_deref().map(continue_command);
                Err(self.failure(error, goes_on.as_deref()))
            }
        }
    }

    /// What counts.
    pub const fn hardware(&self) -> &Hardware {
        &self.hardware
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
        self.session.end(&run, counted.as_ref().map(|_| None));
        counted
    }

    /// Says how the workers spent a run of which there is a trace.
    fn say_profile(&self, n: Size, report: Option<&Report>) {
        if let Some(report) = report.filter(|_| self.config().trace.file.is_some()) {
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
        let run = noticed(&job, None);
        let counted = self.observed(&run, |how, hardware| job.settings(how).census_on(hardware));
        let counted =
            counted.and_then(|counted| counted.map_err(|error| self.failure(error.into(), None)));
        if let Ok(census) = &counted {
            self.say_profile(board.size(), Some(&census.report));
        }
        self.session.end(&run, counted.as_ref().map(|_| None));
        counted
    }

    /// Why a job has no result. If it was stopped: by whom, and which command goes on.
    fn failure(&self, error: RunDirectoryError, goes_on: Option<&str>) -> Failure {
        Failure::of_run(error, self.session.steering().stopped_by(), goes_on)
    }

    /// Shows a run while `count` counts it on the hardware of this machine.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn observed<T>(
        &self,
        run: &NoticedRun,
        count: impl FnOnce(RunSettings, &Hardware) -> T,
    ) -> Result<T, Failure> {
        self.session.run(run, |mut how| {
            how.observers.push(self.throttle.observer());
            count(how, &self.hardware)
        })
    }

    fn config(&self) -> &Config {
        self.session.config()
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
fn faulty_hardware(result: &JobResult) -> Option<String> {
    let report = &result.report;
    let names: Vec<_> = report
        .faulty
        .iter()
        .map(|of| of.worker.to_string())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "n = {}: {} faulty; what it counted was counted again, {} corrected, and the result \
             is right. Test this hardware before you use it again",
            result.outcome.n,
            match names.as_slice() {
                [one] => format!("{one} is"),
                names => format!("{} are", names.join(" and ")),
            },
            words::several(report.corrected, "count"),
        )
    })
}

/// What a result says of the devices that took part.
fn device_shares(result: &JobResult) -> impl Iterator<Item = String> {
    let report = &result.report;
    let devices = report.workers.iter().skip(result.workers);
    let counted = devices.filter(|device| device.tasks > 0);
    counted.map(|device| {
        format!(
            "n = {}: {} counted {}, {:.1} % of the work",
            result.outcome.n,
            device.counted_by_name(),
            words::several(device.tasks, "task"),
            100.0 * report.share_of(device),
        )
    })
}
