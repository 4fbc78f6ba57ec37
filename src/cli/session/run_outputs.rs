//! What the runs of a command write and show besides their results: `--events`, `--on-event`, `--metrics`, `--tui`, the
//! progress line, and what is kept in a run directory for `watch` and `report`.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value as Json;

use super::event_command::{EventCommand, NoticedRun};
use super::event_stream;
use super::metrics_file;
use super::progress::ProgressLine;
use super::repeating::Repeating;
use super::watched_run::WatchedRun;
use crate::actors::Observer;
use crate::cli::control::steering::Steering;
use crate::cli::dashboard::{OwnDashboard, Screen};
use crate::cli::exit::{Exit, Failure};
use crate::config::{Config, HumanDuration, OutputConfig, TraceConfig};
use crate::telemetry::EventFile;

/// These outputs, opened.
pub struct RunOutputs {
    output: OutputConfig,
    trace: TraceConfig,
    events: Option<EventFile>,
    on_event: Option<EventCommand>,
}

/// What shows a run while it goes on, and ends when this is dropped.
pub struct Beside {
    _dashboard: Option<OwnDashboard>,
    _line: Option<ProgressLine>,
    _metrics: Option<Repeating>,
    _watched: Option<WatchedRun>,
}

impl RunOutputs {
    /// Opens what the settings name.
    ///
    /// # Errors
    /// A file cannot be written, there is no such command, or no terminal for a dashboard.
    pub fn open(config: &Config) -> Result<Self, Failure> {
        let events = event_stream::open(config)?;
        let on_event = config.trace.on_event.0.as_ref();
        let on_event = on_event.map(EventCommand::new).transpose()?;
        check_dashboard(&config.output)?;
        Ok(Self {
            output: config.output.clone(),
            trace: config.trace.clone(),
            events,
            on_event,
        })
    }

    /// Who writes the events of a run, and gives notice of some of them.
    pub fn observers(&self, run: &NoticedRun) -> Vec<Arc<dyn Observer>> {
        let events = self.events.as_ref().map(EventFile::observer);
        let command = self.on_event.as_ref();
        let notices = command.map(|command| command.observer(run.clone()));
        events.into_iter().chain(notices).collect()
    }

    /// Shows a run that is steered from now on. The observers have to hear of it.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn show(
        &self,
        run: &NoticedRun,
        steering: &Steering,
    ) -> Result<(Beside, Vec<Arc<dyn Observer>>), Failure> {
        let directory = run.directory.as_deref();
        // Without either, nobody could see it.
        let watched = (directory.is_some() || self.output.tui)
            .then(|| WatchedRun::new(run.board, directory, steering))
            .transpose()?;
        let observers = watched.iter().flat_map(WatchedRun::observers).collect();
        let metrics = self.trace.metrics.0.as_deref();
        let metrics = metrics.map(|path: &Path| {
            metrics_file::keep(path, run.board, steering.control().clone())
                .map_err(|error| Failure::new(Exit::Error, error))
        });
        let beside = Beside {
            _dashboard: self.dashboard(watched.as_ref(), steering)?,
            _line: (!self.output.quiet && !self.output.tui).then(|| {
                let every = self.output.progress_every.0;
                let every = every.map(|HumanDuration(every)| every);
                ProgressLine::show(run.board.size(), steering.control().clone(), every)
            }),
            _metrics: metrics.transpose()?,
            _watched: watched,
        };
        Ok((beside, observers))
    }

    fn dashboard(
        &self,
        watched: Option<&WatchedRun>,
        steering: &Steering,
    ) -> Result<Option<OwnDashboard>, Failure> {
        let Some(watched) = watched.filter(|_| self.output.tui) else {
            return Ok(None);
        };
        OwnDashboard::show(watched.keeper(), steering.clone())
            .map(Some)
            .map_err(|error| Failure::new(Exit::Error, error))
    }

    /// Events of a run are written before its result is printed: both may go to standard output.
    pub fn flush(&self) {
        if let Some(events) = &self.events {
            events.flush();
        }
    }

    /// Gives notice of the end of a run to the command that the settings name.
    pub fn end(&self, run: &NoticedRun, end: Result<Option<Json>, &Failure>) {
        if let Some(command) = &self.on_event {
            command.end(run, end);
        }
    }
}

/// Checks that there can be a dashboard, if one is asked for.
fn check_dashboard(output: &OutputConfig) -> Result<(), Failure> {
    if !output.tui {
        return Ok(());
    }
    match Screen::missing() {
        None => Ok(()),
        Some(missing) => Err(Failure::usage(format!("--tui needs {missing}"))),
    }
}
