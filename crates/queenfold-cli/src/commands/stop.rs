//! `queenfold stop`: stops a run that another process counts.

use crate::control::asking::Asking;
use crate::exit::Failure;
use queenfold_ledger::ledger::Request;

/// Flags of `stop`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold stop n20
  queenfold resume n20                 continue later
  queenfold stop array-n24             the shards of a job array that are counted at the moment

Does what Ctrl-C does: tasks in hand are finished if they end within a second, the others are given up, and all \
that is counted is committed. Ends with 0 when \
the process has ended, and also if nobody counts the run; with 1 if it does not end in time. The process itself ends with 4.")]
pub struct Args {
    #[command(flatten)]
    asking: Asking,
}

/// Stops a run that another process counts.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.asking.ask(Request::Stop)
}
