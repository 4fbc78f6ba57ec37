use std::sync::Arc;
use std::time::Instant;

use tracing::info;

use super::engines;
use super::exit::{Exit, Failure};
use super::gpus::Gpus;
use super::keys::Keys;
use super::pause::Pause;
use super::progress::Line;
use super::signals::Stop;
use super::usage::say;
use super::weigh::{self, Hardware};
use crate::actors::{self, Control, Recorder, Report, RunError, RunSpec};
use crate::board::Size;
use crate::config::{Config, RunConfig, Span};
use crate::engine::{CounterSettings, Engine, Plan};
use crate::machine::Machine;
use crate::telemetry::{self, TraceFile};

/// What the runs of one command share: settings, resolved for this machine, the signals, and the
/// time limit, which holds for all of them together.
pub struct Session {
    /// What each worker's counter may use.
    pub counter: CounterSettings,
    /// CPU workers.
    pub workers: usize,
    gpus: Gpus,
    config: Config,
    control: Control,
    stop: Stop,
    _keys: Option<Keys>,
    trace: Option<TraceFile>,
    start: Instant,
}

impl Session {
    /// Resolves `config` and listens for signals.
    ///
    /// # Errors
    /// The instruction set or device asked for is not available; the trace file cannot be written; the system refuses signal handlers.
    pub fn new(config: &Config) -> Result<Self, Failure> {
        let machine = Machine::detect();
        let counter = counter_settings(&config.run, &machine)?;
        let workers = config.run.workers(&machine);
        let gpus = Gpus::find(config, workers)?;
        // Warnings are notes.
        let filter = if config.output.quiet {
            "error"
        } else {
            &config.trace.filter.0
        };
        let trace = telemetry::start(filter, config.trace.file.0.as_deref())
            .map_err(|error| Failure::new(Exit::Error, error))?;
        if let Some(missing) = gpus.missing() {
            info!("{missing}");
        }
        let control = Control::new();
        #[cfg(feature = "fault-injection")]
        inject_faults(&control)?;
        let pause = Pause::new(control.clone(), config.output.quiet);
        let stop =
            Stop::listen(control.clone(), pause.clone(), config.output.quiet).map_err(|error| {
                Failure::new(Exit::Error, format!("cannot listen for signals: {error}"))
            })?;
        Ok(Self {
            counter,
            workers,
            gpus,
            config: config.clone(),
            control,
            stop,
            _keys: (!config.output.quiet)
                .then(|| Keys::listen(pause))
                .flatten(),
            trace,
            start: Instant::now(),
        })
    }

    /// The engine for board `n`: the one asked for, or the fastest on this hardware, which is said
    /// where devices make it a question.
    ///
    /// # Errors
    /// Devices were asked for, and do not count the board.
    pub fn engine(&self, n: Size) -> Result<Engine, Failure> {
        let on_cpu = engines::choose(self.config.run.engine, n, self.counter.isa);
        if self.config.run.engine.0.is_some() {
            return Ok(on_cpu);
        }
        let hardware = Hardware {
            workers: self.workers,
            isa: self.counter.isa,
            devices: self.gpus.for_board(n, self.workers)?,
            found: self.gpus.are_found(),
        };
        let (engine, said) = weigh::choose(n, on_cpu, &hardware);
        if let Some(said) = said.filter(|_| !self.config.output.quiet) {
            say(&said);
        }
        Ok(engine)
    }

    /// What the makers of the devices call those that take part in a run of `plans`.
    ///
    /// # Errors
    /// Devices were asked for, and do not count the board.
    pub fn device_names(&self, plans: &[Arc<dyn Plan>]) -> Result<Vec<String>, Failure> {
        let devices = self.gpus.for_plans(plans, self.workers)?;
        Ok(devices.iter().map(|device| device.name.clone()).collect())
    }

    /// Runs the plans for board `n` to the end.
    ///
    /// # Errors
    /// It was stopped before the end, or it failed: no result.
    pub fn count(&self, n: Size, plans: Vec<Arc<dyn Plan>>) -> Result<Report, Failure> {
        let report = self.advance(n, plans, None)?;
        if report.finished {
            Ok(report)
        } else {
            Err(Failure::new(
                Exit::Stopped,
                format!("{}; nothing is kept", self.stopped(n, &report)),
            ))
        }
    }

    /// Runs the plans for board `n` to the end, or until something stops it. What `recorder` has
    /// is not counted again.
    ///
    /// # Errors
    /// It failed.
    pub fn advance(
        &self,
        n: Size,
        plans: Vec<Arc<dyn Plan>>,
        recorder: Option<Arc<dyn Recorder>>,
    ) -> Result<Report, Failure> {
        let limit = self.config.run.time_limit.0;
        let spec = RunSpec {
            plans,
            workers: self.workers,
            counter: self.counter.clone(),
            queue_per_worker: self.config.run.queue_per_worker.0,
            batch_time: self.config.run.batch_time.0,
            audit: self.config.run.audit.0,
            recorder,
            time_limit: limit.map(|Span(limit)| limit.saturating_sub(self.start.elapsed())),
        };
        let line = (!self.config.output.quiet).then(|| Line::show(n, self.control.clone()));
        let devices = self.gpus.for_plans(&spec.plans, self.workers)?;
        let report = actors::run_on(&spec, devices, &self.control);
        drop(line);
        let report = report.map_err(|error| match error {
            RunError::Mismatch { .. } => Failure::new(Exit::Mismatch, error),
            RunError::TaskFailed { .. } | RunError::Recorder(_) | RunError::Runtime(_) => {
                Failure::new(Exit::Error, error)
            }
        })?;
        if self.config.output.profile {
            say(telemetry::profile(&report).trim_end());
        }
        Ok(report)
    }

    /// The resolved configuration, as ledgers keep it.
    ///
    /// # Errors
    /// Never for a configuration that was read.
    pub fn config_text(&self) -> Result<String, Failure> {
        toml::to_string(&self.config).map_err(|error| Failure::new(Exit::Error, error))
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// Something of it could not be written.
    pub fn finish(self) -> Result<(), Failure> {
        let done = self.trace.map_or(Ok(()), TraceFile::finish);
        done.map_err(|error| Failure::new(Exit::Error, format!("cannot write the trace: {error}")))
    }

    /// What stopped a run before its end, and how far it was.
    pub fn stopped(&self, n: Size, report: &Report) -> String {
        let why = if self.stop.is_asked() {
            "a signal"
        } else {
            "the time limit"
        };
        format!(
            "stopped by {why} after {}, with {} of {} tasks of n = {n} counted",
            telemetry::duration(report.elapsed),
            report.tasks_done,
            report.tasks_total
        )
    }
}

/// What the counters of CPU workers may use.
///
/// # Errors
/// The instruction set asked for is not available.
pub fn counter_settings(run: &RunConfig, machine: &Machine) -> Result<CounterSettings, Failure> {
    let isa = run.isa();
    if !isa.is_available() {
        return Err(Failure::new(
            Exit::Unavailable,
            format!("this machine has no {isa}; `queenfold devices` shows what it has"),
        ));
    }
    Ok(CounterSettings {
        isa,
        memory: run.memory_per_worker(machine).0,
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
