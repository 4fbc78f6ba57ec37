use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use serde_json::{Value as Json, json};

use crate::actors::PauseReason;
use crate::board::GivenSquares;
use crate::cli::array_report::ArrayReport;
use crate::cli::count_report::counted;
use crate::cli::exit::Failure;
use crate::cli::host_lines::{host_json, host_lines};
use crate::cli::live_run::{paused_for, state_in_words};
use crate::cli::output::print;
use crate::cli::shell::resume_command;
use crate::cluster::ArrayDirectory;
use crate::engine::Plan;
use crate::ledger::{Division, Latest, LedgerSums, Status, Store, is_held, unix_time};
use crate::run_directory::{open, open_to_glance};
use crate::telemetry::{self, printable, printable_json, several};

/// How often `--watch` reads the ledger.
const EVERY: Duration = Duration::from_secs(2);

/// `--watch` waits this many times as long as reading took, so that large ledgers are read less often.
const READING: u32 = 10;

/// Flags of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  queenfold status n20
  queenfold status n20 --watch
  queenfold status n20 --json
  queenfold status n20 --check         and whether the records are whole
  queenfold status array-n24           how far the shards of a job array are

Shows what was recorded up to the last checkpoint, which a running process makes every second. \
Reading does not disturb the run. What is recorded is believed here; with --check each record is checked, and \
--json has the solutions counted so far.")]
pub struct Args {
    /// The directory of the run, or of a job array
    dir: PathBuf,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,

    /// Check the file and the digest of each record, as all commands do that give out a result; for millions of tasks
    /// this takes a minute
    #[arg(long)]
    check: bool,

    /// Repeat every two seconds until the run is finished or stopped, or all shards of the array are finished
    #[arg(long)]
    watch: bool,
}

/// Prints how far the run in `dir` is.
#[cfg(feature = "tui")]
pub fn show(dir: &Path) -> Result<(), Failure> {
    run(&Args {
        dir: dir.to_owned(),
        json: false,
        check: false,
        watch: false,
    })
}

/// Shows how far a run is.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut screen = (args.watch && !args.json).then(Redrawn::new).flatten();
    if ArrayDirectory::is_there(&args.dir) {
        return array(args, &mut screen);
    }
    let mut division = None;
    loop {
        let begun = Instant::now();
        let open = if args.check { open } else { open_to_glance };
        let (store, plans) = open(&args.dir)?;
        let division = division.get_or_insert_with(|| Division::new(store.info().shard, &plans));
        let held = is_held(&args.dir);
        let (sums, status) = {
            // Not while it waits: on some file systems a commit waits for readers.
            let _moment = store.moment()?;
            let sums = args.check.then(|| store.sums()).transpose()?;
            (sums, Status::read(&store, &plans, division)?)
        };
        let state = DirectoryState::of(&status, held, &args.dir);
        if args.json {
            print(&printable_json(
                &to_json(&store, &plans, &status, &state, sums.as_ref()).to_string(),
            ))?;
        } else {
            let text = to_text(&args.dir, &store, &plans, &status, &state);
            match &mut screen {
                Some(screen) => screen.show(&text)?,
                None => print(&text)?,
            }
        }
        if !args.watch || !state.is_at_work() {
            return Ok(());
        }
        if !args.json && screen.is_none() {
            print("")?;
        }
        std::thread::sleep(EVERY.max(begun.elapsed() * READING));
    }
}

/// Shows how far a job array is.
fn array(args: &Args, screen: &mut Option<Redrawn>) -> Result<(), Failure> {
    let directory = ArrayDirectory::open(&args.dir)?;
    loop {
        let begun = Instant::now();
        let report = ArrayReport::read(&directory)?;
        if args.json {
            print(&printable_json(&report.json(&directory).to_string()))?;
        } else {
            let text = report.text(&directory, &args.dir);
            match screen {
                Some(screen) => screen.show(&text)?,
                None => print(&text)?,
            }
        }
        // No shard may run for days while all wait in the queue.
        if !args.watch || report.is_done() {
            return Ok(());
        }
        if !args.json && screen.is_none() {
            print("")?;
        }
        std::thread::sleep(EVERY.max(begun.elapsed() * READING));
    }
}

/// A text on a terminal that each later one replaces.
struct Redrawn {
    terminal: Term,
    /// Lines on the screen.
    lines: usize,
}

impl Redrawn {
    /// `None` if stdout is no terminal.
    fn new() -> Option<Self> {
        let terminal = Term::stdout();
        terminal.is_term().then_some(Self { terminal, lines: 0 })
    }

    fn show(&mut self, text: &str) -> io::Result<()> {
        let (rows, columns) = self.terminal.size();
        let shown = clipped(text, rows.into(), columns.into());
        self.terminal.clear_last_lines(self.lines)?;
        self.lines = shown.lines().count();
        self.terminal.write_line(&shown)
    }
}

/// The text cut to a terminal of this size, with a row below it for the cursor: a line that wraps, or
/// leaves the screen, could not be replaced.
fn clipped(text: &str, rows: usize, columns: usize) -> String {
    let mut lines: Vec<_> = text
        .lines()
        .map(|line| truncate_str(line, columns, "…").into_owned())
        .collect();
    let room = rows.saturating_sub(1).max(1);
    if lines.len() > room {
        let hidden = several((lines.len() + 1 - room) as u64, "line");
        lines.truncate(room - 1);
        lines.push(format!("… {hidden} more"));
    }
    lines.join("\n")
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum DirectoryState {
    Running,
    /// A process works on it, and is paused for these reasons.
    Paused(Vec<PauseReason>),
    Stopped,
    Finished,
}

impl DirectoryState {
    fn of(status: &Status, held: bool, dir: &Path) -> Self {
        match status.shard_tasks {
            (done, all) if done == all => Self::Finished,
            _ if held => paused_for(dir).map_or(Self::Running, Self::Paused),
            _ => Self::Stopped,
        }
    }

    /// Whether a process works on the run, paused or not.
    const fn is_at_work(&self) -> bool {
        matches!(self, Self::Running | Self::Paused(_))
    }

    const fn name(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Paused(_) => "paused",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
        }
    }

    /// Why it is paused; nothing if it is not.
    fn paused_for(&self) -> &[PauseReason] {
        match self {
            Self::Paused(reasons) => reasons,
            _ => &[],
        }
    }

    /// For people: `paused (outside its hours)`.
    fn in_words(&self) -> String {
        state_in_words(self.name(), self.paused_for())
    }
}

/// Seconds since the last commit. The clocks of two machines may differ.
fn checkpoint_age(latest: &Latest) -> u64 {
    u64::try_from(unix_time().saturating_sub(latest.session.committed)).unwrap_or(0)
}

fn to_json(
    store: &Store,
    plans: &[Arc<dyn Plan>],
    status: &Status,
    state: &DirectoryState,
    sums: Option<&LedgerSums>,
) -> Json {
    let latest = status.latest.as_ref();
    let running = latest.filter(|_| *state == DirectoryState::Running);
    let tally = |plan: &Arc<dyn Plan>| {
        let engine = plan.engine();
        let solutions = |sums: &LedgerSums| {
            let tally = sums.tallies.get(&engine);
            tally
                .map_or(0, |tally| tally.completions.solutions())
                .to_string()
        };
        json!({
            "plan": plan.name(),
            "tasks": plan.tasks(),
            // What nobody checked is not given out.
            "solutions": sums.map(solutions),
            "nodes": status.nodes.get(&engine).copied().unwrap_or(0).to_string(),
        })
    };
    let mut json = json!({
        "n": store.info().n().get(),
        "state": state.name(),
        "paused_for": state.paused_for(),
        "shard": store.info().shard.to_string(),
        "tasks_done": status.shard_tasks.0,
        "tasks_total": status.shard_tasks.1,
        "run_tasks_missing": status.missing.tasks(),
        "share": status.share,
        "tasks_per_second": latest
            .filter(|latest| latest.tasks > 0)
            .map(Latest::tasks_per_second),
        "nodes_per_second": latest
            .filter(|latest| latest.tasks > 0)
            .map(Latest::nodes_per_second),
        "eta_seconds": running.and_then(|latest| latest.left).map(|left| left.as_secs_f64()),
        "checkpoint_age_seconds": latest.map(checkpoint_age),
        "audits": status.audited,
        "counted": status.counted,
        "sick": status.sick.iter().map(|(host, sick)| {
            json!({
                "worker": sick.worker.to_string(),
                "host": host,
                "doubted": sick.suspects,
                "reason": sick.reason,
            })
        }).collect::<Vec<_>>(),
        "sessions": status.sessions,
        "hosts": host_json(&status.hosts),
        "host": latest.map(|latest| latest.session.facts.host.as_str()),
        "devices": latest.map_or(&[][..], |latest| &latest.session.facts.devices),
        "plans": plans.iter().map(tally).collect::<Vec<_>>(),
        "second_counts": latest.map_or(0, |latest| latest.second),
        "workers": latest.map_or_else(Vec::new, |latest| {
            latest
                .workers
                .iter()
                .map(|(worker, speed)| {
                    json!({
                        "name": worker.to_string(),
                        "backend": speed.backend,
                        "tasks": speed.tasks,
                        "nodes_per_second": speed.nodes_per_second(),
                    })
                })
                .collect()
        }),
    });
    if let Some(given) = GivenSquares::of(&store.info().board) {
        json["given"] = json!(given);
    }
    json
}

fn to_text(
    dir: &Path,
    store: &Store,
    plans: &[Arc<dyn Plan>],
    status: &Status,
    state: &DirectoryState,
) -> String {
    let info = store.info();
    let versions: Vec<_> = plans.iter().map(|plan| plan.name().to_string()).collect();
    let (done, all) = status.shard_tasks;
    let mut lines = vec![
        format!(
            "{}: {}, {}, {}",
            dir.display(),
            info.board.in_words(),
            versions.join(" and "),
            state.in_words()
        ),
        match all {
            0 => "done        this shard has no tasks".to_owned(),
            _ => format!(
                "done        {done} of {}, {:.1} %",
                several(all, "task"),
                100.0 * status.share
            ),
        },
    ];
    if info.shard.count() > 1 {
        lines.push(format!("shard       {}", info.shard));
    }
    if let Some(latest) = &status.latest {
        lines.extend(speed(latest, state));
        if !latest.session.facts.devices.is_empty() {
            lines.push(format!(
                "devices     {}",
                latest.session.facts.devices.join(", ")
            ));
        }
        if let (DirectoryState::Running, Some(left)) = (state, latest.left) {
            lines.push(format!("left        {}", telemetry::duration(left)));
        }
        let age = Duration::from_secs(checkpoint_age(latest));
        let last = match state {
            DirectoryState::Finished => "ended",
            _ => "checkpoint",
        };
        lines.push(format!("{last:<11} {} ago", telemetry::duration(age)));
        for (worker, speed) in &latest.workers {
            lines.push(format!(
                "{:<11} {}, {} ({})",
                worker.to_string(),
                several(speed.tasks, "task"),
                telemetry::rate(speed.nodes, speed.busy),
                speed.backend
            ));
        }
    }
    lines.push(format!("audits      {}", status.audited));
    lines.push(format!("counted     {}", counted(&status.counted)));
    if status.counted.corrections > 0 {
        lines.push(format!(
            "corrected   {}, {} contested",
            several(status.counted.corrections, "correction"),
            several(status.counted.contested, "task")
        ));
    }
    for (host, sick) in &status.sick {
        lines.push(format!(
            "sick        {} on {host} counted wrongly: {}",
            sick.worker, sick.reason
        ));
    }
    lines.push(format!("sessions    {}", status.sessions));
    // The lines above say all of a single one.
    if status.hosts.len() > 1 {
        lines.extend(host_lines(&status.hosts));
    }
    if *state == DirectoryState::Stopped {
        lines.push(format!(
            "stopped     continue with `{}`",
            resume_command(dir)
        ));
    }
    // Some of them say what the directory of a stranger says.
    let lines: Vec<_> = lines.iter().map(|line| printable(line)).collect();
    lines.join("\n")
}

/// How fast the latest process is, or was, since it began. `None` if it has ended and counted nothing.
fn speed(latest: &Latest, state: &DirectoryState) -> Option<String> {
    let facts = &latest.session.facts;
    let machine = format!("on {} ({})", facts.host, facts.isa);
    let elapsed = latest.session.elapsed;
    if latest.tasks == 0 || elapsed.is_zero() {
        return state
            .is_at_work()
            .then(|| format!("rate        not known yet, {machine}"));
    }
    // Otherwise the figures would seem to be those of the records.
    let which = match latest.second {
        0 => "",
        _ => ", of the second count",
    };
    let rates = format!(
        "{:.1} tasks/s, {}",
        latest.tasks_per_second(),
        telemetry::rate(latest.nodes, elapsed)
    );
    Some(match state {
        DirectoryState::Running | DirectoryState::Paused(_) => {
            format!("rate        {rates} {machine}{which}")
        }
        DirectoryState::Stopped | DirectoryState::Finished => {
            let time = if elapsed < Duration::from_millis(50) {
                "less than 0.1 s".to_owned()
            } else {
                telemetry::duration(elapsed)
            };
            format!("mean rate   {rates} over {time} {machine}{which}")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::clipped;

    #[test]
    fn what_is_redrawn_fits_the_screen() {
        let text = (0..30).map(|line| format!("{line} {}\n", "x".repeat(50)));
        let text: String = text.collect();
        for (rows, columns) in [(24, 80), (24, 40), (5, 10), (1, 3)] {
            let shown = clipped(&text, rows, columns);
            assert!(shown.lines().count() < rows.max(2), "{shown}");
            assert!(
                shown
                    .lines()
                    .all(|line| line.chars().count() <= columns.max(15)),
                "{shown}"
            );
        }
        assert!(clipped(&text, 24, 80).ends_with("… 8 lines more"));
        assert_eq!(clipped("a\nb", 24, 80), "a\nb");
    }
}
