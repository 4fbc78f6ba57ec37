//! The tables `record` and `second`: how a recorded task becomes a row, and how a row becomes a recorded task again.

use rusqlite::types::FromSql;
use rusqlite::{Row, params};

use crate::ledger::database::entry_text::EntryText;
use crate::ledger::{Column, Entry, LedgerError, Store};
use queenfold::board::decimal;
use queenfold::engine::{Tally, TaskKey};

/// How many columns an entry has.
pub(crate) const COUNT: usize = 18;

impl Store {
    /// The record of a task, if there is one.
    ///
    /// # Errors
    /// It is damaged.
    pub fn get(&self, task: TaskKey) -> Result<Option<Entry>, LedgerError> {
        self.get_from(Column::Record, task)
    }

    /// A count of a task, if there is one.
    ///
    /// # Errors
    /// It is damaged.
    pub fn get_from(&self, column: Column, task: TaskKey) -> Result<Option<Entry>, LedgerError> {
        let table = column.table();
        let sql = format!("SELECT * FROM {table} WHERE engine = ?1 AND task = ?2");
        let of_task = params![task.engine.name(), task.index];
        let mut found = self.rows(&sql, of_task, |row| self.entry(row, 0, column, true))?;
        Ok(found.pop())
    }

    /// The second counts of tasks whose record, and not they, a session wrote.
    pub(crate) fn seconds_to(&self, session: &str) -> Result<Vec<Entry>, LedgerError> {
        let sql = "SELECT s.* FROM second AS s JOIN record AS r ON r.engine = s.engine AND r.task = s.task \
                   WHERE r.session = ?1 AND s.session <> ?1";
        self.rows(sql, [session], |row| {
            self.entry(row, 0, Column::Second, true)
        })
    }

    /// Records a result, within the transaction that is open.
    ///
    /// # Errors
    /// It is recorded with another result; the file cannot be written.
    pub fn insert(&self, entry: &Entry) -> Result<(), LedgerError> {
        if self.put(Column::Record, entry)? {
            return Ok(());
        }
        let result = &entry.result;
        let there = self.recorded(result.key)?.result;
        if there.tally.agrees_with(&result.tally) {
            return Ok(());
        }
        Err(LedgerError::Disagreement {
            task: result.key,
            what: format!(
                "recorded as {} by {}, now counted as {} by {}",
                there.tally.exact(),
                there.origin.counted_by,
                result.tally.exact(),
                result.origin.counted_by
            ),
        })
    }

    /// Writes an entry, unless there is one of its task in the column; whether it did.
    pub(crate) fn put(&self, column: Column, entry: &Entry) -> Result<bool, LedgerError> {
        let sql = format!(
            "INSERT INTO {} VALUES ({}) ON CONFLICT (engine, task) DO NOTHING",
            column.table(),
            ["?"; COUNT].join(",")
        );
        let (key, text) = (entry.result.key, EntryText::of(entry));
        let [w1, w2, w4, w8] = text.tally.completions.by_weight().map(|c| c.to_string());
        let row = params![
            key.engine.name(),
            key.index,
            w1,
            w2,
            w4,
            w8,
            text.tally.r180.to_string(),
            text.tally.r90.to_string(),
            text.tally.partitions,
            text.tally.nodes,
            text.backend,
            text.device,
            text.worker,
            text.audited_by,
            text.session,
            text.duration_us,
            text.recorded_at,
            entry.digest(column, self.key()).0,
        ];
        Ok(self.execute(&sql, row)? > 0)
    }

    /// The entry in the columns of a row that begin at `from`, checked against its digest if that is asked for.
    pub(super) fn entry(
        &self,
        row: &Row<'_>,
        from: usize,
        column: Column,
        is_checked: bool,
    ) -> Result<Entry, LedgerError> {
        let what = column.what();
        let unlike = || self.damaged("a record holds what no count gives".to_owned());
        let (entry, stored) = self.sql(self.read_entry(row, from))?.ok_or_else(unlike)?;
        if is_checked && entry.digest(column, self.key()).0 != stored {
            let key = entry.result.key;
            return Err(self.damaged(format!("{what} {key} does not match its digest")));
        }
        Ok(entry)
    }

    /// The entry, and its digest; `None` if no run records such a one.
    fn read_entry(
        &self,
        row: &Row<'_>,
        from: usize,
    ) -> rusqlite::Result<Option<(Entry, [u8; 32])>> {
        let mut columns = from..;
        let mut next = || row.get_ref(columns.next().unwrap_or_default());
        let key = self.task(next()?.as_str()?, u64::column_result(next()?)?);
        let mut counts = [0; 6];
        for count in &mut counts {
            let Some(read) = decimal::read(next()?.as_str()?) else {
                return Ok(None);
            };
            *count = read;
        }
        let [w1, w2, w4, w8, r180, r90] = counts;
        let mut tally = Tally {
            r180,
            r90,
            partitions: FromSql::column_result(next()?)?,
            nodes: FromSql::column_result(next()?)?,
            ..Tally::default()
        };
        for (weight, count) in [(1, w1), (2, w2), (4, w4), (8, w8)] {
            tally.completions.add(weight, count);
        }
        let text = EntryText {
            tally,
            backend: next()?.as_str()?.into(),
            device: next()?.as_str()?.into(),
            worker: next()?.as_str()?.into(),
            audited_by: next()?.as_str_or_null()?.map(Into::into),
            session: next()?.as_str()?.into(),
            duration_us: FromSql::column_result(next()?)?,
            recorded_at: FromSql::column_result(next()?)?,
        };
        let stored = FromSql::column_result(next()?)?;
        Ok(key.and_then(|key| text.entry(key)).zip(Some(stored)))
    }
}
