//! Measurements on the user's machine.

mod calibrate;
#[cfg(feature = "cuda")]
mod gpu;
#[cfg(feature = "cuda")]
mod report;

use crate::cli::exit::Failure;

/// Flags of `bench`.
#[derive(Debug, clap::Args)]
#[cfg_attr(
    feature = "cuda",
    command(after_help = "\
Examples:
  queenfold bench --calibrate
  queenfold bench --gpu --json")
)]
#[cfg_attr(
    not(feature = "cuda"),
    command(after_help = format!(
        "Examples:\n  queenfold bench --calibrate\n\n{}.",
        crate::device::needs_feature("`bench --gpu`", "cuda")
    ))
)]
#[command(group(clap::ArgGroup::new("what").required(true)))]
pub struct Args {
    /// Measure on which boards the colour engine is faster than the chain engine, with each instruction set
    #[arg(long, group = "what")]
    calibrate: bool,

    #[cfg(feature = "cuda")]
    #[command(flatten)]
    gpu: gpu::GpuArgs,

    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Measures what was asked for.
pub fn run(args: &Args) -> Result<(), Failure> {
    if args.calibrate {
        return calibrate::run(args.json);
    }
    #[cfg(feature = "cuda")]
    gpu::run(&args.gpu, args.json)?;
    Ok(())
}
