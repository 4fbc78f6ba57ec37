use std::path::PathBuf;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print, say};
use crate::cli::print::array_report::{outdated_scripts, submit_again};
use crate::cli::print::count_report;
use crate::cli::print::result_table::ResultTable;
use crate::cli::shell::command_on;
use crate::cluster::{ArrayDirectory, gather};
use crate::job::outcome;
use crate::ledger::{Confirmation, Store};
use crate::telemetry::{printable, several};

const HELP: &str = "\
Examples:
  queenfold gather array-n24

Puts what the shards have recorded into one ledger, in DIR/whole, and prints the total if no task is missing. \
Otherwise it names the shards that are missing and the command that counts these alone, and ends with exit \
code 4. It may be given at any time and as often as you like; shards that somebody works on are left out. \
DIR/whole is a run directory like any other: `verify`, `certify`, `report` and `resume` take it.";

/// Flags of `gather`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the array
    dir: PathBuf,
}

/// Adds up the shards of a job array.
pub fn run(args: &Args) -> Result<(), Failure> {
    let directory = ArrayDirectory::open(&args.dir)?;
    let gathered = gather(&directory)?;
    let whole = args.dir.join("whole");
    if let Some(merged) = &gathered.merged {
        say(&printable(&format!(
            "{}: {} gathered, {} there already",
            whole.display(),
            several(merged.copied, "task"),
            merged.there
        )));
    }
    let merged = gathered.merged.as_ref();
    let Some(merged) = merged.filter(|merged| merged.sums.coverage.is_whole()) else {
        let tasks: u64 = directory.array().plans().iter().map(|p| p.tasks()).sum();
        let done = merged.map_or(0, |merged| merged.sums.coverage.done());
        let mut lines = vec![format!(
            "no total from {}: {} of {tasks} missing",
            args.dir.display(),
            several(tasks - done, "task")
        )];
        for (shards, what) in [
            (&gathered.not_begun, "not begun"),
            (&gathered.stopped, "stopped"),
            (&gathered.running, "running"),
        ] {
            if !shards.is_empty() {
                let number = several(shards.len(), "shard");
                lines.push(format!("{number} {what}: {shards}"));
            }
        }
        let to_submit = gathered.to_submit();
        match to_submit.is_empty() {
            true => lines.push(format!(
                "wait for the running shards, then `{}`",
                command_on("gather", &args.dir)
            )),
            false => {
                let which = match gathered.running.is_empty() {
                    true => "them",
                    false => "the others",
                };
                for command in submit_again(&directory, &args.dir, &to_submit) {
                    lines.push(format!("count {which} alone with `{command}`"));
                }
                lines.extend(outdated_scripts(&directory, &args.dir));
            }
        }
        return Err(Failure::lines(Exit::Stopped, lines));
    };
    let store = Store::open_to_read(&whole)?;
    store.check_decided(&merged.sums)?;
    let confirmation = Confirmation::read(&store)?;
    drop(store);
    if let Some(plan) = directory.array().plans().first() {
        let outcome = outcome(plan.as_ref(), |engine| merged.sums.tallies.get(&engine))?;
        let table = ResultTable::new(plan.size());
        print(&table.header())?;
        let checked = confirmation.checked(&outcome);
        print(&table.row(&outcome, checked, merged.elapsed))?;
    }
    count_report::tell(&whole, Some(confirmation), false)
}
