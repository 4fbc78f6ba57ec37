use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;

use crate::actors::Report;
use crate::cli::args::flags::How;
use crate::cli::args::nats_flags::NatsFlags;
use crate::cli::commands::config::kept;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{print_json, say};
use crate::cli::session::event_command::NoticedRun;
use crate::cli::session::job_runner::JobRunner;
use crate::cluster::lease::Finish;
use crate::cluster::nats::{FoundRun, LinkEnd, RunName, WorkerSettings};
use crate::job::JobError;
use crate::machine::state_folder;
use crate::telemetry::{printable, several};

const HELP: &str = "\
Examples:
  queenfold work --nats nats://coordinator.example:4222 --run n24
  queenfold work --nats tls://coordinator.example --run n24 --credentials worker.txt --authority ca.pem
  queenfold work --nats nats://coordinator.example --run n24 --workers 8 --gpu off --time-limit 8h

Counts with all CPU workers and devices of this host what the coordinator of the run gives it, until the run is \
done or it is stopped. It may come and go at any time. The first Ctrl-C ends it within two seconds; tasks that \
are not done by then go to others. It may be started before the coordinator, and waits for it.

What it has counted stays in its journal until the coordinator has it in its ledger. A worker that is killed leaves \
its journal, and the next one on this host delivers it.";

/// Flags of `work`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    #[command(flatten)]
    nats: NatsFlags,

    /// The name of the run on the server
    #[arg(long, value_name = "NAME")]
    run: RunName,

    /// Where journals are kept; ~/.local/state/queenfold/work unless given
    #[arg(long, value_name = "DIR")]
    journal: Option<PathBuf>,

    #[command(flatten)]
    how: How,
}

/// Counts for the coordinator of a run.
pub fn run(args: &Args) -> Result<(), Failure> {
    let settings = args.how.settings()?;
    let config = settings.config();
    let runner = JobRunner::new(config)?;
    let quiet = config.output.quiet;
    let control = runner.control().clone();
    let draining = control.clone();
    let usual = || state_folder().map(|folder| folder.join("work"));
    let found = FoundRun::find(WorkerSettings {
        server: args.nats.server(),
        run: args.run.clone(),
        journals: args.journal.clone().or_else(usual),
        note: Arc::new(move |note: &str| {
            if !quiet {
                say(&printable(note));
            }
        }),
        stopped: Arc::new(move || draining.is_draining()),
    })?;
    let (board, plans) = (found.board, found.plans.clone());
    let facts = runner.facts(&plans, kept(&settings))?;
    let taking_part = found.take_part(&facts, control)?;
    let (source, recorder) = (taking_part.source(), taking_part.recorder());
    let run = NoticedRun {
        board,
        directory: None,
    };
    let report = runner.observed(&run, |how, hardware| {
        how.count_for(hardware, &plans, source, recorder)
    });
    let end = taking_part.leave();
    let report = report?;
    runner.say_profile(board.size(), report.as_ref().ok());
    ended(args, &report, &end, quiet)?;
    if config.output.json
        && let Ok(report) = &report
    {
        print_json(
            &json!({ "tasks": report.tasks_done, "seconds": report.elapsed.as_secs_f64() }),
        )?;
    }
    Ok(())
}

/// Says how it ended.
fn ended(
    args: &Args,
    report: &Result<Report, JobError>,
    end: &LinkEnd,
    quiet: bool,
) -> Result<(), Failure> {
    if let (Some(journal), false) = (&end.journal, quiet) {
        say(&printable(&format!(
            "{} without a receipt in {}: the next `queenfold work` on this host delivers them",
            several(end.unreceipted as u64, "result"),
            journal.display()
        )));
    }
    if let Some(why) = &end.refused {
        return Err(Failure::new(
            Exit::Error,
            format!(
                "the coordinator of run {} refused this worker: {why}",
                args.run
            ),
        ));
    }
    let report = match report {
        Ok(report) => report,
        Err(JobError::Run(error)) => return Err(Failure::from(error.clone())),
        Err(error) => return Err(Failure::new(Exit::Error, error)),
    };
    match &end.finish {
        Some(Finish::Failed(why)) => Err(Failure::counts_differ(format!(
            "run {} has failed: {why}",
            args.run
        ))),
        Some(Finish::Done) => {
            if !quiet {
                say(&format!(
                    "run {} is done; counted {} here",
                    args.run,
                    several(report.tasks_done, "task")
                ));
            }
            Ok(())
        }
        None => Err(Failure::new(
            Exit::Stopped,
            format!(
                "stopped after {} of run {}; the rest goes to others",
                several(report.tasks_done, "task"),
                args.run
            ),
        )),
    }
}
