use std::path::PathBuf;

use crate::cli::exit::Failure;
use crate::cli::output::{print, say};
use crate::cli::result_table::ResultTable;
use crate::job::{open, outcome};
use crate::ledger;
use crate::telemetry::several;

const HELP: &str = "\
The runs must count the same board with the same plans. If several of them contain a task, its \
counts must be the same in all of them. If every task is there, the total is printed; its time is \
the sum over all processes. Otherwise the missing tasks are listed, and `queenfold resume` counts \
them in the new directory.";

/// Flags of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directories of the runs
    #[arg(required = true, value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// The directory that receives their tasks: a new one, or a run of the same plans
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
}

/// Puts the tasks of several runs into one.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Some(first) = args.dirs.first() else {
        return Err(Failure::usage("no directory to merge"));
    };
    let (_, plans) = open(first)?;
    let merged = ledger::merge(&args.dirs, &args.into, &plans)?;
    say(&format!(
        "{} copied, {} there already with the same result",
        several(merged.copied, "task"),
        merged.there
    ));
    let coverage = &merged.sums.coverage;
    if !coverage.is_whole() {
        return Err(Failure::incomplete(
            format_args!("no total from {}", args.into.display()),
            &coverage.missing(merged.division),
        ));
    }
    if let Some(plan) = plans.first() {
        let outcome = outcome(plan.as_ref(), |engine| merged.sums.tallies.get(&engine))?;
        let table = ResultTable::new(plan.size());
        print(&table.header())?;
        print(&table.row(&outcome, merged.elapsed))?;
    }
    Ok(())
}
