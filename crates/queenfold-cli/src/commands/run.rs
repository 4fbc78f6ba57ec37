//! `queenfold run`: counts boards, in a run directory if one is named.

use std::path::PathBuf;

use super::array_task::array_task;
use super::census::census;
use crate::args::boards::Boards;
use crate::args::flags::ConfigFlags;
use crate::commands::config::kept;
use crate::exit::Failure;
use crate::print::board_result::BoardResult;
use crate::print::count_report;
use crate::print::result_table::Printer;
use crate::session::job_runner::JobRunner;
use queenfold::board::GivenBoard;
use queenfold_ledger::cluster::ArrayDirectory;
use queenfold_ledger::ledger::Shard;
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
  queenfold run --census -n 4..=20     only the solutions that a turn fixes

Prints one row for each board: its size, all solutions, those that differ by more than a rotation \
or reflection, and the time it took. With --queens, --holes or --board it counts the completions in all, and \
those up to the symmetries that fix the given board. The first Ctrl-C stops the run within two seconds: tasks \
that are not done by then are given up. The second one stops it at once. SIGUSR2, or the key p on a terminal, \
pauses and resumes the run.";

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

    /// Count only the solutions that a half turn (r180) or a quarter turn (r90) fixes, on CPU workers
    #[arg(long, conflicts_with_all = ["dir", "shard", "task", "yes", "engine", "no-unique", "unique", "gpu"])]
    census: bool,

    /// Begin a run of more than a day although nothing of it would be kept
    #[arg(long, conflicts_with = "dir")]
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
    if let (Some(dir), Some(task)) = (&args.dir, args.task) {
        return array_task(dir, task, &settings, args.json);
    }
    let config = settings.config();
    let boards = args.boards.all()?;
    if args.census {
        return census(boards, config, args.json);
    }
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
