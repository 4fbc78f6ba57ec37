use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::certificate::open_source;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print, print_json, say};
use crate::cli::print::array_report::{outdated_scripts, submit_again};
use crate::cli::print::count_report;
use crate::cli::print::result_table::ResultTable;
use crate::cli::shell::command_on;
use crate::cluster::{ArrayDirectory, IndexList, gather};
use crate::engine::Plan;
use crate::job::outcome;
use crate::ledger::{Confirmation, Merged, Store};
use crate::telemetry::{printable, several};

const HELP: &str = "\
Examples:
  queenfold gather array-n24

Puts what the shards have recorded into one ledger, in DIR/whole, and prints the total if no task is missing. \
Otherwise it names the shards that are missing and the command that counts these alone, and ends with exit \
code 4. It may be given at any time and as often as you like; shards that somebody works on are left out. Certificates of shards from hosts that share no \
disk are gathered as well: put them into DIR/shards, as NAME.cert. \
DIR/whole is a run directory like any other: `verify`, `certify`, `report` and `resume` take it.";

/// Flags of `gather`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the array
    dir: PathBuf,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Adds up the shards of a job array.
pub fn run(args: &Args) -> Result<(), Failure> {
    let directory = ArrayDirectory::open(&args.dir)?;
    let gathered = gather(&directory, open_source)?;
    let whole = args.dir.join("whole");
    if let Some(merged) = &gathered.merged {
        say(&printable(&format!(
            "{}: {} gathered, {} there already",
            whole.display(),
            several(merged.copied, "task"),
            merged.there
        )));
        for left_out in &merged.left_out {
            say(&printable(&left_out.to_string()));
        }
    }
    let merged = gathered.merged.as_ref();
    let Some(merged) = merged.filter(|merged| merged.sums.coverage.is_whole()) else {
        let tasks: u64 = directory.array().plans().iter().map(|p| p.tasks()).sum();
        let done = merged.map_or(0, |merged| merged.sums.coverage.done());
        if args.json {
            let all = |shards: &IndexList| shards.iter().collect::<Vec<_>>();
            let mut json = without_total(done, tasks);
            json["not_begun"] = json!(all(&gathered.not_begun));
            json["stopped"] = json!(all(&gathered.stopped));
            json["running"] = json!(all(&gathered.running));
            print_json(&json)?;
        }
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
    tell_whole(&whole, &directory.array().plans(), merged, args.json)
}

/// What `--json` prints while tasks are missing.
pub fn without_total(done: u64, tasks: u64) -> Json {
    json!({
        "tasks_done": done,
        "tasks_total": tasks,
        "seconds": null,
        "checked": null,
        "counted": null,
        "result": null,
    })
}

/// Prints the total of the ledger in `whole`, of which no task is missing, and how often its tasks were counted.
pub fn tell_whole(
    whole: &Path,
    plans: &[Arc<dyn Plan>],
    merged: &Merged,
    json: bool,
) -> Result<(), Failure> {
    let store = Store::open_to_glance(whole)?;
    store.check_decided(&merged.sums)?;
    let confirmation = Confirmation::read(&store)?;
    drop(store);
    if let Some(plan) = plans.first() {
        let outcome = outcome(plan.as_ref(), |engine| merged.sums.tallies.get(&engine))?;
        let checked = confirmation.checked(&outcome);
        if json {
            let tasks = merged.sums.coverage.tasks();
            let json = json!({
                "tasks_done": tasks,
                "tasks_total": tasks,
                "seconds": merged.elapsed.as_secs_f64(),
                "checked": checked,
                "counted": confirmation,
                "result": outcome,
            });
            return print_json(&json);
        }
        let table = ResultTable::new(plan.size(), "All sessions");
        print(&table.header())?;
        print(&table.row(&outcome, checked, merged.elapsed))?;
    }
    count_report::tell(whole, Some(confirmation), false)
}
