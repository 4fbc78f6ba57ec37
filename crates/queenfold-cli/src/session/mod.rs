//! What every command that counts shares: the log, the trace, signals, and what shows and writes its runs.

pub mod job_runner;
pub mod outputs;
mod progress_bar;
pub mod recount;
mod repeating;
mod throttle;

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Instant;

use serde_json::Value as Json;

use self::outputs::event_command::{EventCommand, NoticedRun};
use self::outputs::live_files::WatchedRun;
use self::outputs::output_files::TRACE;
use self::outputs::{event_stream, metrics_file, output_files};
use self::progress_bar::ProgressLine;
use crate::config::Config;
use crate::control::signals;
use crate::control::steering::Steering;
use crate::dashboard::{OwnDashboard, Screen};
use crate::exit::{Exit, Failure, SIGNAL};
use crate::telemetry::{self, EventFile, Lost, TraceFile};
use queenfold::actors::Control;
use queenfold::job::RunSettings;

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
        false => &config.trace.filter,
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
    events: Option<EventFile>,
    on_event: Option<EventCommand>,
    begun: Instant,
}

impl Session {
    /// Opens what the settings name, and listens for signals. Results are printed as `json` or tables.
    ///
    /// # Errors
    /// A file cannot be written, or is to be written for two purposes; there is no terminal for a dashboard; the system
    /// refuses signal handlers.
    pub fn begin(config: &Config, json: bool) -> Result<Self, Failure> {
        output_files::check(&config.trace)?;
        let trace = config.trace.file.as_deref().map(open_trace).transpose()?;
        let trace = start_log(config, trace)?;
        let events = event_stream::open(config.trace.events.as_deref(), json)?;
        let on_event = config.trace.on_event.as_deref();
        let on_event = on_event.map(EventCommand::new).transpose()?;
        let output = &config.output;
        if output.tui
            && let Some(missing) = Screen::missing()
        {
            return Err(Failure::usage(format!("--tui needs {missing}")));
        }
        // The dashboard shows whether the run is paused.
        let steering = Steering::new(Control::new(), !output.quiet && !output.tui, !output.quiet);
        let stopped = steering.clone();
        signals::listen(move || stopped.stop(SIGNAL), Some(steering.clone()))?;
        Ok(Self {
            config: config.clone(),
            steering,
            _trace: trace,
            events,
            on_event,
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
        let refused = |error: io::Error| Failure::new(Exit::Error, error);
        let (output, directory) = (&self.config.output, run.directory.as_deref());
        let control = || self.steering.control().clone();
        // Without either, nobody could see it.
        let watched = (directory.is_some() || output.tui)
            .then(|| WatchedRun::new(run.board, directory, &self.steering))
            .transpose()?;
        let metrics = self.config.trace.metrics.as_deref();
        let metrics = metrics.map(|path| metrics_file::keep(path, run.board, control()));
        let metrics = metrics.transpose().map_err(refused)?;
        let line = (!output.quiet && !output.tui)
            .then(|| ProgressLine::show(run.board.size(), control(), output.progress_every));
        let dashboard = watched.as_ref().filter(|_| output.tui);
        let dashboard = dashboard
            .map(|watched| OwnDashboard::show(watched.keeper(), self.steering.clone()))
            .transpose()
            .map_err(refused)?;
        let observers = watched.iter().flat_map(WatchedRun::observers);
        let observers = observers.chain(self.events.as_ref().map(EventFile::observer));
        let command = self.on_event.as_ref();
        let observers = observers.chain(command.map(|command| command.observer(run.clone())));
        let limit = self.config.run.time_limit;
        let counted = count(RunSettings {
            hardware: self.config.hardware(),
            tuning: self.config.tuning(),
            time_limit: limit.map(|all| all.saturating_sub(self.begun.elapsed())),
            control: control(),
            observers: observers.collect(),
        });
        // Before the result is printed: both may go to standard output.
        if let Some(events) = &self.events {
            events.flush();
        }
        drop((dashboard, line, metrics, watched));
        Ok(counted)
    }

    /// Gives notice of the end of a run to the command that the settings name.
    pub fn end(&self, run: &NoticedRun, end: Result<Option<Json>, &Failure>) {
        if let Some(command) = &self.on_event {
            command.end(run, end);
        }
    }
}
