//! The table `session`: how a session becomes a row, and how all of them are read.

use std::borrow::Cow;
use std::time::Duration;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use super::digest::Digest;
use super::info::{Facts, Session};

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
///
/// `Err` of the outer result: it cannot be written as a row.
pub(super) fn put(
    connection: &Connection,
    run: &Digest,
    session: &Session,
) -> Result<rusqlite::Result<()>, String> {
    let facts = FactsText {
        facts: Cow::Borrowed(&session.facts),
        cpu_us: session
            .cpu
            .map(|cpu| u64::try_from(cpu.as_micros()).unwrap_or(u64::MAX)),
    };
    let facts = serde_json::to_string(&facts).map_err(|error| error.to_string())?;
    // Nothing takes no time.
    let elapsed = session.elapsed.as_micros().div_ceil(1000);
    let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
    let stored = i64::try_from(elapsed)
        .map_err(|_| format!("elapsed time {elapsed} does not fit 63 bits"))?;
    let digest = Session::digest(run, &session.id, &facts, elapsed, session.committed);
    let put = connection
        .prepare_cached("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5)")
        .and_then(|mut statement| {
            statement.execute(params![
                session.id,
                facts,
                stored,
                session.committed,
                digest.0
            ])
        });
    Ok(put.map(|_| ()))
}

/// The session of this id of the run with the key `run`, if there is one.
///
/// `Err` of the inner result: it is not what a run writes.
pub(super) fn get(
    connection: &Connection,
    run: &Digest,
    id: &str,
) -> rusqlite::Result<Result<Option<Session>, String>> {
    let sql = "SELECT id, facts, elapsed_ms, committed, blake3 FROM session WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else {
        return Ok(Ok(None));
    };
    Ok(match read(row, run)? {
        Some(session) => Ok(Some(session)),
        None => Err("a session is damaged".to_owned()),
    })
}

/// All sessions of the run with the key `run`, by id.
///
/// `Err` of the inner result: one is not what a run writes.
pub(super) fn all(
    connection: &Connection,
    run: &Digest,
) -> rusqlite::Result<Result<Vec<Session>, String>> {
    let mut statement = connection
        .prepare("SELECT id, facts, elapsed_ms, committed, blake3 FROM session ORDER BY id")?;
    let mut rows = statement.query([])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        match read(row, run)? {
            Some(session) => sessions.push(session),
            None => return Ok(Err("a session is damaged".to_owned())),
        }
    }
    Ok(Ok(sessions))
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
