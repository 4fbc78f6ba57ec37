//! Copies one run into another: records, second counts, corrections.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Column, Entry, Inserted, LedgerError, LoggedCorrection, RecordedTask, Store};
use crate::engine::TaskKey;

/// What was copied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Copied {
    /// Records.
    pub records: u64,
    /// Tasks that had a record with the same result.
    pub there: u64,
    /// Second counts, and records that became one.
    pub seconds: u64,
    /// Corrections.
    pub corrections: u64,
}

/// Copies what `source` holds into `target`, within its open transaction. The sessions are there. `ranks`
/// is called for an error message only.
pub(super) fn copy(
    source: &Store,
    target: &Store,
    ranks: &dyn Fn(TaskKey) -> Range<u64>,
    copied: &mut Copied,
) -> Result<(), LedgerError> {
    let mut merge = Merge {
        target,
        own: by_task(target.corrections()?),
        theirs: by_task(source.corrections()?),
        ranks,
        copied,
    };
    source.for_each_task(|task| merge.add(&task))?;
    merge.add_corrections()
}

fn by_task(log: Vec<LoggedCorrection>) -> BTreeMap<TaskKey, Vec<LoggedCorrection>> {
    let mut tasks: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for logged in log {
        tasks.entry(logged.task()).or_default().push(logged);
    }
    tasks
}

fn agree(one: &Entry, other: &Entry) -> bool {
    one.result.tally.agrees_with(&other.result.tally)
}

/// Whether the log decided for `right`, and against the result `wrong`.
fn decided(log: Option<&Vec<LoggedCorrection>>, right: &Entry, wrong: &Entry) -> bool {
    log.into_iter().flatten().any(|logged| {
        let correction = &logged.correction;
        let decision = correction.decision.as_ref();
        decision.is_some_and(|decision| agree(&decision.result, right))
            && correction.results().any(|result| agree(result, wrong))
    })
}

struct Merge<'a> {
    target: &'a Store,
    /// The log of the target, and that of the source.
    own: BTreeMap<TaskKey, Vec<LoggedCorrection>>,
    theirs: BTreeMap<TaskKey, Vec<LoggedCorrection>>,
    ranks: &'a dyn Fn(TaskKey) -> Range<u64>,
    copied: &'a mut Copied,
}

impl Merge<'_> {
    fn add(&mut self, task: &RecordedTask) -> Result<(), LedgerError> {
        let key = task.record.result.key;
        let Some(there) = self.target.get(key)? else {
            self.target.insert(&task.record, || (self.ranks)(key))?;
            self.copied.records += 1;
            return self.add_second(task.second.as_ref());
        };
        if agree(&there, &task.record) {
            self.copied.there += 1;
            // A count of another process confirms the one that is there; the same count, recorded in two places, does not.
            let is_other =
                |entry: &&Entry| (&entry.session, &entry.result) != (&there.session, &there.result);
            let mut other = task.second.iter().chain([&task.record]);
            return self.add_second(other.find(is_other));
        }
        if decided(self.own.get(&key), &there, &task.record) {
            self.copied.there += 1;
            return Ok(());
        }
        if decided(self.theirs.get(&key), &task.record, &there) {
            self.target.remove(Column::Record, key)?;
            self.target.remove(Column::Second, key)?;
            self.target.insert(&task.record, || (self.ranks)(key))?;
            self.copied.records += 1;
            return self.add_second(task.second.as_ref());
        }
        // Refused, with a message about both.
        let refused = self.target.insert(&task.record, || (self.ranks)(key));
        refused.map(|_| ())
    }

    fn add_second(&mut self, second: Option<&Entry>) -> Result<(), LedgerError> {
        let Some(second) = second else {
            return Ok(());
        };
        let ranks = || (self.ranks)(second.result.key);
        let inserted = self.target.insert_second(second, ranks)?;
        self.copied.seconds += u64::from(inserted == Inserted::New);
        Ok(())
    }

    /// Appends what the log of the target does not hold yet.
    fn add_corrections(&mut self) -> Result<(), LedgerError> {
        for (task, theirs) in std::mem::take(&mut self.theirs) {
            let own = self.own.entry(task).or_default();
            for logged in theirs {
                if own.iter().any(|own| own.repeats(&logged)) {
                    continue;
                }
                let logged = LoggedCorrection {
                    number: own.len() as u64,
                    ..logged
                };
                self.target.log(&logged)?;
                own.push(logged);
                self.copied.corrections += 1;
            }
        }
        Ok(())
    }
}
