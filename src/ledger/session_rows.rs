//! The table `session`: how a session becomes a row, and how all of them are read.

use std::time::Duration;

use rusqlite::{Connection, Row, params};

use super::digest::Digest;
use super::info::{Facts, Session};
use super::table_size::TableSize;

/// The most sessions of a run: ten thousand machines that were each stopped six times. The bytes are
/// those that all of them say of their hardware and configuration.
const MOST: TableSize = TableSize {
    rows: 1 << 16,
    bytes: 256 << 20,
};

/// The longest time of a session, in milliseconds: a century.
const LONGEST_TIME: u64 = 100 * 366 * 86_400 * 1000;

/// Adds a session of the run with the key `run`, or replaces the one with the same id.
///
/// `Err` of the outer result: it cannot be written as a row, and why.
pub(super) fn put(
    connection: &Connection,
    run: &Digest,
    session: &Session,
) -> Result<rusqlite::Result<()>, String> {
    let facts = serde_json::to_string(&session.facts).map_err(|error| error.to_string())?;
    let elapsed = u64::try_from(session.elapsed.as_millis()).unwrap_or(u64::MAX);
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

/// All sessions of the run with the key `run`, by id.
///
/// `Err` of the inner result: they are not what a run writes, and why.
pub(super) fn all(
    connection: &Connection,
    run: &Digest,
) -> rusqlite::Result<Result<Vec<Session>, String>> {
    if let Some(what) = TableSize::of(connection, "session", "facts")?.beyond(MOST, "sessions") {
        return Ok(Err(what));
    }
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
    Ok(serde_json::from_str::<Facts>(&facts)
        .ok()
        .filter(|_| digest.0 == stored)
        .map(|facts| Session {
            id,
            facts,
            elapsed: Duration::from_millis(elapsed),
            committed,
        }))
}
