//! `queenfold gather`: puts the shards of a job array, or runs of the same plans, into one ledger.

pub mod array;
mod runs;

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::exit::Failure;
use crate::output::{print, print_json};
use crate::print::count_report;
use crate::print::result_table::ResultTable;
use queenfold_ledger::ledger::{Merged, Store};

const HELP: &str = "\
Examples:
  queenfold gather array-n24
  queenfold gather array-n24 inbox     and the files of shards in the folder inbox
  queenfold gather part0 part1 part2 --into n20
  queenfold gather anna.cert bert.cert --into n20
  queenfold gather --take-out part1 --into n20

Puts what the shards of a job array have recorded into one ledger, in DIR/whole, and prints the total if no task is \
missing. Otherwise it names the shards that are missing and the command that counts these alone, and ends with exit \
code 4. It may be given at any time and as often as you like; shards that somebody works on are left out. Certificates of shards from hosts that share \
nothing are gathered as well, from DIR/shards and from what is given besides, if they are named NAME.cert; those that are not of this array are named and \
left out. While second counts are missing that `array --again` asked for, the exit code is 4, too. \
DIR/whole is a run directory like any other: `verify`, `certify`, `report` and `resume` take it.

With --into, the runs are gathered that are given. They must count the same board with the same plans. If several of them contain a task, its \
counts must be the same in all of them. In the place of a directory may be the certificate of a shard, with one signature: \
files of two keys that agree are a task counted twice by two owners, files of one key are not. Either all runs are copied, or none is. If every task is there, the total is printed; its time is \
the sum over all processes. Otherwise the missing tasks are listed, and `queenfold resume` counts \
them in the new directory. --take-out removes a run that was gathered and is not trusted any more.";

/// Flags of `gather`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// A job array, and more files of its shards: one, a folder of them, or - for one from stdin, which is kept beside the
    /// others. With --into: the directories of runs, and certificates of shards
    #[arg(required_unless_present = "take_out", value_name = "DIR|FILE")]
    from: Vec<PathBuf>,

    /// Gather runs in this directory: a new one, or a run of the same plans
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,

    /// Remove from the run in --into what was gathered from this directory or certificate, or what the session of this id counted
    #[arg(
        long,
        value_name = "DIR|SESSION",
        requires = "into",
        conflicts_with = "from"
    )]
    take_out: Option<PathBuf>,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Gathers a job array, or runs.
pub fn run(args: &Args) -> Result<(), Failure> {
    match (&args.take_out, &args.into, &args.from[..]) {
        (Some(source), Some(into), _) => runs::take_out(source, into, args.json),
        (None, Some(into), from) => runs::gather_into(into, from, args.json),
        (_, None, [dir, from @ ..]) => array::gather_array(dir, from, args.json),
        // clap asks for one of them.
        (_, None, []) => Ok(()),
    }
}

/// Prints for programs what is in `json`, how many tasks are done, and of a total the seconds, how it is checked, how often its
/// tasks were counted, and what it is.
fn print_total(mut json: Json, (done, tasks): (u64, u64), total: [Json; 4]) -> Result<(), Failure> {
    json["tasks_done"] = json!(done);
    json["tasks_total"] = json!(tasks);
    for (key, value) in ["seconds", "checked", "counted", "result"]
        .into_iter()
        .zip(total)
    {
        json[key] = value;
    }
    print_json(&json)
}

/// Prints the total of the ledger in `whole`, of which no task is missing, and how often its tasks were counted: as text, or
/// with `--json` besides what is in that.
fn tell_whole(whole: &Path, merged: &Merged, json: Option<Json>) -> Result<(), Failure> {
    let Some(outcome) = &merged.outcome else {
        // Some tasks are contested.
        return Ok(Store::open_to_glance(whole)?.check_decided()?);
    };
    let confirmation = merged.sums.who.confirmation;
    let checked = confirmation.checked(outcome);
    if let Some(json) = json {
        let tasks = merged.sums.coverage.tasks();
        let seconds = merged.elapsed.map(|time| time.as_secs_f64());
        let total = [
            json!(seconds),
            json!(checked),
            json!(confirmation),
            json!(outcome),
        ];
        return print_total(json, (tasks, tasks), total);
    }
    let table = ResultTable::new(outcome.n, "All sessions");
    print(&table.header())?;
    print(&table.row(outcome, checked, merged.elapsed))?;
    count_report::tell(whole, Some(merged.sums.who.clone()), false)
}
