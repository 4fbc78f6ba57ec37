//! The table `correction`: the log of counts that differed, and what was decided.

use std::collections::BTreeMap;

use rusqlite::{Row, params};

use crate::ledger::database::digest::{Digest, DigestFields, context};
use crate::ledger::database::entry_text::EntryText;
use crate::ledger::{Entry, LedgerError, Store};
use queenfold::engine::{Correction, Decision, TaskKey};

/// A correction as the log keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedCorrection {
    /// Its place among those of its task, from 0. The last one tells what the task stands at.
    pub number: u64,
    /// The results, each with the process that counted it, and the decision.
    pub correction: Correction<Entry>,
    /// Which process logged it: the id of a session.
    pub session: String,
    /// When, in seconds since 1970 by the clock of its machine.
    pub recorded_at: i64,
}

impl LoggedCorrection {
    /// The task.
    pub const fn task(&self) -> TaskKey {
        self.correction.recorded.result.key
    }

    /// Whether it leaves open which result is right.
    pub const fn is_open(&self) -> bool {
        self.correction.decision.is_none()
    }

    /// Whether it says the same as `other`, at whatever place of a log.
    pub(crate) fn repeats(&self, other: &Self) -> bool {
        (&self.correction, &self.session, self.recorded_at)
            == (&other.correction, &other.session, other.recorded_at)
    }

    /// The digest that is stored with it in a run with the key `run`, which covers every field and the key, and the results as
    /// the text that the log keeps.
    fn digest(&self, run: &Digest, text: &str) -> Digest {
        let task = self.task();
        DigestFields::new(context::CORRECTION)
            .bytes(&run.0)
            .text(task.engine.name())
            .u64(task.index)
            .u64(self.number)
            .text(text)
            .text(&self.session)
            .i64(self.recorded_at)
            .digest()
    }

    fn text(&self) -> String {
        let correction = &self.correction;
        let decision = correction.decision.as_ref();
        let text = Correction {
            recorded: EntryText::of(&correction.recorded),
            others: correction.others.iter().map(EntryText::of).collect(),
            decision: decision.map(|decision| Decision {
                method: decision.method,
                result: EntryText::of(&decision.result),
            }),
        };
        // A struct of numbers and texts always becomes JSON.
        serde_json::to_string(&text).unwrap_or_default()
    }
}

/// The correction of a task that a text of the log stands for; `None` if no run makes such a one.
fn read(text: &str, key: TaskKey) -> Option<Correction<Entry>> {
    let text: Correction<EntryText<'_>> = serde_json::from_str(text).ok()?;
    let correction = text.map(|entry| entry.entry(key)).whole()?;
    let recorded = &correction.recorded.result.tally;
    let differs = |entry: &Entry| !entry.result.tally.agrees_with(recorded);
    let differ = correction.results().any(differs);
    differ.then_some(correction)
}

/// The last correction of each task.
pub(super) fn last_corrections(log: Vec<LoggedCorrection>) -> BTreeMap<TaskKey, LoggedCorrection> {
    let by_task = log.into_iter().map(|logged| (logged.task(), logged));
    by_task.collect()
}

impl Store {
    /// The tasks whose results differ, and nothing has decided yet, each with its last correction.
    ///
    /// # Errors
    /// The log is damaged.
    pub(crate) fn contested(&self) -> Result<BTreeMap<TaskKey, LoggedCorrection>, LedgerError> {
        let mut last = last_corrections(self.corrections()?);
        last.retain(|_, last| last.is_open());
        Ok(last)
    }

    /// Checks that no task is contested, so that the sums may be a result.
    ///
    /// # Errors
    /// [`LedgerError::Contested`]; the log is damaged.
    pub fn check_decided(&self) -> Result<(), LedgerError> {
        let tasks: Vec<_> = self.contested()?.into_keys().collect();
        match tasks.is_empty() {
            true => Ok(()),
            false => Err(LedgerError::Contested {
                file: self.file().to_owned(),
                tasks,
            }),
        }
    }

    /// The log of counts that differed, by the name of the engine, then by task, then in the order in
    /// which it was written.
    ///
    /// # Errors
    /// It is damaged.
    pub fn corrections(&self) -> Result<Vec<LoggedCorrection>, LedgerError> {
        self.log_of(None)
    }

    /// What the log has of one task, in the order in which it was written, or of all.
    pub(crate) fn log_of(
        &self,
        task: Option<TaskKey>,
    ) -> Result<Vec<LoggedCorrection>, LedgerError> {
        let sql = "SELECT engine, task, number, correction, session, recorded_at, blake3 FROM correction \
                   WHERE ?1 IS NULL OR engine = ?1 AND task = ?2 ORDER BY engine, task, number";
        let of = params![task.map(|of| of.engine.name()), task.map(|of| of.index)];
        let mut last = None;
        self.rows(sql, of, |row| {
            let logged = self.whole("a correction", self.read_correction(row))?;
            let task = logged.task();
            let before = last.filter(|(before, _)| *before == task);
            if logged.number != before.map_or(0, |(_, number)| number + 1) {
                return Err(self.damaged(format!("a correction of task {task} is missing")));
            }
            last = Some((task, logged.number));
            Ok(logged)
        })
    }

    fn read_correction(&self, row: &Row<'_>) -> rusqlite::Result<Option<LoggedCorrection>> {
        let engine: String = row.get(0)?;
        let (text, stored): (String, [u8; 32]) = (row.get(3)?, row.get(6)?);
        let key = self.task(&engine, row.get(1)?);
        let Some(correction) = key.and_then(|key| read(&text, key)) else {
            return Ok(None);
        };
        let logged = LoggedCorrection {
            number: row.get(2)?,
            correction,
            session: row.get(4)?,
            recorded_at: row.get(5)?,
        };
        let same = logged.text() == text && logged.digest(self.key(), &text).0 == stored;
        Ok(same.then_some(logged))
    }

    /// Adds a correction to the log.
    pub(crate) fn log(&self, logged: &LoggedCorrection) -> Result<(), LedgerError> {
        let (task, text) = (logged.task(), logged.text());
        let row = params![
            task.engine.name(),
            task.index,
            logged.number,
            text,
            logged.session,
            logged.recorded_at,
            logged.digest(self.key(), &text).0
        ];
        let sql = "INSERT INTO correction VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.execute(sql, row).map(drop)
    }
}
