use std::path::{Path, PathBuf};

use toml::Value as Toml;

use crate::actors::PauseReason;
use crate::cli::args::flags::How;
use crate::cli::commands::config::annotated;
use crate::cli::control::asking::{WAIT, ask};
use crate::cli::control::live_run::of_holder;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;
use crate::cli::print::board_result::BoardResult;
use crate::cli::print::count_report;
use crate::cli::print::printer::Printer;
use crate::cli::session::job_runner::JobRunner;
use crate::cli::shell::resume_command;
use crate::cluster::ArrayDirectory;
use crate::config::{Layers, SettingOrigin};
use crate::ledger::{Request, holder_of, is_held};
use crate::run_directory::{RunDirectory, open};

const HELP: &str = "\
Examples:
  queenfold resume n20
  queenfold resume n20 --workers 4 --time-limit 8h

Board, engine and shard stay as they were when the run was started. Everything else (workers, \
instruction set, throttle) follows this command line, the environment and the configuration files. \
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
}

/// Lets a paused run go on, or continues one that nobody counts, and prints its result.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.how.settings()?;
    let is_array = ArrayDirectory::is_there(&args.dir);
    let is_asked = || {
        let live = of_holder(&args.dir);
        live.is_some_and(|live| live.progress.paused_for.contains(&PauseReason::Asked))
    };
    let is_paused = !is_array && is_held(&args.dir) && is_asked();
    // Whoever says how to count wants to count here.
    match settings.has_flags() {
        false if is_array || is_paused => return ask(&args.dir, Request::Resume, WAIT),
        true if is_paused => return Err(paused(&args.dir)),
        _ => {}
    }
    let quiet = settings.config().output.quiet;
    let runner = JobRunner::new(settings.config())?;
    let run = RunDirectory::resume(&args.dir)?.configuration(annotated(&settings));
    // Not of a session that goes on: then this one does not begin.
    if !quiet
        && !is_held(&args.dir)
        && let Some(left_out) = left_out(&args.dir, &settings)
    {
        say(&left_out);
    }
    let counted = runner.run(run.job(), Some(&args.dir), |how, hardware| {
        let run = run.clone().settings(how);
        let result = run.run_on(hardware)?;
        Ok(BoardResult::resumed(result, &args.dir)?)
    })?;
    if let Some(counted) = &counted {
        Printer::new(run.job().size(), &settings.config().output).print(counted)?;
    }
    count_report::tell(
        &args.dir,
        counted.and_then(|counted| counted.confirmation),
        quiet,
    )?;
    Ok(())
}

/// Why a run that another process has paused is not continued here.
fn paused(dir: &Path) -> Failure {
    Failure::new(
        Exit::Error,
        format!(
            "{} is in use by another process ({}) and paused: `{}` without flags lets it go on",
            dir.display(),
            holder_of(dir),
            resume_command(dir)
        ),
    )
}

/// How a run stands back behind others. A session takes these settings from nobody but its own sources: it may be on
/// another machine.
const MANNERS: [(&str, &str); 3] = [
    ("run.nice", "--nice"),
    ("run.during", "--during"),
    ("run.max_temp", "--max-temp"),
];

/// Says which of these the last session had and this one lacks, if there are any. A configuration that cannot be read, as of
/// another version, says nothing.
fn left_out(dir: &Path, settings: &Layers) -> Option<String> {
    let sessions = open(dir).ok()?.0.sessions().ok()?;
    let defaults = Layers::defaults();
    let mut before = defaults.clone();
    before.add_text(dir, &sessions.last()?.facts.config).ok()?;
    let value = |layers: &Layers, key: &str| -> Option<Toml> {
        let (_, value, _) = layers.entries().find(|(name, ..)| name == key)?;
        Some(value.clone())
    };
    let flags = MANNERS.into_iter().filter_map(|(key, flag)| {
        let had = value(&before, key)?;
        let is_lost = Some(&had) != value(&defaults, key).as_ref()
            && *settings.origin(key) == SettingOrigin::Default;
        let text = had.as_str().map_or_else(|| had.to_string(), str::to_owned);
        is_lost.then(|| format!("{flag} {text}"))
    });
    let flags: Vec<_> = flags.collect();
    (!flags.is_empty()).then(|| {
        format!(
            "the session before had {}, and this one has not: `resume` takes the same flags",
            flags.join(" ")
        )
    })
}
