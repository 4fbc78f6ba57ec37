use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use crate::cli::exit::Failure;
use crate::cli::output::{print, print_json};
use crate::ledger::{Comparison, CountedWhere, DifferingTask, compare};
use crate::run_directory::open;
use crate::telemetry::several;

const HELP: &str = "\
Examples:
  queenfold compare n20 elsewhere/n20

Compares the records of two runs of the same board by the same plans, task by task, and lists the tasks \
whose counts differ: what each run has, by which kernel or device, worker and host. Tasks that only one \
of them has are numbered, not listed. The exit code is 3 if any task differs.";

/// Flags of `compare`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of a run
    a: PathBuf,

    /// The directory of another run of the same board and plans
    b: PathBuf,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,
}

/// Lists the tasks that differ in two runs.
pub fn run(args: &Args) -> Result<(), Failure> {
    let (one, _) = open(&args.a)?;
    let (other, _) = open(&args.b)?;
    let found = compare(&one, &other)?;
    if args.json {
        print_json(&to_json(&found))?;
    } else {
        print(&to_text([&args.a, &args.b], &found))?;
    }
    match found.differing.len() {
        0 => Ok(()),
        tasks => Err(Failure::counts_differ(format!(
            "{} differ in {} and {}",
            several(tasks as u64, "task"),
            args.a.display(),
            args.b.display()
        ))),
    }
}

fn to_json(found: &Comparison) -> Json {
    let count = |count: &CountedWhere| {
        json!({
            "tally": count.tally,
            "counted_by": count.counted_by,
            "worker": count.worker,
            "host": count.host,
        })
    };
    let task = |task: &DifferingTask| {
        json!({
            "plan": format!("{}-{}", task.task.engine, task.task.version),
            "task": task.task.index,
            "a": count(&task.counts[0]),
            "b": count(&task.counts[1]),
        })
    };
    json!({
        "common": found.common,
        "only_a": found.only[0],
        "only_b": found.only[1],
        "differing": found.differing.iter().map(task).collect::<Vec<_>>(),
    })
}

fn to_text(dirs: [&Path; 2], found: &Comparison) -> String {
    let mut lines = vec![format!(
        "compared  {} of both, {} different",
        several(found.common, "task"),
        found.differing.len()
    )];
    for (dir, only) in dirs.iter().zip(found.only) {
        if only > 0 {
            let tasks = several(only, "task");
            lines.push(format!("          {tasks} only in {}", dir.display()));
        }
    }
    for DifferingTask { task, counts } in &found.differing {
        lines.push(format!("task {task}"));
        for (dir, count) in dirs.iter().zip(counts) {
            lines.push(format!(
                "  {}: {} by {} ({}/{})",
                dir.display(),
                count.tally.exact(),
                count.counted_by,
                count.host,
                count.worker
            ));
        }
    }
    lines.join("\n")
}
