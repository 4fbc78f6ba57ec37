//! `queenfold run`: counts boards, in a run directory if one is named, or counts such a run a second time.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use super::array_task::array_task;
use crate::args::boards::Boards;
use crate::args::flags::ConfigFlags;
use crate::args::kept_settings;
use crate::commands::config::kept;
use crate::config::Layers;
use crate::exit::Failure;
use crate::output::{print, print_json, say};
use crate::print::board_result::BoardResult;
use crate::print::count_report;
use crate::print::result_table::Printer;
use crate::session::job_runner::JobRunner;
use crate::session::recount::wall_time;
use crate::telemetry::printable;
use queenfold::board::GivenBoard;
use queenfold::engine::{CountedBy, Plan, second_kernel};
use queenfold::words::several;
use queenfold_ledger::cluster::ArrayDirectory;
use queenfold_ledger::ledger::{FirstCounts, Shard, Store, WhoCounted};
use queenfold_ledger::run_directory::RunDirectory;

const HELP: &str = "\
Examples:
  queenfold run -n 16
  queenfold run -n 4..=14 --json
  queenfold run -n 18 --workers 4 --time-limit 10m
  queenfold run -n 20 --dir n20        keep every finished task, for `queenfold resume n20`
  queenfold run -n 20 --dir part0 --shard 0/3
  queenfold run -n 8 --queens b4,d5    the solutions with queens on these squares
  queenfold run --board puzzle.txt
  queenfold run --again n20            count what is recorded in n20 a second time

Prints one row for each board: its size, all solutions, those that differ by more than a rotation \
or reflection, and the time it took. With --queens, --holes or --board it counts the completions in all, and \
those up to the symmetries that fix the given board. The first Ctrl-C stops the run within two seconds: tasks \
that are not done by then are given up. The second one stops it at once. SIGUSR2, or the key p on a terminal, \
pauses and resumes the run.

--again counts each recorded task without a second count by another worker or device, and by another \
kernel where that takes at most four times as long as the widest one. It can be stopped and given again. \
Where the counts differ, a third one decides, and all of them are kept.";

/// Flags of `run`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    boards: Boards,

    #[command(flatten)]
    flags: ConfigFlags,

    /// Print results as JSON, one object on each line, instead of a table
    #[arg(long)]
    json: bool,

    /// Keep every finished task in this new directory, so that the run can be resumed
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Count the recorded tasks of the run in this directory a second time, by other workers and kernels;
    /// --isa gives the kernel
    #[arg(long, value_name = "DIR", conflicts_with_all = ["dir", "shard", "n", "queens", "holes", "board", "engine", "no-unique", "unique"])]
    again: Option<PathBuf>,

    /// Begin a run of more than a day although nothing of it would be kept
    #[arg(long, conflicts_with_all = ["dir", "again"])]
    yes: bool,

    /// Count only part I of K, or I-J/K for several; the parts have about the same cost; needs --dir
    #[arg(long, value_name = "I/K", requires = "dir")]
    shard: Option<Shard>,

    /// Count shard I of the job array in --dir, or the next one that nobody counts; the scripts of `array` do so
    #[arg(long, value_name = "I", requires = "dir", conflicts_with_all = ["shard", "n", "queens", "holes", "board", "engine", "no-unique", "unique"])]
    task: Option<u64>,
}

/// Counts, and prints the result of each board as soon as it is done.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    if let Some(dir) = &args.again {
        return again(dir, settings, args.json);
    }
    if let (Some(dir), Some(task)) = (&args.dir, args.task) {
        return array_task(dir, task, &settings, args.json);
    }
    let config = settings.config();
    let boards = args.boards.all()?;
    if args.dir.is_some() && boards.len() != 1 {
        return Err(Failure::usage(
            "a run directory holds one board: give one n",
        ));
    }
    match &args.dir {
        Some(dir) if ArrayDirectory::is_there(dir) => return Err(Failure::holds_array(dir)),
        _ => {}
    }
    let quiet = config.output.quiet;
    let runner = JobRunner::new(config, args.json)?;
    let largest = boards.iter().map(GivenBoard::size).max();
    let mut printer = Printer::new(largest.unwrap_or(boards[0].size()), args.json);
    let jobs = boards.into_iter().map(|board| runner.job(board));
    let jobs: Vec<_> = jobs.collect::<Result<_, _>>()?;
    if args.dir.is_none() && !args.yes {
        jobs.iter().try_for_each(|job| runner.check_kept(job))?;
    }
    for job in jobs {
        let counted = runner.run(&job, args.dir.as_deref(), |how, hardware| {
            let job = job.clone().settings(how);
            let Some(dir) = &args.dir else {
                return Ok(job.run_on(hardware)?.into());
            };
            let run = RunDirectory::create(dir, &job).configuration(kept(&settings));
            let run = run.shard(args.shard.unwrap_or(Shard::WHOLE));
            run.run_on(hardware).map(BoardResult::from)
        })?;
        if let Some(counted) = &counted {
            printer.print(counted)?;
        }
        if let Some(dir) = &args.dir {
            count_report::tell(dir, counted.and_then(|counted| counted.who), quiet)?;
        }
    }
    Ok(())
}

/// What a second count takes, by the kernels that it chooses.
fn cost_of_again(dir: &Path, runner: &JobRunner) -> Result<String, Failure> {
    let store = Store::open_to_read(dir)?;
    let plans = store.plans()?;
    let first = FirstCounts::read(&store)?;
    let left = first.once().count() as u64 + first.open().len() as u64;
    match (left, store.recorded_tasks()?) {
        (0, 0) => return Ok("to count again: nothing is recorded".to_owned()),
        (0, _) => {
            let nothing = "to count again: nothing, every recorded task is counted twice";
            return Ok(nothing.to_owned());
        }
        _ => {}
    }
    let planned: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let hardware = runner.hardware();
    let of_plan = |plan: &Arc<dyn Plan>| {
        let first = CountedBy::Cpu(plan.kernel(hardware.counter.isa).into());
        let kernel = second_kernel(plan.as_ref(), &hardware.counter, &first);
        plan.total_cost() * kernel.seconds_per_cost(plan.as_ref()).unwrap_or(0.0)
    };
    let all: f64 = plans.iter().map(of_plan).sum();
    let seconds = all * left as f64 / planned.max(1) as f64;
    let time = match hardware.devices_for(&plans)? {
        [] => wall_time(left, seconds, hardware),
        devices => format!("with {}", several(devices.len() as u64, "GPU")),
    };
    Ok(format!(
        "to count again: {}, by another kernel unless that takes four times as long, {time}",
        several(left, "task")
    ))
}

/// Counts a run a second time, and prints its result, and how often its tasks are counted now.
fn again(dir: &Path, mut settings: Layers, json: bool) -> Result<(), Failure> {
    let run = RunDirectory::resume(dir)?;
    let as_before = kept_settings::keep(&mut settings, dir);
    let run = run.configuration(kept(&settings));
    let config = settings.config();
    let runner = JobRunner::new(config, json)?;
    let n = run.job().size();
    if !config.output.quiet {
        if let Some(kept) = as_before {
            say(&printable(&format!("as the session before, with {kept}")));
        }
        say(&cost_of_again(dir, &runner)?);
    }
    let again = runner.count_again(run);
    let again = again.map_err(|failure| failure.what_helps(dir))?;
    let store = Store::open_to_read(dir)?;
    let lines = count_report::corrections(dir, &store, &again.corrections)?;
    lines.iter().for_each(|line| say(&printable(line)));
    if let Some(result) = again.result {
        Printer::new(n, json).print(&BoardResult {
            result,
            who: Some(WhoCounted {
                confirmation: again.confirmation,
                ..WhoCounted::default()
            }),
        })?;
    } else if json {
        print_json(&json!({ "n": n, "total": null, "counted": again.confirmation }))?;
    }
    if !json {
        print(&format!("counted {}", again.confirmation))?;
    }
    Ok(store.check_decided()?)
}
