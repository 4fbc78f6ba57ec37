use std::path::PathBuf;

use crate::cli::durable::Directory;
use crate::cli::exit::Failure;
use crate::cli::flags::How;
use crate::cli::printer::Printer;
use crate::cli::session::Session;

const HELP: &str = "\
Board, engine and shard are those the run was begun with. Everything else (workers, instruction
set, memory) is as this command line, the environment and the configuration files say now. On a
finished run the result is printed, and nothing is counted.";

/// Flags of `resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    #[command(flatten)]
    how: How,
}

/// Goes on with a run, and prints its result.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.how.settings()?;
    let session = Session::new(settings.config())?;
    let directory = Directory::resume(&args.dir, &session)?;
    let plans = directory.plans().to_vec();
    let report = directory.count(&session)?;
    if let Some(plan) = plans.first() {
        let mut printer = Printer::new(plan.size(), settings.config().output.json);
        printer.print(&plans, &session, &report)?;
    }
    session.finish()
}
