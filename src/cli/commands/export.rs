use std::io::BufWriter;
use std::path::PathBuf;

use crate::cli::exit::Failure;
use crate::cli::output::{say, stdout};
use crate::ledger;
use crate::run_directory::open;
use crate::telemetry::several;

const HELP: &str = "\
Examples:
  queenfold export n20 > n20.jsonl
  queenfold export n20 | tail -n 1    the signature alone

Prints one line of JSON for each task, sorted by engine and index, with counts as decimal strings. \
The last line is {\"signature\":\"…\"}: a BLAKE3 hash of the board, the plans, the tasks and their \
counts. It covers nothing else, so runs on different machines, with other kernels or in another \
order have the same signature.";

/// Flags of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,
}

/// Writes the log of a run to stdout.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (store, plans) = open(&args.dir)?;
    let out = BufWriter::new(stdout());
    let records = ledger::export(&store, &plans, out)??;
    let tasks: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let missing = tasks - records;
    if missing > 0 {
        say(&format!(
            "note: the run is not whole: {} missing",
            several(missing, "task")
        ));
    }
    Ok(())
}
