//! The table `session`: how a session becomes a row, and how all of them are read.

use std::borrow::Cow;
use std::time::Duration;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use crate::ledger::database::digest::Digest;
use crate::ledger::database::row::{RowError, integer};
use crate::ledger::reading::run_info::{Facts, Session};

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

/// Adds a session of the run with the key `run`, or replaces the one with the same id.
pub(crate) fn put(
    connection: &Connection,
    run: &Digest,
    session: &Session,
) -> Result<(), RowError> {
    let facts = FactsText {
        facts: Cow::Borrowed(&session.facts),
        cpu_us: session
            .cpu
            .map(|cpu| u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX)),
    };
    let unfit = |error: serde_json::Error| RowError::Unfit(error.to_string());
    let facts = serde_json::to_string(&facts).map_err(unfit)?;
    // Nothing takes no time.
    let elapsed = session.elapsed.as_micros().div_ceil(1000);
    let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
    let stored = integer("elapsed time", elapsed)?;
    let digest = Session::digest(run, &session.id, &facts, elapsed, session.committed);
    let row = params![session.id, facts, stored, session.committed, digest.0];
    connection
        .prepare_cached("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(row)?;
    Ok(())
}

/// All sessions of the run with the key `run`, by id.
pub(crate) fn all(connection: &Connection, run: &Digest) -> Result<Vec<Session>, RowError> {
    let mut statement = connection
        .prepare("SELECT id, facts, elapsed_ms, committed, blake3 FROM session ORDER BY id")?;
    let sessions = statement.query_map([], |row| read(row, run))?;
    let sessions: Option<_> = sessions.collect::<rusqlite::Result<_>>()?;
    sessions.ok_or_else(|| RowError::Damaged("a session is damaged".to_owned()))
}

fn read(row: &Row<'_>, run: &Digest) -> rusqlite::Result<Option<Session>> {
    let id: String = row.get(0)?;
    let facts: String = row.get(1)?;
    let elapsed = u64::try_from(row.get::<_, i64>(2)?).ok();
    let committed = row.get(3)?;
    let stored: [u8; 32] = row.get(4)?;
    let Some(elapsed) = elapsed.filter(|elapsed| *elapsed <= LONGEST_TIME) else {
        return Ok(None);
    };
    let digest = Session::digest(run, &id, &facts, elapsed, committed);
    Ok(serde_json::from_str::<FactsText<'_>>(&facts)
        .ok()
        .filter(|_| digest.0 == stored)
        .map(|text| Session {
            id,
            facts: text.facts.into_owned(),
            elapsed: Duration::from_millis(elapsed),
            cpu: text.cpu_us.map(Duration::from_micros),
            committed,
        }))
}
