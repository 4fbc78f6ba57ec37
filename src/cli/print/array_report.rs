//! How far a job array is: which shards, on which hosts, and how to go on.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::host_lines::{host_fact, seen_ago};
use super::shard_moments::ShardMoments;
use super::status_report::StatusReport;
use crate::board::GivenSquares;
use crate::cli::shell::{command_on, word};
use crate::cluster::{ArrayDirectory, IndexList, Scheduler, ShardState, ask};
use crate::ledger::{HostShare, LedgerError};
use crate::telemetry::{Fact, RunFacts, several};

/// The script of the array in `dir`, as a word of a shell.
pub fn script_word(scheduler: Scheduler, dir: &Path) -> String {
    let mut script = dir.join(scheduler.script());
    // Schedulers would read an option; and a shell looks for a bare name on its path.
    if script.as_os_str().as_encoded_bytes().starts_with(b"-") || dir.as_os_str().is_empty() {
        script = Path::new(".").join(script);
    }
    word(script.as_os_str())
}

/// The commands that submit these shards, for each scheduler that the array has a script for. None are for
/// [`outdated_scripts`].
pub fn submit_again(directory: &ArrayDirectory, dir: &Path, shards: &IndexList) -> Vec<String> {
    let there = Scheduler::ALL.into_iter().filter(|scheduler| {
        scheduler.has_script(directory) && scheduler.other_target(directory).is_none()
    });
    there
        .map(|scheduler| scheduler.submit(&script_word(scheduler, dir), shards))
        .collect()
}

/// A line for each script that was written before the array came to this place. Its array tasks would fail, and
/// under Slurm without a word.
pub fn outdated_scripts(directory: &ArrayDirectory, dir: &Path) -> Vec<String> {
    let outdated = Scheduler::ALL.into_iter().filter_map(|scheduler| {
        let target = scheduler.other_target(directory)?;
        Some(format!(
            "{} is of {}: give its `queenfold array` command again, with --replace --dir {}",
            dir.join(scheduler.script()).display(),
            target.display(),
            dir.display()
        ))
    });
    outdated.collect()
}

/// Reads the ledgers of all shards of the array in `dir`, which is as the user named it, and asks its scheduler.
///
/// # Errors
/// One of them is damaged, or belongs to another array.
pub fn array_report(directory: &ArrayDirectory, dir: &Path) -> Result<StatusReport, LedgerError> {
    let array = directory.array();
    let plans = array.plans();
    let division = directory.division(&plans);
    let gathered = directory.is_gathered()?;
    // Asked first: what it starts meanwhile holds its lock below.
    let queue = (!gathered).then(|| ask(directory)).flatten();
    let mut indices: [Vec<u64>; 4] = Default::default();
    let mut hosts = BTreeMap::new();
    let mut faulty = Vec::new();
    let mut moments = ShardMoments::default();
    let mut done = 0;
    for index in 0..array.shards() {
        let (mut state, ledger) = directory.state_of(index, &division)?;
        // Locks may not reach from host to host.
        let runs = queue
            .as_ref()
            .is_some_and(|queue| queue.running.contains(index));
        if runs && state != ShardState::Finished {
            state = ShardState::Running;
        }
        indices[state as usize].push(index);
        moments.add(index, state, &directory.shard(index));
        let Some((store, sums)) = ledger else {
            continue;
        };
        HostShare::add(&store, &mut hosts)?;
        done += sums.coverage.done();
        for session in store.sessions()? {
            let host = session.facts.host;
            let workers = session.facts.sick.into_iter();
            faulty.extend(workers.map(|worker| (host.clone(), worker)));
        }
    }
    let all: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let known = RunFacts {
        tasks: (done, Some(all)),
        share: Some(done as f64 / all.max(1) as f64),
        nodes_per_second: moments.nodes_per_second(),
        eta: moments.left(),
        checkpoint: hosts.values().map(seen_ago).min().map(Duration::from_secs),
        audits: hosts.values().map(|host| host.audits).sum(),
        faulty,
        ..RunFacts::default()
    };
    let mut facts = known.table();
    let [not_begun, running, stopped, finished] = indices.map(IndexList::from_iter);
    let rest = stopped.iter().chain(not_begun.iter());
    let waits = |index: &u64| queue.as_ref().is_some_and(|of| of.waiting.contains(*index));
    let (waiting, lost): (Vec<_>, Vec<_>) = rest.partition(waits);
    let [waiting, lost] = [waiting, lost].map(IndexList::from_iter);
    let mut states = [
        ("finished", "finished", &finished),
        ("running", "running", &running),
        ("stopped", "stopped", &stopped),
        ("not begun", "not_begun", &not_begun),
        ("waiting", "waiting", &waiting),
        ("in no queue", "in_no_queue", &lost),
    ]
    .map(|(name, key, shards)| {
        // The last two are what the queue says.
        let is_known = queue.is_some() || !["waiting", "in_no_queue"].contains(&key);
        let which = match shards.len() {
            0 => String::new(),
            number if number == array.shards() => String::new(),
            _ => format!(": {shards}"),
        };
        let number = format!(
            "{} of {}{which}",
            shards.len(),
            several(array.shards(), "shard")
        );
        let is_told = is_known && (key == "finished" || !shards.is_empty());
        Fact::new(name, is_told.then_some(number))
            .key(key, is_known.then(|| shards.iter().collect::<Vec<_>>()))
    });
    let why = moments.why();
    states[2]
        .words
        .extend(why.map(|(why, shards)| format!("{shards}: {}", why.in_words())));
    let why = moments.why().map(|(why, shards)| {
        json!({
            "why": why.name(),
            "shards": shards.iter().collect::<Vec<_>>(),
            "reason": why.reason(),
        })
    });
    let why: Vec<_> = why.collect();
    states[2].json.push(("stopped_why", json!(why)));
    facts.extend(states);
    let is_last = gathered || finished.len() == array.shards();
    let gather = command_on("gather", dir);
    let unless = if queue.is_none() {
        ", unless they wait in the queue"
    } else {
        ""
    };
    let next = match (gathered, is_last) {
        (true, _) => Vec::new(),
        (false, true) => vec![format!("`{gather}`")],
        // Nothing is to be done while all wait or run.
        (false, false) if lost.is_empty() => Vec::new(),
        (false, false) => submit_again(directory, dir, &lost)
            .iter()
            .map(|command| format!("`{command}`{unless}"))
            .collect(),
    };
    let moved = match is_last {
        true => Vec::new(),
        false => outdated_scripts(directory, dir),
    };
    facts.extend([
        host_fact(&hosts),
        Fact::new(
            "gathered",
            gathered.then(|| format!("all; `{gather}` prints the total")),
        )
        .key("gathered", gathered),
        Fact::new("go on", next),
        Fact::new("moved", moved),
    ]);
    let names: Vec<_> = plans.iter().map(|plan| plan.name()).collect();
    Ok(StatusReport {
        title: format!("{}: the array of {array}", dir.display()),
        json: json!({
            "n": array.board().size(),
            "given": GivenSquares::of(array.board()),
            "plans": names,
            "shards": array.shards(),
        }),
        facts,
        is_last,
    })
}
