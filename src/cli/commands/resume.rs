use std::path::PathBuf;

use crate::actors::PauseReason;
use crate::cli::asking::{WAIT, ask};
use crate::cli::commands::config::annotated;
use crate::cli::exit::Failure;
use crate::cli::flags::How;
use crate::cli::job_runner::JobRunner;
use crate::cli::live_run::of_holder;
use crate::cli::printer::Printer;
use crate::cluster::ArrayDirectory;
use crate::job::Job;
use crate::ledger::{Request, is_held};

const HELP: &str = "\
Examples:
  queenfold resume n20
  queenfold resume n20 --workers 4 --time-limit 8h

Board, engine and shard stay as they were when the run was started. Everything else (workers, \
instruction set, memory) follows this command line, the environment and the configuration files. \
If the run is finished, its result is printed and nothing is counted.

If a process works on the run, and `pause`, a key or a signal has paused it, that process goes on, and this command \
ends with 0 when it does. If it is not paused, or flags say how to count, the run is in use (exit code 1). Of a job \
array, the shards go on that are paused.";

/// Flags of `resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    #[command(flatten)]
    how: How,
}

/// Lets a paused run go on, or continues one that nobody counts, and prints its result.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.how.settings()?;
    let is_array = ArrayDirectory::is_there(&args.dir);
    let is_asked = || {
        let live = of_holder(&args.dir);
        live.is_some_and(|live| live.progress.paused_for.contains(&PauseReason::Asked))
    };
    // Whoever says how to count wants to count here.
    if !settings.has_flags() && (is_array || (is_held(&args.dir) && is_asked())) {
        return ask(&args.dir, Request::Resume, WAIT);
    }
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
