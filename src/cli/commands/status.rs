use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use console::{Term, truncate_str};
use serde_json::{Value as Json, json};

use crate::cli::count_report::counted;
use crate::cli::exit::Failure;
use crate::cli::output::print;
use crate::cli::shell::resume_command;
use crate::engine::Plan;
use crate::job::open;
use crate::ledger::{Latest, Status, Store, is_held, unix_time};
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

Shows what was recorded up to the last checkpoint, which a running process makes every second. \
Reading does not disturb the run.")]
pub struct Args {
    /// The directory of the run
    dir: PathBuf,

    /// Print one JSON object on a line
    #[arg(long)]
    json: bool,

    /// Repeat every two seconds until the run is finished or stopped
    #[arg(long)]
    watch: bool,
}

/// Prints how far the run in `dir` is.
#[cfg(feature = "tui")]
pub fn show(dir: &Path) -> Result<(), Failure> {
    run(&Args {
        dir: dir.to_owned(),
        json: false,
        watch: false,
    })
}

/// Shows how far a run is.
pub fn run(args: &Args) -> Result<(), Failure> {
    let mut screen = (args.watch && !args.json).then(Redrawn::new).flatten();
    loop {
        let begun = Instant::now();
        let (store, plans) = open(&args.dir)?;
        let held = is_held(&args.dir);
        let status = Status::read(&store, &plans)?;
        let state = DirectoryState::of(&status, held);
        if args.json {
            print(&printable_json(
                &to_json(&store, &plans, &status, state).to_string(),
            ))?;
        } else {
            let text = to_text(&args.dir, &store, &plans, &status, state);
            match &mut screen {
                Some(screen) => screen.show(&text)?,
                None => print(&text)?,
            }
        }
        if !args.watch || state != DirectoryState::Running {
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DirectoryState {
    Running,
    Stopped,
    Finished,
}

impl DirectoryState {
    fn of(status: &Status, held: bool) -> Self {
        match status.shard_tasks {
            (done, all) if done == all => Self::Finished,
            _ if held => Self::Running,
            _ => Self::Stopped,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Stopped => "stopped",
            Self::Finished => "finished",
        }
    }
}

/// Seconds since the last commit. The clocks of two machines may differ.
fn checkpoint_age(latest: &Latest) -> u64 {
    u64::try_from(unix_time().saturating_sub(latest.session.committed)).unwrap_or(0)
}

fn to_json(store: &Store, plans: &[Arc<dyn Plan>], status: &Status, state: DirectoryState) -> Json {
    let latest = status.latest.as_ref();
    let running = latest.filter(|_| state == DirectoryState::Running);
    let tally = |plan: &Arc<dyn Plan>| {
        let sum = status.sums.tallies.get(&plan.engine());
        json!({
            "plan": plan.name(),
            "tasks": plan.tasks(),
            "solutions": sum.map_or(0, |sum| sum.completions.solutions()).to_string(),
            "nodes": sum.map_or(0, |sum| sum.nodes).to_string(),
        })
    };
    json!({
        "n": store.info().n.get(),
        "state": state.name(),
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
        "host": latest.map(|latest| latest.session.facts.host.as_str()),
        "devices": latest.map_or(&[][..], |latest| &latest.session.facts.devices),
        "plans": plans.iter().map(tally).collect::<Vec<_>>(),
        "workers": latest.map_or_else(Vec::new, |latest| {
            latest
                .workers
                .iter()
                .map(|(name, speed)| {
                    json!({
                        "name": name,
                        "backend": speed.backend,
                        "tasks": speed.tasks,
                        "nodes_per_second": speed.nodes_per_second(),
                    })
                })
                .collect()
        }),
    })
}

fn to_text(
    dir: &Path,
    store: &Store,
    plans: &[Arc<dyn Plan>],
    status: &Status,
    state: DirectoryState,
) -> String {
    let info = store.info();
    let versions: Vec<_> = plans.iter().map(|plan| plan.name().to_string()).collect();
    let (done, all) = status.shard_tasks;
    let mut lines = vec![
        format!(
            "{}: n = {}, {}, {}",
            dir.display(),
            info.n,
            versions.join(" and "),
            state.name()
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
            DirectoryState::Running | DirectoryState::Stopped => "checkpoint",
        };
        lines.push(format!("{last:<11} {} ago", telemetry::duration(age)));
        for (name, speed) in &latest.workers {
            lines.push(format!(
                "{name:<11} {}, {} ({})",
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
    if state == DirectoryState::Stopped {
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
fn speed(latest: &Latest, state: DirectoryState) -> Option<String> {
    let facts = &latest.session.facts;
    let machine = format!("on {} ({})", facts.host, facts.isa);
    let elapsed = latest.session.elapsed;
    if latest.tasks == 0 || elapsed.is_zero() {
        let running = state == DirectoryState::Running;
        return running.then(|| format!("rate        not known yet, {machine}"));
    }
    let rates = format!(
        "{:.1} tasks/s, {}",
        latest.tasks_per_second(),
        telemetry::rate(latest.nodes, elapsed)
    );
    Some(match state {
        DirectoryState::Running => format!("rate        {rates} {machine}"),
        DirectoryState::Stopped | DirectoryState::Finished => {
            let time = if elapsed < Duration::from_millis(50) {
                "less than 0.1 s".to_owned()
            } else {
                telemetry::duration(elapsed)
            };
            format!("mean rate   {rates} over {time} {machine}")
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
