//! Which tasks of several runs differ.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::ledger::merging::merge::check_alike;
use crate::ledger::{LedgerError, RecordedTask, RunInfo, Sessions, Store};
use queenfold::engine::{Tally, TaskKey};

/// What comparing runs showed.
#[derive(Clone, Debug, Default)]
pub struct Differences {
    /// Tasks that more than one of the runs has.
    pub common: u64,
    /// The tasks that differ, in canonical order, with the record of each run that has one.
    pub differing: Vec<(TaskKey, Vec<CountedWhere>)>,
}

/// A count, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedWhere {
    /// The directory of the run, or its file.
    pub dir: PathBuf,
    /// What was counted.
    pub tally: Tally,
    /// The kernel or device, in words.
    pub counted_by: String,
    /// The worker.
    pub worker: String,
    /// The host.
    pub host: String,
}

/// Compares the records of runs of the same board by the same plans, task by task. Nothing is written.
///
/// # Errors
/// One is damaged or contradicts itself, or they are of other boards or plans.
pub fn differences(
    sources: impl IntoIterator<Item = Result<Store, LedgerError>>,
) -> Result<Differences, LedgerError> {
    // There may be millions of tasks, but few that count them: who did is a number.
    let mut counts: BTreeMap<TaskKey, Vec<(usize, Tally)>> = BTreeMap::new();
    let mut all: Vec<CountedWhere> = Vec::new();
    let mut first: Option<(PathBuf, RunInfo)> = None;
    for source in sources {
        let store = source?;
        let path = store.place();
        let (one, info) = first.get_or_insert_with(|| (path.to_owned(), store.info().clone()));
        check_alike((one, info), (path, store.info()))?;
        store.plans()?;
        let sessions = Sessions::of(store.sessions()?);
        let mut known = HashMap::new();
        store.for_each_task(|RecordedTask { record: entry, .. }| {
            let (result, session) = (entry.result, entry.session);
            let host = sessions.host(&session).cloned();
            let by = known.entry((session, result.origin));
            let who = *by.or_insert_with_key(|(_, origin)| {
                all.push(CountedWhere {
                    dir: path.to_owned(),
                    tally: Tally::default(),
                    counted_by: origin.counted_by.to_string(),
                    worker: origin.worker.to_string(),
                    host: host.unwrap_or_default(),
                });
                all.len() - 1
            });
            counts
                .entry(result.key)
                .or_default()
                .push((who, result.tally));
        })?;
    }
    counts.retain(|_, counts| counts.len() > 1);
    let common = counts.len() as u64;
    counts.retain(|_, counts| {
        let (_, first) = counts[0];
        counts.iter().any(|(_, tally)| !tally.agrees_with(&first))
    });
    let of = |(who, tally): (usize, Tally)| CountedWhere {
        tally,
        ..all[who].clone()
    };
    let differing = counts.into_iter();
    Ok(Differences {
        common,
        differing: differing
            .map(|(task, counts)| (task, counts.into_iter().map(of).collect()))
            .collect(),
    })
}
