//! The table `session`: how a session becomes a row, and how all of them are read.

use std::borrow::Cow;
use std::time::Duration;

use rusqlite::{Row, params};
use serde::{Deserialize, Serialize};

use crate::ledger::{Column, Facts, LedgerError, Session, Store};

/// The longest time of a session, in milliseconds: a century.
const LONGEST_TIME: u64 = 100 * 366 * 86_400 * 1000;

/// The column `facts`.
#[derive(Serialize, Deserialize)]
struct FactsText<'a> {
    #[serde(flatten)]
    facts: Cow<'a, Facts>,
    /// Microseconds. Ledgers of earlier versions lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu_us: Option<u64>,
}

impl Store {
    /// Adds a session, or updates the one with the same id.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_session(&self, session: &Session) -> Result<(), LedgerError> {
        let facts = FactsText {
            facts: Cow::Borrowed(&session.facts),
            cpu_us: session
                .cpu
                .map(|cpu| u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX)),
        };
        let unfit = |error: serde_json::Error| self.database(error.to_string());
        let facts = serde_json::to_string(&facts).map_err(unfit)?;
        // Nothing takes no time.
        let elapsed = session.elapsed.as_micros().div_ceil(1000);
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        let digest = Session::digest(self.key(), &session.id, &facts, elapsed, session.committed);
        let row = params![session.id, facts, elapsed, session.committed, digest.0];
        let sql = "INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5)";
        self.execute(sql, row).map(drop)
    }

    /// All sessions, by id.
    ///
    /// # Errors
    /// One is damaged.
    pub fn sessions(&self) -> Result<Vec<Session>, LedgerError> {
        let sql = "SELECT id, facts, elapsed_ms, committed, blake3 FROM session ORDER BY id";
        self.rows(sql, [], |row| {
            self.whole("a session", self.read_session(row))
        })
    }

    fn read_session(&self, row: &Row<'_>) -> rusqlite::Result<Option<Session>> {
        let (id, facts): (String, String) = (row.get(0)?, row.get(1)?);
        let (elapsed, committed) = (row.get(2)?, row.get(3)?);
        let stored: [u8; 32] = row.get(4)?;
        let digest = Session::digest(self.key(), &id, &facts, elapsed, committed);
        let is_whole = digest.0 == stored && elapsed <= LONGEST_TIME;
        let text = serde_json::from_str::<FactsText<'_>>(&facts).ok();
        Ok(text.filter(|_| is_whole).map(|text| Session {
            id,
            facts: text.facts.into_owned(),
            elapsed: Duration::from_millis(elapsed),
            cpu: text.cpu_us.map(Duration::from_micros),
            committed,
        }))
    }

    /// Removes a session and the entries of a column that it wrote; the number of these.
    pub(crate) fn remove_of_session(&self, column: Column, id: &str) -> Result<u64, LedgerError> {
        let entries = format!("DELETE FROM {} WHERE session = ?1", column.table());
        let removed = self.execute(&entries, [id])?;
        self.execute("DELETE FROM session WHERE id = ?1", [id])?;
        Ok(removed as u64)
    }
}
