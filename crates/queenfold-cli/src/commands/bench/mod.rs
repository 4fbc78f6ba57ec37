//! Measurements on the user's machine.

mod cpu;
mod cpu_report;
mod draft;
mod gpu;
mod report;

use std::time::Duration;

use crate::args::flags::sources;
use crate::config::{duration, named, whole};
use crate::exit::Failure;
use crate::session::start_log;
use queenfold::simd::Isa;

const HELP: &str = "\
Without a flag, the command counts fixed boards with one worker and with all, up to three times each, by each kernel of \
this processor but `portable`, for 30 seconds at most. It prints the best times, how far the worst was from \
them, and one number to compare machines by: how many boards of 19 queens this one counts in an hour, by \
the widest kernel. If --for is too short for that board, it is about what the time of 18 queens shows. Where other programs \
had 5 % of the processors or the host took 2 %, it is by CPU time, and not comparable with one of an idle machine. \
Otherwise there is a line for the table of machines in docs/RECORDS.md. \
Ctrl-C prints what is measured by then.";

fn help() -> String {
    format!(
        "Examples:\n  queenfold bench\n  queenfold bench --isa avx2,portable --for 2m --json\n  \
         queenfold bench --gpu --json\n\n{HELP}"
    )
}

/// Flags of `bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = help())]
pub struct Args {
    /// The kernels to measure, with commas between them; all of this processor but `portable` unless given
    #[arg(long, value_name = "ISA", value_delimiter = ',', value_parser = named(Isa::ALL, Isa::name, &[]), conflicts_with = "gpu")]
    isa: Vec<Isa>,

    /// Measure the GPU of this number, or the first one: kernel times, how busy it is, exact totals, and runs mixed with CPU
    /// workers
    #[arg(long, value_name = "INDEX", num_args = 0..=1, default_missing_value = "0", value_parser = whole(0..=63usize))]
    gpu: Option<usize>,

    /// How long the benchmark may take; with --gpu, boards of up to 22 queens are begun until then
    #[arg(long = "for", value_name = "TIME", value_parser = duration(), allow_hyphen_values = true)]
    budget: Option<Duration>,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Measures what was asked for.
pub fn run(args: &Args) -> Result<(), Failure> {
    start_log(sources(None).map_err(Failure::usage)?.config(), None)?;
    match args.gpu {
        Some(index) => gpu::run(index, args.budget, args.json),
        None => cpu::run(&args.isa, args.budget, args.json),
    }
}
