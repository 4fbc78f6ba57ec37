//! Which tasks of several runs differ.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::confirmation::hosts;
use super::merge::check_alike;
use super::{LedgerError, RunInfo, Store};
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
    /// The directory of the run.
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
pub fn differences<P: AsRef<Path>>(
    dirs: &[P],
    plans: &[Arc<dyn Plan>],
) -> Result<Differences, LedgerError> {
    let mut counts: BTreeMap<TaskKey, Vec<CountedWhere>> = BTreeMap::new();
    let mut first: Option<(&Path, RunInfo)> = None;
    for dir in dirs.iter().map(AsRef::as_ref) {
        let store = Store::open_to_read(dir)?;
        let (one, info) = first.get_or_insert_with(|| (dir, store.info().clone()));
        check_alike((one, info), (dir, store.info()))?;
        store.info().check_plans(store.file(), plans)?;
        let hosts = hosts(&store.sessions()?);
        store.for_each(|entry| {
            let result = entry.result;
            counts.entry(result.key).or_default().push(CountedWhere {
                dir: dir.to_owned(),
                tally: result.tally,
                counted_by: result.origin.counted_by.to_string(),
                worker: result.origin.worker.to_string(),
                host: hosts.get(&entry.session).cloned().unwrap_or_default(),
            });
            Ok(())
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
