use std::path::PathBuf;

use serde_json::json;

use super::gather::{tell_whole, without_total};
use crate::certificate::open_source;
use crate::cli::exit::Failure;
use crate::cli::output::{print, print_json, say};
use crate::ledger::{self, LedgerError};
use crate::run_directory::with_plans;
use crate::telemetry::{printable, several};

const HELP: &str = "\
Examples:
  queenfold merge part0 part1 part2 --into n20
  queenfold merge anna.cert bert.cert --into n20
  queenfold merge --take-out part1 --into n20

The runs must count the same board with the same plans. If several of them contain a task, its \
counts must be the same in all of them. In the place of a directory may be the certificate of a shard, with one signature: \
files of two keys that agree are a task counted twice by two owners, files of one key are not. Either all runs are copied, or none is. If every task is there, the total is printed; its time is \
the sum over all processes. Otherwise the missing tasks are listed, and `queenfold resume` counts \
them in the new directory. --take-out removes a run that was merged and is not trusted any more.";

/// Flags of `merge`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directories of the runs, and certificates of shards
    #[arg(required_unless_present = "take_out", value_name = "DIR")]
    dirs: Vec<PathBuf>,

    /// The directory that receives their tasks: a new one, or a run of the same plans
    #[arg(long, value_name = "DIR")]
    into: PathBuf,

    /// Remove from the run in --into what was merged from this directory or certificate, or what the session of this id counted
    #[arg(long, value_name = "DIR|SESSION", conflicts_with = "dirs")]
    take_out: Option<PathBuf>,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Puts the tasks of several runs into one.
pub fn run(args: &Args) -> Result<(), Failure> {
    if let Some(source) = &args.take_out {
        // Every session is its own, so nothing would be left.
        let [from, into] = [source, &args.into].map(|dir| dir.canonicalize().ok());
        if from.is_some() && from == into {
            let dir = source.display();
            let what = format!(
                "{dir} cannot be taken out of itself: give the directory that was merged into it"
            );
            return Err(Failure::usage(what));
        }
        let taken = ledger::take_out_from(source, &args.into, &open_source)?;
        if !taken.kept.is_empty() {
            let (dir, sessions) = (args.into.clone(), taken.kept);
            say(&printable(
                &LedgerError::OwnSessions { dir, sessions }.to_string(),
            ));
        }
        if args.json {
            return print_json(&json!({"tasks": taken.records, "sessions": taken.sessions}));
        }
        return print(&format!(
            "{} of {} taken out",
            several(taken.records, "task"),
            several(taken.sessions, "session")
        ));
    }
    let Some(first) = args.dirs.first() else {
        return Err(Failure::usage("no directory to merge"));
    };
    let (_, plans) = with_plans(open_source(first)?)?;
    let merged = ledger::merge_from(&args.dirs, &args.into, &plans, &open_source)?;
    let mut copied = format!(
        "{} copied, {} there already with the same result",
        several(merged.copied, "task"),
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
    for left_out in &merged.left_out {
        say(&printable(&left_out.to_string()));
    }
    let coverage = &merged.sums.coverage;
    if !coverage.is_whole() {
        if args.json {
            print_json(&without_total(coverage.done(), coverage.tasks()))?;
        }
        return Err(Failure::incomplete(
            format_args!("no total from {}", args.into.display()),
            &coverage.missing(&merged.division),
        ));
    }
    tell_whole(&args.into, &plans, &merged, args.json)
}
