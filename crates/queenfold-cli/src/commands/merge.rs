//! `queenfold merge`: puts runs of the same plans into one, takes one out again, or compares them.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::gather::{print_total, tell_whole};
use crate::exit::Failure;
use crate::output::{print, print_json, say};
use crate::telemetry::printable;
use queenfold::engine::TaskKey;
use queenfold::words::several;
use queenfold_ledger::certificate::open_source;
use queenfold_ledger::ledger::{self, CountedWhere, LedgerError, Store, kept_sessions};

const HELP: &str = "\
Examples:
  queenfold merge part0 part1 part2 --into n20
  queenfold merge anna.cert bert.cert --into n20
  queenfold merge --take-out part1 --into n20
  queenfold merge --check n20 elsewhere/n20    write nothing: list the tasks whose counts differ

The runs must count the same board with the same plans. If several of them contain a task, its \
counts must be the same in all of them. In the place of a directory may be the certificate of a shard, with one signature: \
files of two keys that agree are a task counted twice by two owners, files of one key are not. Either all runs are copied, or none is. If every task is there, the total is printed; its time is \
the sum over all processes. Otherwise the missing tasks are listed, and `queenfold resume` counts \
them in the new directory. --take-out removes a run that was merged and is not trusted any more. --check says of each task that \
differs what each run has, by which kernel or device, worker and host; the exit code is 3 if there is one.";

/// Flags of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directories of the runs, and certificates of shards
    #[arg(required_unless_present = "take_out", value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// The directory that receives their tasks: a new one, or a run of the same plans
    #[arg(long, value_name = "DIR", required_unless_present = "check")]
    into: Option<PathBuf>,

    /// Write nothing: list the tasks whose counts differ
    #[arg(long, conflicts_with_all = ["into", "take_out"])]
    check: bool,

    /// Remove from the run in --into what was merged from this directory or certificate, or what the session of this id counted
    #[arg(long, value_name = "DIR|SESSION", conflicts_with = "dirs")]
    take_out: Option<PathBuf>,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Puts the tasks of several runs into one.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Some(into) = args.into.as_deref() else {
        return check(args);
    };
    if let Some(source) = &args.take_out {
        return take_out(source, into, args.json);
    }
    let merged = ledger::merge(sources(args), None, into)?;
    let copied = several(merged.copied, "task");
    let mut copied = format!(
        "{copied} copied, {} there already with the same result",
        merged.there
    );
    for (number, what) in [
        (merged.seconds, "second count"),
        (merged.corrections, "correction"),
    ] {
        if number > 0 {
            copied += &format!(", {} added", several(number, what));
        }
    }
    say(&copied);
    merged
        .left_out
        .iter()
        .for_each(|left_out| say(&printable(&left_out.to_string())));
    let coverage = &merged.sums.coverage;
    if coverage.is_whole() {
        return tell_whole(into, &merged, args.json.then(|| json!({})));
    }
    if args.json {
        print_total(
            json!({}),
            (coverage.done(), coverage.tasks()),
            Default::default(),
        )?;
    }
    let what = format!("no total from {}", into.display());
    Err(Failure::incomplete(
        what,
        &coverage.missing(&merged.division),
    ))
}

/// Takes out of the run in `into` what was merged from `source`, or counted by the session of this id.
fn take_out(source: &Path, into: &Path, json: bool) -> Result<(), Failure> {
    // Every session is its own, so nothing would be left.
    let [from, to] = [source, into].map(|dir| dir.canonicalize().ok());
    if from.is_some() && from == to {
        let why = "cannot be taken out of itself: give the directory that was merged into it";
        return Err(Failure::usage(format!("{} {why}", source.display())));
    }
    let taken = ledger::take_out(source, into, open_source)?;
    if !taken.kept.is_empty() {
        say(&printable(&kept_sessions(into, &taken.kept)));
    }
    if json {
        return print_json(&json!({"tasks": taken.records, "sessions": taken.sessions}));
    }
    let [tasks, sessions] = [(taken.records, "task"), (taken.sessions, "session")]
        .map(|(number, what)| several(number, what));
    print(&format!("{tasks} of {sessions} taken out"))
}

/// What is given, each opened when its turn comes.
fn sources(args: &Args) -> impl Iterator<Item = Result<Store, LedgerError>> {
    args.dirs.iter().map(|path| open_source(path))
}

/// Lists the tasks that differ in several runs.
fn check(args: &Args) -> Result<(), Failure> {
    let found = ledger::differences(sources(args))?;
    let differing = found.differing.len() as u64;
    if args.json {
        let count = |of: &CountedWhere| {
            json!({
                "dir": of.dir.display().to_string(),
                "tally": of.tally,
                "counted_by": of.counted_by,
                "worker": of.worker,
                "host": of.host,
            })
        };
        let task = |(task, counts): &(TaskKey, Vec<CountedWhere>)| {
            json!({
                "plan": format!("{}-{}", task.engine, task.version),
                "task": task.index,
                "counts": counts.iter().map(count).collect::<Vec<_>>(),
            })
        };
        let differing: Vec<_> = found.differing.iter().map(task).collect();
        print_json(&json!({"common": found.common, "differing": differing}))?;
    } else {
        let common = several(found.common, "task");
        let mut lines = format!("compared  {common} of more than one run, {differing} different");
        for (task, counts) in &found.differing {
            lines += &format!("\ntask {task}");
            for CountedWhere {
                dir,
                tally,
                counted_by,
                worker,
                host,
            } in counts
            {
                let (dir, tally) = (dir.display(), tally.exact());
                lines += &format!("\n  {dir}: {tally} by {counted_by} ({host}/{worker})");
            }
        }
        print(&lines)?;
    }
    match differing {
        0 => Ok(()),
        tasks => {
            let tasks = several(tasks, "task");
            Err(Failure::counts_differ([format!(
                "counts of {tasks} differ"
            )]))
        }
    }
}
