//! Which tasks of two runs differ.

use super::confirmation::hosts;
use super::{Entry, LedgerError, Store};
use crate::engine::{Tally, TaskKey};

/// What comparing two runs showed.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Tasks that both runs have.
    pub common: u64,
    /// Tasks that only the first or only the second one has.
    pub only: [u64; 2],
    /// The tasks that differ, in canonical order, with the record of each run.
    pub differing: Vec<DifferingTask>,
}

/// A task with different records in two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DifferingTask {
    /// The task.
    pub task: TaskKey,
    /// What each run has.
    pub counts: [CountedWhere; 2],
}

/// A count, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedWhere {
    /// What was counted.
    pub tally: Tally,
    /// The kernel or device, in words.
    pub counted_by: String,
    /// The worker.
    pub worker: String,
    /// The host.
    pub host: String,
}

/// Compares the records of two runs of the same plans, task by task.
///
/// # Errors
/// One is damaged or contradicts itself, or they are of other boards or plans.
pub fn compare(one: &Store, other: &Store) -> Result<Comparison, LedgerError> {
    let stores = [one, other];
    let [first, second] = stores.map(|store| store.info().subject());
    if one.info().key() != other.info().key() {
        let dir = |store: &Store| store.file().parent().unwrap_or(store.file()).to_owned();
        return Err(LedgerError::Unlike {
            one: dir(one),
            first,
            other: dir(other),
            second,
        });
    }
    let hosts = [hosts(&one.sessions()?), hosts(&other.sessions()?)];
    let counted = |run: usize, entry: &Entry| CountedWhere {
        tally: entry.result.tally,
        counted_by: entry.result.origin.counted_by.to_string(),
        worker: entry.result.origin.worker.to_string(),
        host: hosts[run].get(&entry.session).cloned().unwrap_or_default(),
    };
    let mut found = Comparison::default();
    let theirs = other.sums()?.coverage;
    one.for_each(|entry| {
        let task = entry.result.key;
        if !theirs.holds(task) {
            found.only[0] += 1;
            return Ok(());
        }
        let Some(their) = other.get(task)? else {
            return Ok(());
        };
        found.common += 1;
        if !entry.result.tally.agrees_with(&their.result.tally) {
            found.differing.push(DifferingTask {
                task,
                counts: [counted(0, &entry), counted(1, &their)],
            });
        }
        Ok(())
    })?;
    found.only[1] = theirs.done() - found.common;
    Ok(found)
}
