//! `queenfold resume`: lets a paused run go on, or continues one that nobody counts.

use std::path::{Path, PathBuf};

use crate::args::flags::How;
use crate::args::kept_settings;
use crate::commands::config;
use crate::control::asking::{WAIT, ask};
use crate::control::live_run::of_holder;
use crate::exit::{Exit, Failure};
use crate::output::say;
use crate::print::board_result::BoardResult;
use crate::print::count_report;
use crate::print::result_table::Printer;
use crate::session::job_runner::JobRunner;
use crate::shell::resume_command;
use crate::telemetry::printable;
use queenfold::actors::PauseReason;
use queenfold_ledger::cluster::ArrayDirectory;
use queenfold_ledger::ledger::{Request, holder_of, host_name, is_held};
use queenfold_ledger::run_directory::RunDirectory;

const HELP: &str = "\
Examples:
  queenfold resume n20
  queenfold resume n20 --workers 4 --time-limit 8h

Board, engine and shard stay as they were when the run was started. So do --nice, --during, --max-temp and \
--progress-every as the session before had them, unless this command line, the environment or a configuration file says \
otherwise; everything else (workers, instruction set) follows these alone. \
If the run is finished, its result is printed and nothing is counted.

If a process works on the run, and `pause`, a key or a signal has paused it, that process goes on, and this command \
ends with 0 when it does. If it is not paused, or there are flags, the run is in use (exit code 1). Of a job \
array, the shards go on that are paused.";

/// Flags of `resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    #[command(flatten)]
    how: How,

    /// Print the result as one object of JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Lets a paused run go on, or continues one that nobody counts, and prints its result.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut settings = args.how.settings()?;
    let is_array = ArrayDirectory::is_there(&args.dir);
    let is_asked = || {
        let live = of_holder(&args.dir);
        live.is_some_and(|live| live.progress.paused_for.contains(&PauseReason::Asked))
    };
    let is_paused = !is_array && is_held(&args.dir) && is_asked();
    // Whoever says how to count wants to count here.
    match settings.has_flags() || args.json {
        false if is_array || is_paused => return ask(&args.dir, Request::Resume, WAIT),
        true if is_paused => return Err(paused(&args.dir)),
        _ => {}
    }
    let quiet = settings.config().output.quiet;
    let run = RunDirectory::resume(&args.dir)?;
    let kept = kept_settings::keep(&mut settings, &args.dir);
    let runner = JobRunner::new(settings.config(), args.json)?;
    // Not of a session that goes on: then this one does not begin.
    if let Some(kept) = kept.filter(|_| !quiet && !is_held(&args.dir)) {
        say(&printable(&format!("as the session before, with {kept}")));
    }
    let run = run.configuration(config::kept(&settings));
    let before = ArrayDirectory::counted_before(&args.dir)?;
    if before == Some(host_name()) {
        return Err(Failure::counted_here(&args.dir));
    }
    let run = run.other_way(before.is_some());
    let counted = runner.run(run.job(), Some(&args.dir), |how, hardware| {
        let run = run.clone().settings(how);
        run.run_on(hardware).map(BoardResult::from)
    });
    let counted = counted.map_err(|failure| failure.what_helps(&args.dir))?;
    if let Some(counted) = &counted {
        Printer::new(run.job().size(), args.json).print(counted)?;
    }
    count_report::tell(&args.dir, counted.and_then(|counted| counted.who), quiet)
}

/// Why a run that another process has paused is not continued here.
fn paused(dir: &Path) -> Failure {
    let (name, holder, resume) = (dir.display(), holder_of(dir), resume_command(dir));
    let why = format!("in use by another process ({holder}) and paused");
    Failure::new(
        Exit::Error,
        format!("{name} is {why}: `{resume}` without flags lets it go on"),
    )
}
