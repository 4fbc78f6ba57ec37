//! How far a run is, by what its directory has recorded.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::host_lines::{faulty_lines, host_json, host_lines, sick_json};
use crate::actors::PauseReason;
use crate::board::GivenSquares;
use crate::cli::args::manners;
use crate::cli::control::live_run::{paused_for, state_in_words};
use crate::cli::exit::Failure;
use crate::cli::shell::resume_command;
use crate::config::Layers;
use crate::engine::Plan;
use crate::ledger::{Division, Latest, LedgerSums, RunInfo, Status, is_held};
use crate::run_directory::{open, open_to_glance};
use crate::telemetry::{self, Fact, RunFacts, measured, printable, several};

/// How far a run is.
pub struct DirectoryReport {
    info: RunInfo,
    plans: Vec<Arc<dyn Plan>>,
    status: Status,
    facts: RunFacts,
    state: DirectoryState,
    /// The sums of records that were checked, if they were.
    sums: Option<LedgerSums>,
}

impl DirectoryReport {
    /// Reads the directory of a run, and checks the digest of each record if `check` says so. The division of the plan
    /// is made at the first call and kept for the next.
    ///
    /// # Errors
    /// There is no run, or it is damaged or of other plans.
    pub fn read(dir: &Path, check: bool, division: &mut Option<Division>) -> Result<Self, Failure> {
        let open = if check { open } else { open_to_glance };
        let (store, plans) = open(dir)?;
        let division = division.get_or_insert_with(|| Division::new(store.info().shard, &plans));
        let held = is_held(dir);
        let _moment = store.moment()?;
        let sums = check.then(|| store.sums()).transpose()?;
        let status = Status::read(&store, &plans, division)?;
        let state = DirectoryState::of(&status, held, dir);
        let mut facts = status.facts();
        facts.eta = facts.eta.filter(|_| state == DirectoryState::Running);
        Ok(Self {
            info: store.info().clone(),
            plans,
            facts,
            state,
            status,
            sums,
        })
    }

    /// Whether a process works on the run, paused or not.
    pub const fn is_at_work(&self) -> bool {
        self.state.is_at_work()
    }

    /// For programs.
    pub fn json(&self) -> Json {
        let Self {
            info,
            plans,
            status,
            facts,
            state,
            ..
        } = self;
        let latest = status.latest.as_ref();
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
                "solutions": self.sums.as_ref().map(solutions),
                "nodes": status.nodes.get(&engine).copied().unwrap_or(0).to_string(),
            })
        };
        json!({
            "n": info.n(),
            "given": GivenSquares::of(&info.board),
            "state": state.name(),
            "paused_for": state.paused_for(),
            "shard": info.shard.to_string(),
            "tasks_done": facts.tasks.0,
            "tasks_total": facts.tasks.1,
            "run_tasks_missing": status.missing.tasks(),
            "share": status.share,
            "tasks_per_second": latest
                .filter(|latest| latest.tasks > 0)
                .map(Latest::tasks_per_second),
            "nodes_per_second": facts.nodes_per_second,
            "eta_seconds": facts.eta.map(|eta| eta.left.as_secs_f64()),
            "checkpoint_age_seconds": facts.checkpoint.map(|age| age.as_secs()),
            "audits": facts.audits,
            "counted": status.counted,
            "sick": sick_json(&facts.faulty),
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
        })
    }

    /// For people. `dir` is as they named it.
    pub fn text(&self, dir: &Path) -> String {
        let Self {
            info,
            plans,
            status,
            facts,
            state,
            ..
        } = self;
        let versions: Vec<_> = plans.iter().map(|plan| plan.name().to_string()).collect();
        let mut lines = vec![
            format!(
                "{}: {}, {}, {}",
                dir.display(),
                info.board.in_words(),
                versions.join(" and "),
                state.in_words()
            ),
            facts.done().line(),
        ];
        if info.shard.count() > 1 {
            lines.push(format!("shard       {}", info.shard));
        }
        if let Some(latest) = &status.latest {
            lines.extend(speed(facts, latest, state).map(|speed| speed.line()));
            if !latest.session.facts.devices.is_empty() {
                lines.push(format!(
                    "devices     {}",
                    latest.session.facts.devices.join(", ")
                ));
            }
        }
        lines.extend(facts.left().map(|left| left.line()));
        if let Some(latest) = &status.latest {
            let checkpoint = facts.checkpoint();
            let last = match state {
                DirectoryState::Finished => Fact::new("ended", checkpoint.value),
                _ => checkpoint,
            };
            lines.push(last.line());
            for (worker, speed) in &latest.workers {
                lines.push(format!(
                    "{:<11} {}, {} (last by {})",
                    worker.to_string(),
                    several(speed.tasks, "task"),
                    telemetry::rate(speed.nodes, speed.busy),
                    speed.backend
                ));
            }
        }
        lines.extend(facts.audits().map(|audits| audits.line()));
        lines.push(format!("counted     {}", status.counted));
        lines.extend(facts.corrections().map(|of| of.line()));
        lines.extend(faulty_lines(facts));
        lines.push(format!("sessions    {}", status.sessions));
        if let Some(flags) = manners::keep(&mut Layers::defaults(), dir) {
            lines.push(format!("guest       {flags}"));
        }
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

/// How fast the latest process is, or was, since it began. `None` if it has ended and counted nothing.
fn speed(facts: &RunFacts, latest: &Latest, state: &DirectoryState) -> Option<Fact> {
    let Fact { name, value } = facts.speed();
    let of = &latest.session.facts;
    let machine = format!("on {} ({})", of.host, of.isa);
    let is_at_work = state.is_at_work();
    if facts.nodes_per_second.is_none() {
        return is_at_work.then(|| Fact::new(name, format!("{value}, {machine}")));
    }
    let (name, time) = match is_at_work {
        true => (name, String::new()),
        false => {
            let elapsed = measured(latest.session.elapsed);
            ("mean speed", format!(" over {elapsed}"))
        }
    };
    // Otherwise the figures would seem to be those of the records.
    let which = match latest.second {
        0 => "",
        _ => ", when it counted tasks a second time",
    };
    let tasks = latest.tasks_per_second();
    let value = format!("{value}, {tasks:.1} tasks/s{time} {machine}{which}");
    Some(Fact::new(name, value))
}
