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
    Confirmation, Entry, HostShare, LedgerError, LoggedCorrection, OriginName, Store,
};
use queenfold_ledger::run_directory::open;

/// The most corrections that are listed.
const LISTED: usize = 20;

/// Says which counts of the run in `dir` differed, and, unless `quiet`, what each host did if there are several, how
/// often its tasks were counted and how to count again what was counted once. `known` is what a result says of that; without it, the ledger
/// is read.
///
/// # Errors
/// The ledger cannot be read.
pub fn tell(dir: &Path, known: Option<Confirmation>, quiet: bool) -> Result<(), Failure> {
    let confirmation = match known {
        Some(known) => known,
        None => Confirmation::read(&open(dir)?.0)?,
    };
    if confirmation.corrections > 0 {
        let (store, _) = open(dir)?;
        let report = CorrectionReport::new(dir, &store, &store.corrections()?)?;
        report.text().iter().for_each(|line| say(&printable(line)));
    }
    if !quiet && confirmation.hosts > 1 {
        let mut hosts = BTreeMap::new();
        HostShare::add(&Store::open_to_glance(dir)?, &mut hosts)?;
        host_fact(&hosts)
            .lines()
            .for_each(|line| say(&printable(&line)));
    }
    if !quiet {
        let once = confirmation.twice < confirmation.tasks;
        let array = dir.parent().filter(|_| dir.ends_with("whole"));
        let again = match array.filter(|array| ArrayDirectory::is_there(array)) {
            Some(array) => command("array", &[("--again", array.as_os_str())], None),
            None => again_command(dir),
        };
        let next = once.then(|| format!("; `{again}` counts them again"));
        say(&format!(
            "counted {confirmation}{}",
            next.unwrap_or_default()
        ));
    }
    Ok(())
}

/// Corrections in words, and what they mean for the run in a directory.
pub struct CorrectionReport {
    /// A line for each correction.
    pub lines: Vec<String>,
    /// The commands that count again what those did whose counts were wrong.
    pub commands: Vec<String>,
}

impl CorrectionReport {
    /// The report of some corrections of the run in `dir`.
    ///
    /// # Errors
    /// The ledger is damaged.
    pub fn new(
        dir: &Path,
        store: &Store,
        corrections: &[LoggedCorrection],
    ) -> Result<Self, LedgerError> {
        let hosts: BTreeMap<_, _> = store
            .sessions()?
            .into_iter()
            .map(|session| (session.id, session.facts.host))
            .collect();
        let host = |entry: &Entry| hosts.get(&entry.session).map_or("", String::as_str);
        let name = |entry: &Entry| OriginName::of(host(entry), entry.result.origin.worker);
        let words = |entry: &Entry| {
            let result = &entry.result;
            let by = &result.origin.counted_by;
            format!("{} by {by} ({})", result.tally.exact(), name(entry))
        };
        // The last correction of a task says all that the earlier ones say.
        let last: BTreeMap<_, _> = corrections
            .iter()
            .map(|logged| (logged.task(), logged))
            .collect();
        let mut wrong = BTreeSet::new();
        let mut lines = Vec::new();
        for (task, logged) in &last {
            let correction = &logged.correction;
            let mut results = correction.results().collect::<Vec<_>>();
            let end = match &correction.decision {
                None => "nothing decides, so the task is contested".to_owned(),
                Some(decision) => {
                    results.pop();
                    let right = &decision.result.result.tally;
                    for entry in &results {
                        if !entry.result.tally.agrees_with(right) {
                            wrong.insert(name(entry).to_string());
                        }
                    }
                    let stays = correction.recorded.result.tally.agrees_with(right);
                    let what = if stays { "stays" } else { "is replaced" };
                    let method = decision.method;
                    format!(
                        "{method} decided: {}; the record {what}",
                        words(&decision.result)
                    )
                }
            };
            let differ: Vec<_> = results.into_iter().map(words).collect();
            lines.push(format!(
                "task {task} was counted as {}; {end}",
                differ.join(", and as ")
            ));
        }
        let more = lines.len().saturating_sub(LISTED);
        lines.truncate(LISTED);
        if more > 0 {
            lines.push(format!("and {} more", several(more as u64, "correction")));
        }
        Ok(Self {
            lines,
            commands: wrong
                .iter()
                .map(|origin| verify_command(dir, origin))
                .collect(),
        })
    }

    /// All of it, in lines.
    pub fn text(&self) -> Vec<String> {
        let mut lines = self.lines.clone();
        let propose = |command| format!("count again what that worker did: `{command}`");
        lines.extend(self.commands.iter().map(propose));
        lines
    }
}

/// The command that counts again everything that an origin did in the run in `dir`.
pub fn verify_command(dir: &Path, origin: &str) -> String {
    command(
        "verify",
        &[("--origin", origin.as_ref())],
        Some(dir.as_os_str()),
    )
}
