//! The table of all settings. A new one is an entry here: its documentation, whose first paragraph is the help of its flag and
//! all of which stands in `config/default.toml` and in the reference; its name and type; its default; its parser, with the
//! limits; and its flag, if it has one.

use std::path::PathBuf;
use std::time::Duration;

use super::Hours;
use super::hours::hours;
use super::lists::{Gpus, gpus};
use super::paths::{command, file, file_or_stream};
use super::setting::Takes::{Switch, Value};
use super::setting::{Setting, flag, settings};
use super::units::{duration, share};
use super::value::{engine, log_filter, named, switch, whole};
use queenfold::engine::Engine;
use queenfold::job::{HardwareSettings, Tuning, limits};
use queenfold::machine::Machine;
use queenfold::simd::Isa;

settings! {
    /// What is counted, how, and on what.
    run: RunConfig {
        /// The engine; `auto` chooses the fastest for the board.
        engine: Option<Engine> = None, engine().or("auto"), flag("--engine", Value("ENGINE"));

        /// Instruction set to count with; `auto` chooses the widest that this machine has.
        isa: Option<Isa> = None, named(Isa::ALL, Isa::name, &[]).or("auto"), flag("--isa", Value("ISA"));

        /// CPU workers; `auto`: one for each core that the process may use. 0: devices count alone, and one worker only
        /// the census, audits and rechecks.
        ///
        /// CPU affinity, cgroup limits and what a scheduler granted count.
        workers: Option<usize> = None, whole(limits::WORKERS).or("auto"), flag("--workers", Value("K"));

        /// GPUs that count with the CPU workers: `auto` (every one), `off`, `cuda` (every one, and fail if there is none), or
        /// their numbers, such as `0,2`.
        ///
        /// `auto` opens them for boards that take as long as 16 queens.
        gpu: Gpus = Gpus::default(), gpus(), flag("--gpu", Value("WHICH"));

        /// Count the solutions up to rotation and reflection, too.
        ///
        /// It costs little, because only the symmetric solutions are counted for it.
        unique: bool = true, switch(), flag("--unique", Switch("--no-unique"));

        /// Stop after this time, such as `90` (seconds), `10m` or `1h 30m`, or `none`; only a run directory keeps what
        /// was counted.
        time_limit: Option<Duration> = None, duration().or("none"), flag("--time-limit", Value("D"));

        /// Count in this part of each day only, such as `22:00-07:00` (local time), and pause otherwise; or `none`.
        during: Option<Hours> = None, hours().or("none"), flag("--during", Value("HOURS"));

        /// Pause while a processor or GPU is hotter than this, in °C, or `none`.
        ///
        /// The run goes on when it is 5 °C cooler.
        max_temp: Option<u32> = None, whole(30..=120).or("none"), flag("--max-temp", Value("C"));

        /// Stand back behind other processes, 0 to 19: the nice value of Unix.
        nice: i32 = 0, whole(0..=19), flag("--nice", Value("N"));

        /// The share of the tasks that another kernel counts a second time before they are recorded.
        ///
        /// Another worker counts them if there is one, and if the counts differ, a third one decides. The second
        /// counts take at most eight times this share of the counting time; 1 counts everything twice, without this
        /// bound. Where no count is known (n > 27, and given boards), everything is counted twice while this takes each
        /// worker at most a minute, unless the share is 0.
        audit: f64 = Tuning::default().audit, share(), None;

        /// How often each worker and device counts its canary, small tasks whose counts are known.
        ///
        /// It also does so at the start and at the end. One that counts them wrongly is faulty: it counts nothing more,
        /// and what it counted since the last time is counted again. `none`: never.
        canary: Option<Duration> = Tuning::default().canary, duration().or("none"), None;
    }

    /// What is printed.
    output: OutputConfig {
        /// Print no progress and no notes, only errors.
        quiet: bool = false, switch(), flag("--quiet", Switch("--no-quiet"));

        /// Show a dashboard on the whole terminal instead of the progress line.
        tui: bool = false, switch(), flag("--tui", Switch("--no-tui"));

        /// How often to print the progress line where stderr is no terminal, so that a log shows that the run lives; or `none`.
        progress_every: Option<Duration> = Some(Duration::from_secs(3600)), duration().or("none"), flag("--progress-every", Value("D"));
    }

    /// What is recorded about the run itself.
    trace: TraceConfig {
        /// Record what each actor does in a file for Perfetto (Trace Event JSON), or `none`; at the end of each run, how each
        /// worker spent its time is printed on stderr.
        ///
        /// The file is overwritten.
        file: Option<PathBuf> = None, file().or("none"), flag("--trace", Value("FILE"));

        /// Write every event of the run as a line of JSON at the end of a file; `-` for stdout, with --json.
        ///
        /// docs/REFERENCE.md lists the events.
        events: Option<PathBuf> = None, file_or_stream().or("none"), flag("--events", Value("FILE|-"));

        /// Keep a file that says how far the run is, for Prometheus (textfile collector), or `none`.
        ///
        /// It is replaced every five seconds.
        metrics: Option<PathBuf> = None, file().or("none"), flag("--metrics", Value("FILE"));

        /// Let a shell run this command when the run is done, stops or fails, a count is wrong, or a device is lost; it
        /// reads what happened as JSON.
        on_event: Option<String> = None, command().or("none"), flag("--on-event", Value("CMD"));

        /// Which log lines go to stderr, as levels and targets like those of `RUST_LOG`.
        filter: String = "warn".to_owned(), log_filter(), None;
    }
}

impl Config {
    /// What the settings say about hardware, for a job.
    pub fn hardware(&self) -> HardwareSettings {
        let run = &self.run;
        HardwareSettings {
            isa: run.isa,
            workers: run.workers,
            devices: run.gpu.choice,
            device_indices: run.gpu.numbers.clone(),
        }
    }

    /// What the settings say about the runtime, for a job.
    pub fn tuning(&self) -> Tuning {
        Tuning {
            audit: self.run.audit,
            canary: self.run.canary,
        }
    }
}

impl RunConfig {
    /// The instruction set to use. A set that was asked for by name may not be available.
    pub fn isa(&self) -> Isa {
        self.isa.unwrap_or_else(Isa::best)
    }

    /// The number of CPU workers.
    pub fn workers(&self, machine: &Machine) -> usize {
        self.workers.unwrap_or(machine.cores)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_the_program_has_the_defaults_of_one_of_the_library() {
        let config = Config::default();
        assert_eq!(config.hardware(), HardwareSettings::default());
        assert_eq!(config.tuning(), Tuning::default());
    }
}
