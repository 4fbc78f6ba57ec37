//! How far a run is, by what its directory has recorded.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::host_lines::host_fact;
use super::status_text::StatusReport;
use crate::args::kept_settings;
use crate::config::Layers;
use crate::control::live_run::paused_for;
use crate::exit::Failure;
use crate::shell::resume_command;
use crate::telemetry::{Fact, RunFacts, state_in_words};
use queenfold::actors::RunState;
use queenfold::board::GivenSquares;
use queenfold::engine::Plan;
use queenfold::words::{measured, rate, several};
use queenfold_ledger::ledger::{Division, Latest, Status, Store, is_held};

/// Reads the directory of a run, and checks the digest of each record if `check` says so. The division of the plan
/// is made at the first call and kept for the next.
///
/// # Errors
/// There is no run, or it is damaged or of other plans.
pub fn directory_report(
    dir: &Path,
    check: bool,
    division: &mut Option<Division>,
) -> Result<StatusReport, Failure> {
    let store = match check {
        true => Store::open_to_read(dir)?,
        false => Store::open_to_glance(dir)?,
    };
    let plans = store.plans()?;
    let info = store.info();
    let division = division.get_or_insert_with(|| Division::new(info.shard, &plans));
    let held = is_held(dir);
    let _moment = store.moment()?;
    let status = Status::read(&store, &plans, division, check)?;
    let is_done = status.is_done();
    let paused_for = paused_for(dir).filter(|_| held && !is_done);
    let state = match paused_for {
        _ if is_done => RunState::Finished,
        Some(_) => RunState::Paused,
        None if held => RunState::Running,
        None => RunState::Stopped,
    };
    let paused_for = paused_for.unwrap_or_default();
    let mut known = RunFacts::of_ledger(&status);
    known.eta = known.eta.filter(|_| state == RunState::Running);
    let shard = info.shard.to_string();
    let mut hosts = host_fact(&status.sums.who.hosts);
    if status.sums.who.hosts.len() < 2 {
        // The other lines say all of it.
        hosts.words.clear();
    }
    let guest = kept_settings::keep(&mut Layers::default(), dir);
    let go_on = format!("continue with `{}`", resume_command(dir));
    let facts = known.table().into_iter().chain([Fact::new(
        "shard",
        (info.shard.count() > 1).then(|| shard.clone()),
    )
    .key("shard", &shard)
    .key("run_tasks_missing", status.missing.tasks())]);
    let facts = facts.chain(of_latest(status.latest.as_ref())).chain([
        Fact::new("counted", [status.sums.who.confirmation.to_string()])
            .key("counted", status.sums.who.confirmation),
        Fact::new("sessions", [status.sessions.to_string()]).key("sessions", status.sessions),
        Fact::new("guest", guest),
        hosts,
        Fact::new("stopped", (state == RunState::Stopped).then_some(go_on)),
    ]);
    let facts = facts.collect();
    let versions: Vec<_> = plans.iter().map(|plan| plan.name().to_string()).collect();
    let of_plan = |plan: &Arc<dyn Plan>| {
        let engine = plan.engine();
        let tally = status.sums.tallies.get(&engine).copied();
        let tally = tally.unwrap_or_default();
        // What nobody checked is not given out.
        let solutions = check.then(|| tally.completions.solutions().to_string());
        json!({
            "plan": plan.name(),
            "tasks": plan.tasks(),
            "solutions": solutions,
            "nodes": tally.nodes.to_string(),
        })
    };
    Ok(StatusReport {
        title: format!(
            "{}: {}, {}, {}",
            dir.display(),
            info.board.in_words(),
            versions.join(" and "),
            state_in_words(state, &paused_for)
        ),
        about: Fact::new("", None)
            .key("n", info.n())
            .key("given", GivenSquares::of(&info.board))
            .key("plans", plans.iter().map(of_plan).collect::<Vec<_>>())
            .key("state", state.name())
            .key("paused_for", &paused_for),
        facts,
        is_last: !held || is_done,
    })
}

/// The facts of the latest process: where it is and how fast, its devices and its workers.
fn of_latest(latest: Option<&Latest>) -> [Fact; 3] {
    let session = latest.map(|latest| &latest.session.facts);
    let fast = latest.filter(|latest| latest.tasks > 0 && !latest.session.elapsed.is_zero());
    let tasks_per_second = fast.map(Latest::tasks_per_second);
    let words = latest.map(|latest| {
        let of = &latest.session.facts;
        let speed = tasks_per_second.map(|speed| {
            let elapsed = measured(latest.session.elapsed);
            format!(", {speed:.1} tasks/s in {elapsed}")
        });
        let speed = speed.unwrap_or_default();
        // Otherwise the figures would seem to be those of the records.
        let which = match latest.second {
            0 => "",
            _ => ", when it counted tasks a second time",
        };
        let isa = match of.is_of_certificate() {
            true => String::new(),
            false => format!(" ({})", of.isa),
        };
        format!("on {}{isa}{speed}{which}", of.host)
    });
    let devices = session.map_or(&[][..], |of| &of.devices);
    let workers = latest.into_iter().flat_map(|latest| &latest.workers);
    let (lines, values): (Vec<_>, Vec<_>) = workers
        .map(|(worker, of)| {
            let (tasks, speed) = (several(of.tasks, "task"), rate(of.nodes, of.busy));
            let line = format!("{worker}: {tasks}, {speed} (last by {})", of.backend);
            let value = json!({
                "name": worker.to_string(),
                "backend": of.backend,
                "tasks": of.tasks,
                "nodes_per_second": of.nodes_per_second(),
            });
            (line, value)
        })
        .unzip();
    [
        Fact::new("process", words)
            .key("host", session.map(|of| &of.host))
            .key("tasks_per_second", tasks_per_second)
            .key("second_counts", latest.map_or(0, |latest| latest.second)),
        Fact::new("devices", (!devices.is_empty()).then(|| devices.join(", ")))
            .key("devices", devices),
        Fact::new("worker", lines).key("workers", values),
    ]
}
