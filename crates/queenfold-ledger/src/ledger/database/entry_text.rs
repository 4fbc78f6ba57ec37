//! A recorded task in the words of the columns of a row. A correction keeps its counts in these words, as JSON.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ledger::Entry;
use crate::ledger::database::origin_columns::OriginColumns;
use queenfold::engine::{Tally, TaskKey, TaskResult};

/// The longest name in a column, in bytes: of a kernel, a device, a worker or a session.
const LONGEST_NAME: usize = 256;

/// The longest duration of a task, in microseconds: a year.
const LONGEST: u64 = 366 * 86_400 * 1_000_000;

/// An entry without its task.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EntryText<'a> {
    pub tally: Tally,
    pub backend: Cow<'a, str>,
    pub device: Cow<'a, str>,
    pub worker: Cow<'a, str>,
    pub audited_by: Option<Cow<'a, str>>,
    pub session: Cow<'a, str>,
    pub duration_us: u64,
    pub recorded_at: i64,
}

impl<'a> EntryText<'a> {
    pub fn of(entry: &'a Entry) -> Self {
        let result = &entry.result;
        let origin = OriginColumns::of(&result.origin);
        let audited_by = result.audited_by.as_deref();
        Self {
            tally: result.tally,
            backend: origin.backend.into(),
            device: origin.device.into(),
            worker: origin.worker.into(),
            audited_by: audited_by.map(Cow::Borrowed),
            session: entry.session.as_str().into(),
            duration_us: entry.microseconds(),
            recorded_at: entry.recorded_at,
        }
    }

    /// Whether names are short, counts possible and no larger than a column holds, and times not too long.
    fn is_plausible(&self) -> bool {
        let tally = &self.tally;
        let names = [&self.backend, &self.device, &self.worker, &self.session];
        let mut names = names.into_iter().chain(&self.audited_by);
        // Boards up to 32 have fewer than 2⁷¹ solutions, so sums of such tallies stay below 2¹²⁸.
        let counts = tally.completions.by_weight();
        let mut counts = counts.iter().chain([&tally.r180, &tally.r90]);
        names.all(|name| name.len() <= LONGEST_NAME)
            && counts.all(|&count| count < 1 << 80)
            && tally.nodes.max(tally.partitions) <= i64::MAX.unsigned_abs()
            && self.duration_us <= LONGEST
    }

    /// The entry of `key` that it was made of; `None` if no run records such a one.
    pub fn entry(self, key: TaskKey) -> Option<Entry> {
        if !self.is_plausible() {
            return None;
        }
        let origin = OriginColumns {
            backend: &self.backend,
            device: &self.device,
            worker: self.worker.into_owned(),
        };
        let result = TaskResult {
            key,
            tally: self.tally,
            origin: origin.read()?,
            audited_by: self.audited_by.map(|name| name.into_owned().into()),
            duration: Duration::from_micros(self.duration_us),
        };
        Some(Entry {
            result,
            session: self.session.into_owned(),
            recorded_at: self.recorded_at,
        })
    }
}
