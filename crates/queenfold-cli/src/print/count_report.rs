//! What is said of second counts and corrections of a run: how often tasks were counted, which counts
//! differed, and who is to be checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::host_lines::host_fact;
use crate::exit::Failure;
use crate::output::say;
use crate::shell::{again_command, command};
use crate::telemetry::printable;
use queenfold::words::several;
use queenfold_ledger::cluster::ArrayDirectory;
use queenfold_ledger::ledger::{
    Entry, LedgerError, LoggedCorrection, OriginName, Store, WhoCounted,
};

/// The most corrections that are listed.
const LISTED: usize = 20;

/// Says which counts of the run in `dir` differed, and, unless `quiet`, what each host did if there are several, how
/// often its tasks were counted and how to count again what was counted once. `known` is what a result says of that; without it, the ledger
/// is read.
///
/// # Errors
/// The ledger cannot be read.
pub fn tell(dir: &Path, known: Option<WhoCounted>, quiet: bool) -> Result<(), Failure> {
    let open = || Store::open_to_glance(dir);
    let known = known.map_or_else(|| Ok::<_, LedgerError>(open()?.sums()?.who), Ok)?;
    let confirmation = known.confirmation;
    // The total is printed: what has nothing to say must not fail.
    let mut lines = match confirmation.corrections {
        0 => Vec::new(),
        _ => open().and_then(|store| corrections(dir, &store, &store.corrections()?))?,
    };
    if !quiet && confirmation.hosts > 1 {
        lines.extend(host_fact(&known.hosts).lines());
    }
    if !quiet {
        let array = dir.parent().filter(|_| dir.ends_with("whole"));
        let again = match array.filter(|array| ArrayDirectory::is_there(array)) {
            Some(array) => command("array", &[("--again", array.as_os_str())], None),
            None => again_command(dir),
        };
        let next = match confirmation.twice < confirmation.tasks {
            true => format!("; `{again}` counts them again"),
            false => String::new(),
        };
        lines.push(format!("counted {confirmation}{next}"));
    }
    lines.iter().for_each(|line| say(&printable(line)));
    Ok(())
}

/// Corrections of the run in `dir` in words, a line for each, and the commands that count again what those did whose counts
/// were wrong.
///
/// # Errors
/// The ledger is damaged.
pub fn corrections(
    dir: &Path,
    store: &Store,
    corrections: &[LoggedCorrection],
) -> Result<Vec<String>, LedgerError> {
    let sessions = store.sessions()?.into_iter();
    let hosts: BTreeMap<_, _> = sessions.map(|of| (of.id, of.facts.host)).collect();
    let name = |entry: &Entry| {
        let host = hosts.get(&entry.session).map_or("", String::as_str);
        OriginName::of(host, entry.result.origin.worker)
    };
    let words = |entry: &Entry| {
        let result = &entry.result;
        let by = &result.origin.counted_by;
        format!("{} by {by} ({})", result.tally.exact(), name(entry))
    };
    // The last correction of a task says all that the earlier ones say.
    let last: BTreeMap<_, _> = corrections
        .iter()
        .map(|logged| (logged.task(), &logged.correction))
        .collect();
    let mut wrong = BTreeSet::new();
    let mut lines = Vec::new();
    for (task, correction) in last {
        let mut results = correction.results().collect::<Vec<_>>();
        let end = match &correction.decision {
            None => "nothing decides, so the task is contested".to_owned(),
            Some(decision) => {
                results.pop();
                let right = &decision.result.result.tally;
                let is_wrong = |entry: &&Entry| !entry.result.tally.agrees_with(right);
                let differ = results.iter().copied().filter(is_wrong);
                wrong.extend(differ.map(|entry| name(entry).to_string()));
                let what = match is_wrong(&&correction.recorded) {
                    true => "is replaced",
                    false => "stays",
                };
                format!(
                    "{} decided: {}; the record {what}",
                    decision.method,
                    words(&decision.result)
                )
            }
        };
        let differ: Vec<_> = results.into_iter().map(words).collect();
        let differ = differ.join(", and as ");
        lines.push(format!("task {task} was counted as {differ}; {end}"));
    }
    let more = lines.len().saturating_sub(LISTED);
    lines.truncate(LISTED);
    if more > 0 {
        lines.push(format!("and {} more", several(more as u64, "correction")));
    }
    lines.extend(wrong.iter().map(|origin| {
        let command = verify_command(dir, origin);
        format!("count again what that worker did: `{command}`")
    }));
    Ok(lines)
}

/// The command that counts again everything that an origin did in the run in `dir`.
pub fn verify_command(dir: &Path, origin: &str) -> String {
    command(
        "verify",
        &[("--origin", origin.as_ref())],
        Some(dir.as_os_str()),
    )
}
