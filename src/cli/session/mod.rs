//! What every command that counts shares: the log, the trace, signals, and what shows and writes its runs.

pub mod event_command;
mod event_stream;
pub mod job_runner;
mod metrics_file;
mod output_files;
mod progress;
pub mod recount;
mod repeating;
mod run_outputs;
mod throttle;
mod watched_run;

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use serde_json::Value as Json;

use self::event_command::NoticedRun;
use self::output_files::TRACE;
use self::run_outputs::RunOutputs;
use crate::actors::Control;
use crate::cli::control::signals;
use crate::cli::control::steering::{Says, Steering};
use crate::cli::exit::{Exit, Failure, SIGNAL};
use crate::config::{Config, HumanDuration};
use crate::job::RunSettings;
use crate::telemetry::{self, Lost, TraceFile};

/// Starts the log on standard error as the settings want it, with a trace if there is a file for it.
///
/// # Errors
/// It was started before.
pub fn start_log(
    config: &Config,
    trace: Option<(File, Lost)>,
) -> Result<Option<TraceFile>, Failure> {
    // Warnings are notes.
    let filter = match config.output.quiet {
        true => "error",
        false => &config.trace.filter.0,
    };
    telemetry::start(filter, trace).map_err(|error| Failure::new(Exit::Error, error))
}

/// Opens the trace, and tells if it can no longer be written.
fn open_trace(path: &Path) -> Result<(File, Lost), Failure> {
    let file = TRACE.begin(path);
    let file = file.map_err(|error| Failure::of_file("trace file", path, &error))?;
    let name = path.display().to_string();
    let lost = move |error| output_files::lost("the trace", &name, &error);
    Ok((file, Box::new(lost)))
}

/// The runs of one command, with a time limit that holds for all of them together.
pub struct Session {
    config: Config,
    steering: Steering,
    _trace: Option<TraceFile>,
    outputs: RunOutputs,
    begun: Instant,
}

impl Session {
    /// Opens what the settings name, and listens for signals, which say `says`.
    ///
    /// # Errors
    /// A file cannot be written, or is to be written for two purposes; the system refuses signal handlers.
    pub fn begin(config: &Config, says: Says) -> Result<Self, Failure> {
        output_files::check(&config.trace)?;
        let trace = config.trace.file.0.as_deref().map(open_trace).transpose()?;
        let trace = start_log(config, trace)?;
        let outputs = RunOutputs::open(config)?;
        let steering = Steering::new(Control::new(), says);
        let stopped = steering.clone();
        signals::listen(move || stopped.stop(SIGNAL), Some(steering.clone()))?;
        Ok(Self {
            config: config.clone(),
            steering,
            _trace: trace,
            outputs,
            begun: Instant::now(),
        })
    }

    /// The settings.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What pauses and stops the runs.
    pub const fn steering(&self) -> &Steering {
        &self.steering
    }

    /// Shows a run while `count` counts it with the settings that it gets.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn run<T>(
        &self,
        run: &NoticedRun,
        count: impl FnOnce(RunSettings) -> T,
    ) -> Result<T, Failure> {
        let (beside, mut observers) = self.outputs.show(run, &self.steering)?;
        observers.extend(self.outputs.observers(run));
        let limit = self.config.run.time_limit.0;
        let counted = count(RunSettings {
            hardware: self.config.hardware(),
            tuning: self.config.tuning(),
            time_limit: limit.map(|HumanDuration(all)| all.saturating_sub(self.begun.elapsed())),
            control: self.steering.control().clone(),
            observers,
        });
        self.outputs.flush();
        drop(beside);
        Ok(counted)
    }

    /// Gives notice of the end of a run.
    pub fn end(&self, run: &NoticedRun, end: Result<Option<Json>, &Failure>) {
        self.outputs.end(run, end);
    }
}
