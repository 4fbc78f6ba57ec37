use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::actors::{EventKind, Observer, Report, RunEvent};
use crate::cli::args::boards::boards;
use crate::cli::args::flags::{Shown, What, sources, tell_local};
use crate::cli::args::nats_flags::NatsFlags;
use crate::cli::commands::config::kept;
use crate::cli::control::steering::Says;
use crate::cli::exit::{Exit, Failure};
use crate::cli::output::say;
use crate::cli::print::board_result::BoardResult;
use crate::cli::print::count_report;
use crate::cli::print::printer::Printer;
use crate::cli::print::result_json::ResultJson;
use crate::cli::session::Session;
use crate::cli::session::event_command::NoticedRun;
use crate::cli::session::own_check::count_sample_again;
use crate::cli::shell::{command_on, serve_command};
use crate::cluster::ArrayDirectory;
use crate::cluster::lease::{BARS, LeaseTimes, random_secret};
use crate::cluster::nats::{Coordinated, CoordinatorSettings, RunName, coordinate};
use crate::config::{HumanDuration, Layers, Share, Value};
use crate::engine::{Engine, Plan};
use crate::job::{DeviceChoice, Hardware, HardwareSettings, JobResult, outcome, plan};
use crate::ledger::{Confirmation, FILE, Intake, Quorum, RunInfo, Shard, Store};
use crate::outcome::Checked;
use crate::telemetry::{Served, incident, printable, several};

const HELP: &str = "\
Examples:
  nats-server -c config/nats-server.conf
  queenfold serve n24 -n 24 --nats nats://localhost     begin a run, and coordinate it
  queenfold work --nats nats://localhost --run n24      count, on as many hosts as you like
  queenfold status n24                                  how far it is, and on which hosts
  queenfold watch n24                                   a dashboard of its hosts, from another terminal
  queenfold serve n24 --nats nats://localhost           go on after a stop, a crash, a power failure

The coordinator counts nothing itself: `work` may run beside it. It gives leases to workers, which are tasks to be \
counted, and writes what they count to the directory. A worker that is silent for the time of a lease loses it. \
Ctrl-C stops the coordinator alone; workers keep what they count and wait for the next one. A run that was begun \
by `run --dir` goes on with `serve`, and the other way round with `resume`. docs/CLUSTER.md has more.";

/// Flags of `serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = HELP, allow_negative_numbers = true)]
pub struct Args {
    /// The directory of the run, which is made if it is not there
    dir: PathBuf,

    #[command(flatten)]
    what: What,

    #[command(flatten)]
    nats: NatsFlags,

    /// The name of the run on the server; that of the directory unless given
    #[arg(long, value_name = "NAME")]
    run: Option<RunName>,

    /// How long a worker may be silent before its tasks go to others, from `2s`
    #[arg(long, value_name = "D", default_value = "30s", value_parser = HumanDuration::parse)]
    lease: HumanDuration,

    /// How much work a worker gets at once, from `1s`, while much is left
    #[arg(long, value_name = "D", default_value = "20s", value_parser = HumanDuration::parse)]
    work: HumanDuration,

    /// Have every task counted by two hosts that agree, and by a third where two differ; with a SHARE such as 0.05, only
    /// that share of the tasks of a host that others have confirmed a hundred times and never refuted. The directory
    /// remembers it
    #[arg(long, value_name = "SHARE", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(value_parser = share)]
    twice: Option<Share>,

    /// Settings in a TOML file: those of what is counted, for a new run, and of what is shown and written
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    shown: Shown,

    /// Print the result as JSON
    #[arg(long)]
    json: bool,

    /// Print no notes, only errors
    #[arg(long, short)]
    quiet: bool,
}

/// Coordinates a run over many hosts, and prints its result.
pub fn run(args: &Args) -> Result<(), Failure> {
    for (flag, HumanDuration(time), least) in [("--lease", args.lease, 2), ("--work", args.work, 1)]
    {
        if time < Duration::from_secs(least) {
            return Err(Failure::usage(format!(
                "{flag}: it must be at least {least} s"
            )));
        }
    }
    let run = name(args)?;
    let server = args.nats.server();
    let begun = Instant::now();
    let mut layers = sources(args.config.as_deref()).map_err(Failure::usage)?;
    let mut add = || {
        args.what
            .add_to(&mut layers)
            .and_then(|()| args.shown.add_to(&mut layers))
    };
    add().map_err(Failure::usage)?;
    tell_local(&layers);
    let mut config = layers.config().clone();
    config.output.json |= args.json;
    config.output.quiet |= args.quiet;
    let output = config.output.clone();
    let quiet = output.quiet;
    let session = Session::begin(
        &config,
        Says {
            // Its events say so.
            pauses: false,
            stop: (!quiet).then_some((
                "stopping",
                "; workers keep what they count, and wait for the next coordinator",
            )),
        },
    )?;
    let intake = intake(args, &layers)?;
    let plans = intake.plans().to_vec();
    let before = intake.before();
    let noticed = NoticedRun {
        board: intake.info().board,
        directory: Some(args.dir.clone()),
    };
    if !quiet {
        say(&format!(
            "{}: {}, run {run} at {}, {} of {} recorded",
            printable(&args.dir.display().to_string()),
            intake.info().subject(),
            server.url_without_password(),
            intake.recorded().done(),
            several(intake.recorded().tasks(), "task"),
        ));
    }
    let twice = quorum(args)?;
    let served = Served {
        server: server.url_without_password(),
        run: run.to_string(),
    };
    let url = served.server.clone();
    let coordinated = session.run(&noticed, Some(served), |how| {
        let mut observers = how.observers;
        if !quiet {
            observers.push(Arc::new(Notes));
        }
        let settings = CoordinatorSettings {
            server,
            run: run.clone(),
            times: LeaseTimes {
                lease: args.lease.0,
                work: args.work.0,
            },
            control: how.control,
            observers,
            given: args.dir.join("leases"),
            bars: args.dir.join(BARS),
            twice,
        };
        coordinate(intake, &settings)
    })?;
    let result = coordinated.map_err(Failure::from).and_then(|coordinated| {
        if !coordinated.is_whole {
            let go_on = serve_command(&args.dir, &url, &run.to_string());
            let why = format!(
                "stopped by {} before its end; `{go_on}` goes on",
                session.steering().stopped_by()
            );
            return Err(Failure::new(Exit::Stopped, why));
        }
        let control = session.steering().control();
        let unseen = count_sample_again(&args.dir, &plans, control, quiet)?;
        let counted = result(args, &plans, coordinated, before + begun.elapsed())?;
        let confirmation = counted.confirmation.as_ref();
        let twice = confirmation.is_some_and(|counted| counted.twice == counted.tasks);
        confirmed(&args.dir, &unseen, counted.result.checked, twice)?;
        Ok(counted)
    });
    let end = result.as_ref();
    session.end(
        &noticed,
        end.map(|counted| serde_json::to_value(ResultJson::new(counted)).ok()),
    );
    let counted = result?;
    Printer::new(counted.result.outcome.n, &output).print(&counted)?;
    count_report::tell(&args.dir, counted.confirmation, quiet)?;
    Ok(())
}

/// How many hosts a message names.
const HOSTS_NAMED: usize = 5;

/// Refuses a total to which sessions of these hosts contributed whose last canary was not seen, unless it is known, or
/// all of it was counted `twice`: audits, of which a session speaks itself, do not make up for that.
fn confirmed(
    dir: &Path,
    unseen: &BTreeSet<String>,
    checked: Checked,
    twice: bool,
) -> Result<(), Failure> {
    if unseen.is_empty() || checked == Checked::Known || twice {
        return Ok(());
    }
    let mut hosts: Vec<String> = unseen.iter().take(HOSTS_NAMED).cloned().collect();
    let more = (unseen.len() - hosts.len()) as u64;
    if more > 0 {
        hosts.push(format!("{more} more"));
    }
    let why = format!(
        "everything is recorded, but {} did not take leave, so that no last canary was seen: {}. To count all of it \
         again takes more than a minute: `{} --origin HOST` does that for a host, and `{}` prints the total",
        several(unseen.len() as u64, "host"),
        hosts.join(", "),
        command_on("verify", dir),
        command_on("resume", dir),
    );
    Err(Failure::new(Exit::Stopped, printable(&why)))
}

/// The name of the run: that of the directory if it may be one.
fn name(args: &Args) -> Result<RunName, Failure> {
    if let Some(name) = &args.run {
        return Ok(name.clone());
    }
    let path = std::path::absolute(&args.dir).unwrap_or_else(|_| args.dir.clone());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.parse()
        .map_err(|error| Failure::usage(format!("{error}; give another one with --run")))
}

/// Opens the ledger of the run, or makes it.
fn intake(args: &Args, layers: &Layers) -> Result<Intake, Failure> {
    if ArrayDirectory::is_there(&args.dir) {
        return Err(Failure::holds_array(&args.dir));
    }
    if args.dir.join(FILE).exists() {
        if args.what.is_given() {
            return Err(Failure::usage(format!(
                "{} holds a run already, which says what is counted: leave out -n and the like",
                args.dir.display()
            )));
        }
        let plans = |info: &RunInfo| {
            let engines = info.plans.iter().map(|plan| plan.engine);
            let engines = engines.filter(|engine| *engine != Engine::Own);
            engines.map(|engine| plan(engine, info.board)).collect()
        };
        return Ok(Intake::resume(&args.dir, plans)?);
    }
    let config = layers.config();
    let boards = boards(layers)?;
    let [board] = boards[..] else {
        return Err(Failure::usage(
            "a run directory holds one board: give one n",
        ));
    };
    let engine = match config.run.engine.0 {
        Some(engine) if engine.counts_all() => engine,
        Some(engine) => {
            return Err(Failure::usage(format!(
                "--engine: {engine} does not count all solutions"
            )));
        }
        None => {
            let hardware = Hardware::find(&HardwareSettings {
                devices: DeviceChoice::Off,
                ..HardwareSettings::default()
            })?;
            hardware.choose_engine(board)?
        }
    };
    let census = config.run.unique.then(|| plan(Engine::Census, board));
    let plans: Vec<Arc<dyn Plan>> = [Some(plan(engine, board)), census]
        .into_iter()
        .flatten()
        .collect();
    let info = RunInfo::new(board, &plans, Shard::WHOLE, kept(layers));
    Ok(Intake::create(&args.dir, &info, &plans)?)
}

/// Which tasks are counted by two hosts, as was asked now, or when the run began.
fn quorum(args: &Args) -> Result<Option<Quorum>, Failure> {
    let file = args.dir.join("twice");
    let failed =
        |error: io::Error| Failure::new(Exit::Error, format!("{}: {error}", file.display()));
    let Some(Share(share)) = args.twice else {
        return Quorum::read(&file).map_err(failed);
    };
    // Which tasks are chosen stays, so that nobody chooses by starting it often.
    let quorum = match Quorum::read(&file) {
        Ok(Some(quorum)) => quorum.with_share(share),
        Ok(None) => Quorum::new(share, random_secret().map_err(failed)?),
        Err(error) => return Err(failed(error)),
    };
    quorum.write(&file).map_err(failed)?;
    Ok(Some(quorum))
}

fn share(text: &str) -> Result<Share, String> {
    let share = Share::read(text).filter(|share| share.0 > 0.0);
    share.ok_or_else(|| "expected a share above 0 and at most 1, such as 0.05".to_owned())
}

/// Tells the user what happens among the hosts.
struct Notes;

impl Observer for Notes {
    fn event(&self, event: &RunEvent) {
        match &event.kind {
            EventKind::HostJoined { .. }
            | EventKind::HostLeft { .. }
            | EventKind::HostRefused { .. }
            | EventKind::HostSick { .. }
            | EventKind::ServerLost
            | EventKind::ServerBack
            | EventKind::ServerRefused { .. }
            | EventKind::Withdrawn { .. } => {
                if let Some(text) = incident(event) {
                    say(&printable(&text));
                }
            }
            EventKind::PausedFor { .. } => {
                say("paused: no tasks are given out, and workers count what they hold");
            }
            _ => {}
        }
    }
}

/// The result of a whole run, from its ledger.
fn result(
    args: &Args,
    plans: &[Arc<dyn Plan>],
    coordinated: Coordinated,
    elapsed: Duration,
) -> Result<BoardResult, Failure> {
    let store = Store::open_to_read(&args.dir)?;
    let sums = store.sums()?;
    let missing = sums.coverage.tasks() - sums.coverage.done();
    let Some(plan) = plans.first().filter(|_| missing == 0) else {
        return Err(Failure::new(
            Exit::Error,
            format!("{} was changed by another process", args.dir.display()),
        ));
    };
    store.check_decided(&sums)?;
    let outcome = outcome(plan.as_ref(), |engine| sums.tallies.get(&engine))?;
    let confirmation = Confirmation::read(&store)?;
    let result = JobResult {
        checked: confirmation.checked(&outcome),
        outcome,
        plan: Arc::clone(plan),
        workers: coordinated.cpu_workers as usize,
        kernel: "mixed",
        report: Report {
            tallies: sums.tallies,
            ..Report::default()
        },
        elapsed,
        cpu: None,
    };
    Ok(BoardResult {
        result,
        confirmation: Some(confirmation),
        earlier: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_last_canary_of_a_session_only_a_confirmed_total_is_printed() {
        let dir = Path::new("n28");
        let hosts = |count: usize| (0..count).map(|host| format!("node{host}")).collect();
        for (unseen, checked, twice) in [
            (0, Checked::Once, false),
            (2, Checked::Known, false),
            (2, Checked::Twice, true),
        ] {
            let confirmed = confirmed(dir, &hosts(unseen), checked, twice);
            assert!(confirmed.is_ok(), "{checked}");
        }
        // Of audits, a session speaks itself.
        for checked in [Checked::Once, Checked::Sampled(2), Checked::Twice] {
            let refused = confirmed(dir, &hosts(2), checked, false);
            let text = refused.unwrap_err().message;
            for part in [
                "2 hosts did not take leave",
                "node0, node1.",
                "verify",
                "resume",
                "n28",
            ] {
                assert!(text.contains(part), "{text}");
            }
        }
        let text = confirmed(dir, &hosts(7), Checked::Once, false)
            .unwrap_err()
            .message;
        assert!(text.contains("node4, 2 more."), "{text}");
    }
}
