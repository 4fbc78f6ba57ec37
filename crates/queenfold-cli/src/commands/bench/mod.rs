//! Measurements on the user's machine.

mod cpu;
mod cpu_report;
mod draft;
mod gpu;
mod report;

use crate::args::flags::sources;
use crate::exit::Failure;
use crate::session::start_log;

const HELP: &str = "\
Without a flag, the command counts fixed boards with one worker and with all, three times each, by each kernel of \
this processor but `portable`, for 30 seconds at most. It prints the best times, how far the worst was from \
them, and one number to compare machines by: how many boards of 19 queens this one counts in an hour, by \
the first kernel. If --for is too short for that board, it is about what a smaller one shows. Where other programs had \
5 % of the processors, it is by CPU time. Otherwise there is a line for the table of machines in docs/RECORDS.md. \
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
#[command(group(clap::ArgGroup::new("what")))]
pub struct Args {
    #[command(flatten)]
    cpu: cpu::CpuArgs,

    #[command(flatten)]
    gpu: gpu::GpuArgs,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Measures what was asked for.
pub fn run(args: &Args) -> Result<(), Failure> {
    start_log(sources(None).map_err(Failure::usage)?.config(), None)?;
    if args.gpu.gpu {
        return gpu::run(&args.gpu, args.json);
    }
    cpu::run(&args.cpu, args.json)
}
