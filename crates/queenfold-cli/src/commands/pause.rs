//! `queenfold pause`: pauses a run that another process counts.

use crate::control::asking::Asking;
use crate::exit::Failure;
use queenfold_ledger::ledger::Request;

/// Flags of `pause`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold pause n20
  queenfold resume n20                 let it go on
  queenfold pause array-n24            the shards of a job array that are counted at the moment

Ends with 0 when no worker counts any more, which takes two or three seconds. A task that takes more than \
another second is given up, and counted from its beginning later. Ends with 1 if nobody counts the run, or if it \
does not pause in time.")]
pub struct Args {
    #[command(flatten)]
    asking: Asking,
}

/// Pauses a run that another process counts.
pub fn run(args: &Args) -> Result<(), Failure> {
    args.asking.ask(Request::Pause)
}
