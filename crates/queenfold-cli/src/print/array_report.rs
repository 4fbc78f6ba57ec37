//! How far a job array is: which shards, on which hosts, and how to go on.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::host_lines::{host_fact, seen_ago};
use super::shard_moments::ShardMoments;
use super::status_text::StatusReport;
use crate::shell::{command, command_on, resume_command, word};
use crate::telemetry::{Fact, RunFacts};
use queenfold::board::GivenSquares;
use queenfold::words::several;
use queenfold_ledger::cluster::{ArrayDirectory, IndexList, Scheduler, Script, ShardState, ask};
use queenfold_ledger::ledger::{Coverage, HostShare, LedgerError, Store, WhoCounted};

/// The script of the array in `dir`, as a word of a shell.
pub fn script_word(script: Script, dir: &Path) -> String {
    let mut path = dir.join(script.name());
    // Schedulers would read an option; and a shell looks for a bare name on its path.
    if path.as_os_str().as_encoded_bytes().starts_with(b"-") || dir.as_os_str().is_empty() {
        path = Path::new(".").join(path);
    }
    word(path.as_os_str())
}

/// The commands that submit these shards, for each script that the array has. None are for [`outdated_scripts`].
pub fn submit_again(directory: &ArrayDirectory, dir: &Path, shards: &IndexList) -> Vec<String> {
    Script::all(directory)
        .filter(|script| script.other_target(directory).is_none())
        .map(|script| script.scheduler.submit(&script_word(script, dir), shards))
        .collect()
}

/// The command that continues the run in `dir`: of a shard of an array, a script of that.
pub fn continue_command(dir: &Path) -> String {
    let submit = || {
        let array = ArrayDirectory::of_shard(dir)?;
        let index: u64 = dir.file_name()?.to_str()?.parse().ok()?;
        let directory = ArrayDirectory::open(array).ok()?;
        let commands = submit_again(&directory, array, &IndexList::from_iter([index]));
        commands.into_iter().next()
    };
    submit().unwrap_or_else(|| resume_command(dir))
}

/// A line for each script that was written before the array came to this place. Its array tasks would fail, and
/// under Slurm without a word.
pub fn outdated_scripts(directory: &ArrayDirectory, dir: &Path) -> Vec<String> {
    let outdated = Script::all(directory).filter_map(|script| {
        let target = script.other_target(directory)?;
        Some(format!(
            "{} is of {}: give its `queenfold array` command again, with --replace --dir {}",
            dir.join(script.name()).display(),
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
    let (whole, lacking) = directory.so_far(&division)?;
    let gathered = whole.is_some() && lacking.first.is_empty();
    let is_done = array.is_done(&lacking);
    // Asked first: what it starts meanwhile holds its lock below.
    let queue = (!is_done).then(|| ask(directory)).flatten();
    let mut indices: [Vec<u64>; 4] = Default::default();
    let mut hosts = BTreeMap::<String, HostShare>::new();
    let mut faulty = Vec::new();
    let mut moments = ShardMoments::default();
    let (mut done, mut has_ledgers) = (None::<Coverage>, false);
    let mut add = |store: &Store, who: WhoCounted| {
        for (name, share) in who.hosts {
            hosts.entry(name).or_default().extend(share);
        }
        for session in store.sessions()? {
            let host = session.facts.host;
            let workers = session.facts.faulty.into_iter();
            faulty.extend(workers.map(|worker| (host.clone(), worker)));
        }
        Ok::<_, LedgerError>(())
    };
    let mut count = |coverage: Coverage| match &mut done {
        Some(done) => done.extend(&coverage),
        None => done = Some(coverage),
    };
    for index in 0..array.shards() {
        let (mut state, ledger) = directory.state_of(index, &division)?;
        // Locks may not reach from host to host.
        let runs = queue.as_ref().is_some_and(|of| of.running.contains(index));
        if !array.lacks(index, &lacking) {
            state = ShardState::Finished;
        } else if runs && state != ShardState::Finished {
            state = ShardState::Running;
        }
        if array.is_to_count(index) {
            indices[state as usize].push(index);
            if state != ShardState::Finished {
                moments.add(index, state, &directory.shard(index));
            }
        }
        if let Some((store, sums)) = ledger {
            has_ledgers = true;
            add(&store, sums.who)?;
            count(sums.coverage);
        }
    }
    // What came in files, or from directories that are there no more.
    if let Some((store, sums)) = whole {
        if !has_ledgers {
            add(&store, sums.who)?;
        }
        count(sums.coverage);
    }
    let done = done.map_or(0, |done| done.done());
    let all: u64 = plans.iter().map(|plan| plan.tasks()).sum();
    let known = RunFacts {
        tasks: (done, Some(all)),
        share: Some(done as f64 / all.max(1) as f64),
        nodes_per_second: moments.nodes_per_second,
        eta: moments.left(),
        checkpoint: hosts.values().map(seen_ago).min().map(Duration::from_secs),
        audits: hosts.values().map(|host| host.audits).sum(),
        faulty,
        ..RunFacts::default()
    };
    let mut facts = known.table();
    let [not_begun, running, stopped, finished] = indices.map(IndexList::from_iter);
    let of = array.to_count().count() as u64;
    let rest = stopped.iter().chain(not_begun.iter());
    let waits = |index: &u64| queue.as_ref().is_some_and(|of| of.waiting.contains(*index));
    let (waiting, lost): (Vec<_>, Vec<_>) = rest.partition(waits);
    let [waiting, lost] = [waiting, lost].map(IndexList::from_iter);
    let state = |name, key, shards: Option<&IndexList>| {
        let told = shards.filter(|shards| key == "finished" || !shards.is_empty());
        let words = told.map(|shards| {
            let which = match [0, of].contains(&shards.len()) {
                true => String::new(),
                false => format!(": {shards}"),
            };
            let is_again = |index: &u64| array.shard(*index).is_some_and(|of| of.again.is_some());
            let again: IndexList = shards.iter().filter(is_again).collect();
            let which = match key == "finished" || again.is_empty() {
                true => which,
                false => format!("{which} (second counts: {again})"),
            };
            format!("{} of {}{which}", shards.len(), several(of, "shard"))
        });
        Fact::new(name, words).key(key, shards.map(|of| of.iter().collect::<Vec<_>>()))
    };
    // Whoever starts the others keeps what they print.
    let has_logs = Script::all(directory).any(|of| of.scheduler != Scheduler::Shell);
    let why = moments.why.iter().map(|(why, shards)| {
        let of: IndexList = shards.iter().copied().collect();
        let (name, reason) = why.told();
        let value = json!({ "why": name, "shards": shards, "reason": reason });
        let logs = if name == "killed" && has_logs {
            "; the folder logs may say more"
        } else {
            ""
        };
        (format!("{of}: {}{logs}", why.in_words()), value)
    });
    let (why, values): (Vec<_>, Vec<_>) = why.unzip();
    let in_queue = |shards| queue.as_ref().map(|_| shards);
    facts.extend([
        state("finished", "finished", Some(&finished)),
        state("running", "running", Some(&running)),
        state("stopped", "stopped", Some(&stopped)),
        Fact::new("stopped", why).key("stopped_why", values),
        state("not begun", "not_begun", Some(&not_begun)),
        state("waiting", "waiting", in_queue(&waiting)),
        state("in no queue", "in_no_queue", in_queue(&lost)),
    ]);
    let is_last = is_done || finished.len() == of;
    let gather = command_on("gather", dir);
    let mut next = Vec::new();
    if is_last {
        next.extend((!is_done).then(|| format!("`{gather}`")));
    } else if !lost.is_empty() {
        let unless = match queue {
            None => ", unless they wait in the queue",
            Some(_) => "",
        };
        let submit = submit_again(directory, dir, &lost).into_iter();
        next.extend(submit.map(|command| format!("`{command}`{unless}")));
        let rest = command("array", &[("--rest", dir.as_os_str())], None);
        let smaller = format!("or first `{rest}`, which divides them into smaller shards");
        next.extend((done > 0 && !next.is_empty()).then_some(smaller));
    }
    let moved = match is_last {
        true => Vec::new(),
        false => outdated_scripts(directory, dir),
    };
    let whole = gathered.then(|| format!("all; `{gather}` prints the total"));
    let names: Vec<_> = plans.iter().map(|plan| plan.name()).collect();
    facts.extend([
        host_fact(&hosts),
        Fact::new("gathered", whole).key("gathered", gathered),
        Fact::new("go on", next),
        Fact::new("moved", moved),
    ]);
    Ok(StatusReport {
        title: format!("{}: the array of {array}", dir.display()),
        about: Fact::new("", None)
            .key("n", array.board().size())
            .key("given", GivenSquares::of(array.board()))
            .key("plans", names)
            .key("shards", of),
        facts,
        is_last,
    })
}
