//! Every setting with its default: a new key of the configuration is a field here.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::value::text;
use super::{
    Auto, BlockThreads, CommandLine, FileOrStream, Hours, HumanDuration, Indices, LogFilter,
    Optional, Share, Sizes, SquareNames, Whole,
};
use crate::engine::Engine;
use crate::job::{DeviceChoice, DeviceSettings, HardwareSettings, Tuning, limits};
use crate::machine::Machine;
use crate::simd::Isa;

/// A number of CPU workers.
pub type Workers = Whole<{ *limits::WORKERS.start() }, { *limits::WORKERS.end() }>;

/// Every setting. `config/default.toml` lists the same keys with their defaults, which a test compares.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// What is counted, how, and on what.
    pub run: RunConfig,
    /// How GPUs are used.
    pub gpu: GpuConfig,
    /// What is printed.
    pub output: OutputConfig,
    /// What is recorded about the run itself.
    pub trace: TraceConfig,
}

/// What is counted, how, and on what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The board size, or a range `A..=B` of them; `none`: the command line must name it. 1 to 32.
    #[serde(with = "text")]
    pub n: Optional<Sizes>,
    /// Queens that are given on the board: only the solutions that have them are counted.
    #[serde(with = "text")]
    pub queens: Optional<SquareNames>,
    /// Holes, on which no queen may stand.
    #[serde(with = "text")]
    pub holes: Optional<SquareNames>,
    /// A picture of the board and of what is given, in a file or (`-`) on standard input, in place of `n`, `queens` and `holes`.
    #[serde(with = "text")]
    pub board: Optional<FileOrStream>,
    /// The engine; `auto` chooses the fastest for the board.
    #[serde(with = "text")]
    pub engine: Auto<Engine>,
    /// The instruction set; `auto` chooses the widest that this machine has.
    #[serde(with = "text")]
    pub isa: Auto<Isa>,
    /// CPU workers, 0 to 1024; 0 needs a device. `auto` takes one for each core that the process may
    /// use: CPU affinity, cgroup limits and what a scheduler granted are respected.
    #[serde(with = "text")]
    pub workers: Auto<Workers>,
    /// Which devices take part. `auto`: every GPU, for boards that take as long as 16 queens. `off`: none.
    /// `cuda`: every GPU, and an error if there is none. `emulated`: one made of host threads.
    #[serde(with = "text")]
    pub gpu: DeviceChoice,
    /// The numbers of the devices that take part, such as `0,2`; `auto` takes all.
    #[serde(with = "text")]
    pub device: Auto<Indices>,
    /// Whether to count the solutions that differ by more than a rotation or reflection, too.
    #[serde(with = "text")]
    pub unique: bool,
    /// Stop after this time; only a run directory keeps what was counted.
    #[serde(with = "text")]
    pub time_limit: Optional<HumanDuration>,
    /// Count in this part of each day only, and pause otherwise; local time.
    #[serde(with = "text")]
    pub during: Optional<Hours>,
    /// Pause while a processor or GPU is hotter than this, in °C, 30 to 120, until it is 5 °C cooler.
    #[serde(with = "text")]
    pub max_temp: Optional<Whole<30, 120>>,
    /// How much the run stands back behind other processes, 0 to 19: the nice value of Unix.
    #[serde(with = "text")]
    pub nice: Whole<0, 19>,
    /// How many batches may wait in the queue for each worker, 1 to 64.
    #[serde(with = "text")]
    pub queue_per_worker:
        Whole<{ *limits::QUEUE_PER_WORKER.start() }, { *limits::QUEUE_PER_WORKER.end() }>,
    /// How long a batch should keep a worker busy.
    #[serde(with = "text")]
    pub batch_time: HumanDuration,
    /// The share of the tasks that another kernel counts a second time before they are recorded.
    #[serde(with = "text")]
    pub audit: Share,
    /// How often each worker and device counts its canary, besides the start and the end of the run.
    #[serde(with = "text")]
    pub canary: Optional<HumanDuration>,
}

/// Numbers are those of a [job](crate::job::Job) without settings.
impl Default for RunConfig {
    fn default() -> Self {
        let Tuning {
            queue_per_worker,
            batch_time,
            audit,
            canary,
        } = Tuning::default();
        Self {
            n: Optional(None),
            queens: Optional(None),
            holes: Optional(None),
            board: Optional(None),
            engine: Auto(None),
            isa: Auto(None),
            workers: Auto(None),
            gpu: DeviceChoice::Auto,
            device: Auto(None),
            unique: true,
            time_limit: Optional(None),
            during: Optional(None),
            max_temp: Optional(None),
            nice: Whole(0),
            queue_per_worker: Whole(queue_per_worker),
            batch_time: HumanDuration(batch_time),
            audit: Share(audit),
            canary: Optional(canary.map(HumanDuration)),
        }
    }
}

impl Config {
    /// What the settings say about hardware, for a job.
    pub fn hardware(&self) -> HardwareSettings {
        let (run, gpu) = (&self.run, &self.gpu);
        HardwareSettings {
            isa: run.isa.0,
            workers: run.workers.0.map(|workers| workers.0),
            devices: run.gpu,
            device_indices: run.device.0.as_ref().map(|indices| indices.0.clone()),
            device: DeviceSettings {
                block: gpu.block.0,
                streams: gpu.streams.0,
                slots_per_stream: gpu.slots.0,
                batch_time: Duration::from_millis(gpu.batch_ms.0 as u64),
                helper: std::env::current_exe().ok(),
            },
        }
    }

    /// What the settings say about the runtime, for a job.
    pub fn tuning(&self) -> Tuning {
        Tuning {
            queue_per_worker: self.run.queue_per_worker.0,
            batch_time: self.run.batch_time.0,
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

/// How GPUs are used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GpuConfig {
    /// Threads per block: a multiple of 32, 32 to 256.
    #[serde(with = "text")]
    pub block: BlockThreads,
    /// Streams, 1 to 4: launches of different streams overlap.
    #[serde(with = "text")]
    pub streams: Whole<{ *limits::STREAMS.start() }, { *limits::STREAMS.end() }>,
    /// Launches that each stream holds, 1 to 4.
    #[serde(with = "text")]
    pub slots: Whole<{ *limits::SLOTS_PER_STREAM.start() }, { *limits::SLOTS_PER_STREAM.end() }>,
    /// How long a launch should take, in milliseconds, 50 to 5000.
    #[serde(with = "text")]
    pub batch_ms: Whole<{ *limits::LAUNCH_MILLIS.start() }, { *limits::LAUNCH_MILLIS.end() }>,
}

impl Default for GpuConfig {
    fn default() -> Self {
        let device = DeviceSettings::default();
        Self {
            block: BlockThreads(device.block),
            streams: Whole(device.streams),
            slots: Whole(device.slots_per_stream),
            batch_ms: Whole(device.batch_time.as_millis() as usize),
        }
    }
}

/// What is printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputConfig {
    /// Results as JSON, one object on each line, instead of a table.
    #[serde(with = "text")]
    pub json: bool,
    /// Results as comma-separated values under a line of names, instead of a table.
    #[serde(with = "text")]
    pub csv: bool,
    /// No progress line and no notes; errors are still reported.
    #[serde(with = "text")]
    pub quiet: bool,
    /// At the end of each run, print on stderr how every worker spent its time.
    #[serde(with = "text")]
    pub profile: bool,
    /// A dashboard of the whole terminal instead of the progress line.
    #[serde(with = "text")]
    pub tui: bool,
    /// How often the progress line is printed where stderr is no terminal.
    #[serde(with = "text")]
    pub progress_every: Optional<HumanDuration>,
}

impl Default for OutputConfig {
    fn default() -> Self {
        Self {
            json: false,
            csv: false,
            quiet: false,
            profile: false,
            tui: false,
            progress_every: Optional(Some(HumanDuration(Duration::from_secs(3600)))),
        }
    }
}

/// What is recorded about the run itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// A file for Trace Event JSON, which Perfetto opens. An existing file is overwritten.
    #[serde(with = "text")]
    pub file: Optional<PathBuf>,
    /// Where every event of the run is written as a line of JSON: at the end of a file, or `-` for standard
    /// output, which needs [`json`](OutputConfig::json).
    #[serde(with = "text")]
    pub events: Optional<FileOrStream>,
    /// A file that says how far the run is in the text format of Prometheus, replaced every five seconds.
    #[serde(with = "text")]
    pub metrics: Optional<PathBuf>,
    /// A command that is run when the run is done, stops or fails, when a count is wrong, and when a device is
    /// lost.
    #[serde(with = "text")]
    pub on_event: Optional<CommandLine>,
    /// Which log lines go to stderr, as levels and targets like those of `RUST_LOG`.
    #[serde(with = "text")]
    pub filter: LogFilter,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_of_the_program_has_the_defaults_of_one_of_the_library() {
        let config = Config::default();
        let mut hardware = config.hardware();
        // The program itself compiles kernels; a library has none.
        hardware.device.helper = None;
        assert_eq!(hardware, HardwareSettings::default());
        assert_eq!(config.tuning(), Tuning::default());
    }
}
