//! Which tasks of several runs differ.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::merge::check_alike;
use super::{LedgerError, MergeSource, RecordedTask, RunInfo, Sessions};
use crate::engine::{Plan, Tally, TaskKey};

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

/// Compares the records of runs of the same board by the same `plans`, task by task. Nothing is written.
///
/// # Errors
/// One is damaged or contradicts itself, or they are of other boards or plans.
pub fn differences<'a>(
    sources: impl IntoIterator<Item = Result<MergeSource<'a>, LedgerError>>,
    plans: &[Arc<dyn Plan>],
) -> Result<Differences, LedgerError> {
    let mut counts: BTreeMap<TaskKey, Vec<CountedWhere>> = BTreeMap::new();
    let mut first: Option<(PathBuf, RunInfo)> = None;
    for source in sources {
        let MergeSource { path, store, .. } = source?;
        let (one, info) = first.get_or_insert_with(|| (path.clone(), store.info().clone()));
        check_alike((one, info), (&path, store.info()))?;
        store.info().check_plans(store.file(), plans)?;
        let sessions = Sessions::of(store.sessions()?);
        store.for_each_task(|RecordedTask { record: entry, .. }| {
            let result = entry.result;
            counts.entry(result.key).or_default().push(CountedWhere {
                dir: path.clone(),
                tally: result.tally,
                counted_by: result.origin.counted_by.to_string(),
                worker: result.origin.worker.to_string(),
                host: sessions.host(&entry.session).cloned().unwrap_or_default(),
            });
        })?;
    }
    counts.retain(|_, counts| counts.len() > 1);
    let common = counts.len() as u64;
    let differs = |counts: &[CountedWhere]| {
        let first = &counts[0].tally;
        counts.iter().any(|count| !count.tally.agrees_with(first))
    };
    counts.retain(|_, counts| differs(counts));
    Ok(Differences {
        common,
        differing: counts.into_iter().collect(),
    })
}
