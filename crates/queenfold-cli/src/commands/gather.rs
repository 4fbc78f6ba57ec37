//! `queenfold gather`: puts the shards of a job array into one ledger, or says which are missing.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::config::is_stream;
use crate::exit::{Exit, Failure};
use crate::output::{print, print_json, say};
use crate::print::array_report::{outdated_scripts, submit_again};
use crate::print::count_report;
use crate::print::result_table::ResultTable;
use crate::shell::{command, command_on};
use crate::telemetry::printable;
use queenfold::words::several;
use queenfold_ledger::certificate::{HostKey, open_source};
use queenfold_ledger::cluster::{ArrayDirectory, Gathered, KEY, ask, gather};
use queenfold_ledger::ledger::{Merged, Store};
use queenfold_ledger::system::file_kind::replace;

/// The longest certificate that is read from stdin, in bytes: one of a million tasks has some 500 MB.
const LONGEST: u64 = 1 << 30;

const HELP: &str = "\
Examples:
  queenfold gather array-n24
  queenfold gather array-n24 inbox     and the files of shards in the folder inbox

Puts what the shards have recorded into one ledger, in DIR/whole, and prints the total if no task is missing. \
Otherwise it names the shards that are missing and the command that counts these alone, and ends with exit \
code 4. It may be given at any time and as often as you like; shards that somebody works on are left out. Certificates of shards from hosts that share \
nothing are gathered as well, from DIR/shards and from what is given besides, if they are named NAME.cert; those that are not of this array are named and \
left out. While second counts are missing that `array --again` asked for, the exit code is 4, too. \
DIR/whole is a run directory like any other: `verify`, `certify`, `report` and `resume` take it.";

/// Flags of `gather`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the array
    dir: PathBuf,

    /// More files of shards: one, a folder of them, or - for one from stdin, which is kept beside the others
    from: Option<PathBuf>,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Gathers the shards of an array and the files `from`. Of hosts that share nothing, those count that the key of the array
/// signed.
pub fn gathered(directory: &ArrayDirectory, from: &[PathBuf]) -> Result<Gathered, Failure> {
    let key = match directory.shares_nothing() {
        true => {
            directory.key()?;
            Some(HostKey::read(&directory.file(KEY), String::new())?)
        }
        false => None,
    };
    let signer = key.as_ref().map(HostKey::public);
    let gathered = gather(directory, from, signer, open_source);
    let gathered = gathered.map_err(|error| {
        let mut failure = Failure::from(error);
        if failure.exit == Exit::Mismatch && key.is_some() {
            failure.message += "; `queenfold check FILE --challenge SEED -m TASKS` counts a file again: remove the wrong one, after \
                                `queenfold merge --take-out FILE --into DIR/whole` if it was gathered";
        }
        failure
    })?;
    let refused = gathered.refused.iter();
    refused.for_each(|refused| say(&printable(&format!("left out: {refused}"))));
    Ok(gathered)
}

/// A certificate from stdin, kept in the folder of the shards under a name that its content gives.
fn kept_stdin(directory: &ArrayDirectory) -> Result<PathBuf, Failure> {
    let mut text = Vec::new();
    io::stdin().take(LONGEST).read_to_end(&mut text)?;
    let name = format!("shards/{}.cert", &blake3::hash(&text).to_hex()[..16]);
    let file = directory.file(&name);
    replace(&file, &text).map_err(|error| Failure::of_file("certificate", &file, &error))?;
    Ok(file)
}

/// Adds up the shards of a job array.
pub fn run(args: &Args) -> Result<(), Failure> {
    let directory = ArrayDirectory::open(&args.dir)?;
    let stdin = args.from.as_deref().is_some_and(is_stream);
    let from = match stdin {
        true => vec![kept_stdin(&directory)?],
        false => args.from.iter().cloned().collect(),
    };
    let gathered = gathered(&directory, &from)?;
    if stdin && !gathered.refused.is_empty() {
        fs::remove_file(&from[0])?;
    }
    let whole = args.dir.join("whole");
    let merged = gathered.merged.as_ref();
    if let Some(Merged {
        copied,
        there,
        left_out,
        ..
    }) = merged
    {
        let (whole, copied) = (whole.display(), several(*copied, "task"));
        say(&printable(&format!(
            "{whole}: {copied} gathered, {there} there already"
        )));
        left_out
            .iter()
            .for_each(|left_out| say(&printable(&left_out.to_string())));
    }
    let tasks: u64 = directory.array().plans().iter().map(|p| p.tasks()).sum();
    let done = merged.map_or(0, |merged| merged.sums.coverage.done());
    let mut lines = Vec::new();
    let mut json = json!({});
    for (shards, what, key) in [
        (&gathered.not_begun, "not begun", "not_begun"),
        (&gathered.stopped, "stopped", "stopped"),
        (&gathered.running, "running", "running"),
    ] {
        json[key] = json!(shards.iter().collect::<Vec<_>>());
        if !shards.is_empty() {
            let number = several(shards.len(), "shard");
            lines.push(format!("{number} {what}: {shards}"));
        }
    }
    match merged.filter(|merged| merged.sums.coverage.is_whole()) {
        Some(merged) => {
            let json = args.json.then_some(json);
            tell_whole(&whole, merged, json)?;
            if directory.array().is_done(&gathered.lacking) {
                return Ok(());
            }
            if lines.is_empty() {
                let again = command("array", &[("--again", args.dir.as_os_str())], None);
                let what = format!("`{again}` adds shards for what one host alone has counted");
                return Err(Failure::new(Exit::Stopped, what));
            }
            lines.insert(0, "second counts are missing".to_owned());
        }
        None => {
            if args.json {
                print_total(json, (done, tasks), Default::default())?;
            }
            let (dir, missing) = (args.dir.display(), several(tasks - done, "task"));
            lines.insert(
                0,
                format!("no total from {dir}: {missing} of {tasks} missing"),
            );
        }
    }
    let to_submit = gathered.to_submit();
    let missing = ask(&directory).unwrap_or_default().others(&to_submit);
    let which = match gathered.running.is_empty() && missing.len() == to_submit.len() {
        true => "them",
        false => "the others",
    };
    if missing.is_empty() {
        let again = command_on("gather", &args.dir);
        lines.push(format!(
            "wait for the running and the queued shards, then `{again}`"
        ));
    } else {
        let again = submit_again(&directory, &args.dir, &missing).into_iter();
        lines.extend(again.map(|command| format!("count {which} alone with `{command}`")));
        lines.extend(outdated_scripts(&directory, &args.dir));
    }
    Err(Failure::lines(Exit::Stopped, lines))
}

/// Prints for programs what is in `json`, how many tasks are done, and of a total the seconds, how it is checked, how often its
/// tasks were counted, and what it is.
pub fn print_total(
    mut json: Json,
    (done, tasks): (u64, u64),
    total: [Json; 4],
) -> Result<(), Failure> {
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
pub fn tell_whole(whole: &Path, merged: &Merged, json: Option<Json>) -> Result<(), Failure> {
    let Some(outcome) = &merged.outcome else {
        // Some tasks are contested.
        return Ok(Store::open_to_glance(whole)?.check_decided()?);
    };
    let confirmation = merged.sums.who.confirmation;
    let checked = confirmation.checked(outcome);
    if let Some(json) = json {
        let (tasks, seconds) = (merged.sums.coverage.tasks(), merged.elapsed.as_secs_f64());
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
