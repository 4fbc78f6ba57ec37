use std::path::PathBuf;

use crate::cli::exit::Failure;
use crate::cli::flags::ConfigFlags;
use crate::cli::job_runner::JobRunner;
use crate::cli::printer::Printer;
use crate::ledger::Shard;

const HELP: &str = "\
Examples:
  queenfold run -n 16
  queenfold run -n 4..=14 --json
  queenfold run -n 18 --workers 4 --time-limit 10m
  queenfold run -n 20 --dir n20        keep every finished task, for `queenfold resume n20`
  queenfold run -n 20 --dir part0 --shard 0/3

Prints one row for each board: its size, all solutions, those that differ by more than a rotation \
or reflection, and the time it took. The first Ctrl-C stops the run within two seconds: tasks that are \
not done by then are given up. The second one stops it at once. SIGUSR2, or the key p on a terminal, pauses and resumes the \
run.";

/// Flags of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    flags: ConfigFlags,

    /// Keep every finished task in this new directory, so that the run can be resumed
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Count only the tasks whose index has the remainder I when divided by K; needs --dir
    #[arg(long, value_name = "I/K", requires = "dir")]
    shard: Option<Shard>,
}

/// Counts, and prints the result of each board as soon as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let config = settings.config();
    let sizes = config.run.n.0.ok_or_else(|| {
        Failure::usage("no board: give -n N or -n A..=B, or set run.n in a configuration file")
    })?;
    if args.dir.is_some() && sizes.iter().count() != 1 {
        return Err(Failure::usage(
            "a run directory holds one board: give one n",
        ));
    }
    let runner = JobRunner::new(config)?;
    let mut printer = Printer::new(sizes.last(), config.output.json);
    for n in sizes.iter() {
        let mut job = runner.job(n)?;
        if let Some(dir) = &args.dir {
            job = job.directory(dir).configuration(runner.config_text()?);
            if let Some(shard) = args.shard {
                job = job.shard(shard);
            }
        }
        if let Some(result) = runner.run(&runner.announced(job))? {
            printer.print(&result)?;
        }
    }
    runner.finish()
}
