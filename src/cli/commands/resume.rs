use std::path::PathBuf;

use crate::cli::commands::config::annotated;
use crate::cli::exit::Failure;
use crate::cli::flags::How;
use crate::cli::job_runner::JobRunner;
use crate::cli::printer::Printer;
use crate::job::Job;

const HELP: &str = "\
Examples:
  queenfold resume n20
  queenfold resume n20 --workers 4 --time-limit 8h

Board, engine and shard stay as they were when the run was started. Everything else (workers, \
instruction set, memory) follows this command line, the environment and the configuration files. \
If the run is finished, its result is printed and nothing is counted.";

/// Flags of `resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    #[command(flatten)]
    how: How,
}

/// Continues a run, and prints its result.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.how.settings()?;
    let runner = JobRunner::new(settings.config())?;
    let job = Job::resume(&args.dir)?.configuration(annotated(&settings));
    let result = runner.run(&job)?;
    if let Some(result) = &result {
        Printer::new(job.size(), settings.config().output.json).print(result)?;
    }
    let counted = result.and_then(|result| result.confirmation);
    runner.tell_counts(&args.dir, counted)?;
    runner.finish()
}
