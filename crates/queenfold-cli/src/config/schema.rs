//! Every setting with its default. A new key of the configuration is a field here: the first paragraph of its
//! documentation is the help of its flag, all of it stands in `config/default.toml` and in the reference.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::setting::{Setting, section};
use super::value::text;
use super::{
    Auto, CommandLine, FileOrStream, Hours, HumanDuration, Indices, LogFilter, Optional, Share,
    Sizes, SquareNames, Whole,
};
use queenfold::engine::Engine;
use queenfold::job::{DeviceChoice, HardwareSettings, Tuning, limits};
use queenfold::machine::Machine;
use queenfold::simd::Isa;

/// A number of CPU workers.
pub type Workers = Whole<{ *limits::WORKERS.start() }, { *limits::WORKERS.end() }>;

/// Every setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What is counted, how, and on what.
    pub run: RunConfig,
    /// What is printed.
    pub output: OutputConfig,
    /// What is recorded about the run itself.
    pub trace: TraceConfig,
}

section! {
    /// What is counted, how, and on what.
    RunConfig "run" {
        /// Board sizes, 1 to 32: one, or ranges and lists of them, such as `4..=14` or `8,10,12`; both ends are included.
        ///
        /// `none`: the command line must name it.
        n: Optional<Sizes> = Optional(None),

        /// Queens that are given, such as `c3,a7`, and that every solution keeps: column a is at the left, row 1 at the
        /// bottom, as in chess.
        queens: Optional<SquareNames> = Optional(None),

        /// Squares on which no queen may stand, such as `d4,e5`; queens attack across them.
        holes: Optional<SquareNames> = Optional(None),

        /// A picture of the board in a file, or on standard input (`-`): a line for each row, the top row first, of
        /// `.` (empty), `Q` (a given queen) and `#` (a hole).
        ///
        /// It takes the place of `n`, `queens` and `holes`.
        board: Optional<FileOrStream> = Optional(None),

        /// The engine; `auto` chooses the fastest for the board.
        engine: Auto<Engine> = Auto(None),

        /// Instruction set to count with; `auto` chooses the widest that this machine has.
        isa: Auto<Isa> = Auto(None),

        /// CPU workers; `auto`: one for each core that the process may use. 0: devices count alone, and one worker only
        /// the census, audits and rechecks.
        ///
        /// CPU affinity, cgroup limits and what a scheduler granted count.
        workers: Auto<Workers> = Auto(None),

        /// Devices that count with the CPU workers: `auto` (every GPU), `off`, or `cuda`.
        ///
        /// `auto` opens them for boards that take as long as 16 queens, `cuda` fails if there is none.
        gpu: DeviceChoice = DeviceChoice::Auto,

        /// The numbers of the devices that take part, such as `0,2`, or `auto` (all).
        device: Auto<Indices> = Auto(None),

        /// Count the solutions up to rotation and reflection, too.
        ///
        /// It costs little, because only the symmetric solutions are counted for it.
        unique: bool = true,

        /// Stop after this time, such as `90` (seconds), `10m` or `1h 30m`, or `none`; only a run directory keeps what
        /// was counted.
        time_limit: Optional<HumanDuration> = Optional(None),

        /// Count in this part of each day only, such as `22:00-07:00` (local time), and pause otherwise; or `none`.
        during: Optional<Hours> = Optional(None),

        /// Pause while a processor or GPU is hotter than this, in °C, or `none`.
        ///
        /// The run goes on when it is 5 °C cooler.
        max_temp: Optional<Whole<30, 120>> = Optional(None),

        /// Stand back behind other processes, 0 to 19: the nice value of Unix.
        nice: Whole<0, 19> = Whole(0),

        /// The share of the tasks that another kernel counts a second time before they are recorded.
        ///
        /// Another worker counts them if there is one, and if the counts differ, a third one decides. The second
        /// counts take at most eight times this share of the counting time; 1 counts everything twice, without this
        /// bound. Where no count is known (n > 27, and given boards), everything is counted twice while this takes each
        /// worker at most a minute, unless the share is 0.
        audit: Share = Share(Tuning::default().audit),

        /// How often each worker and device counts its canary, small tasks whose counts are known.
        ///
        /// It also does so at the start and at the end. One that counts them wrongly is faulty: it counts nothing more,
        /// and what it counted since the last time is counted again. `none`: never.
        canary: Optional<HumanDuration> = Optional(Tuning::default().canary.map(HumanDuration)),
    }
}

impl Config {
    /// Every setting, in the order of the fields.
    pub fn settings() -> impl Iterator<Item = &'static Setting> {
        let sections = [
            RunConfig::SETTINGS,
            OutputConfig::SETTINGS,
            TraceConfig::SETTINGS,
        ];
        sections.into_iter().flatten()
    }

    /// What the settings say about hardware, for a job.
    pub fn hardware(&self) -> HardwareSettings {
        let run = &self.run;
        HardwareSettings {
            isa: run.isa.0,
            workers: run.workers.0.map(|workers| workers.0),
            devices: run.gpu,
            device_indices: run.device.0.as_ref().map(|indices| indices.0.clone()),
        }
    }

    /// What the settings say about the runtime, for a job.
    pub fn tuning(&self) -> Tuning {
        Tuning {
            audit: self.run.audit.0,
            canary: self.run.canary.0.map(|every| every.0),
        }
    }
}

impl RunConfig {
    /// The instruction set to use. A set that was asked for by name may not be available.
    pub fn isa(&self) -> Isa {
        self.isa.0.unwrap_or_else(Isa::best)
    }

    /// The number of CPU workers.
    pub fn workers(&self, machine: &Machine) -> usize {
        self.workers.0.map_or(machine.cores, |workers| workers.0)
    }
}

section! {
    /// What is printed.
    OutputConfig "output" {
        /// Print results as JSON, one object on each line, instead of a table.
        json: bool = false,

        /// Print no progress and no notes, only errors.
        quiet: bool = false,

        /// At the end of each run, print on stderr how each worker spent its time.
        profile: bool = false,

        /// Show a dashboard on the whole terminal instead of the progress line.
        tui: bool = false,

        /// How often to print the progress line where stderr is no terminal, so that a log shows that the run lives; or `none`.
        progress_every: Optional<HumanDuration> = Optional(Some(HumanDuration(Duration::from_secs(3600)))),
    }
}

section! {
    /// What is recorded about the run itself.
    TraceConfig "trace" {
        /// Record what each actor does in a file for Perfetto (Trace Event JSON), or `none`.
        ///
        /// The file is overwritten.
        file: Optional<PathBuf> = Optional(None),

        /// Write every event of the run as a line of JSON at the end of a file; `-` for stdout, with --json.
        ///
        /// docs/EVENTS.md lists the events.
        events: Optional<FileOrStream> = Optional(None),

        /// Keep a file that says how far the run is, for Prometheus (textfile collector), or `none`.
        ///
        /// It is replaced every five seconds.
        metrics: Optional<PathBuf> = Optional(None),

        /// Let a shell run this command when the run is done, stops or fails, a count is wrong, or a device is lost; it
        /// reads what happened as JSON.
        on_event: Optional<CommandLine> = Optional(None),

        /// Which log lines go to stderr, as levels and targets like those of `RUST_LOG`.
        filter: LogFilter = LogFilter::default(),
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
