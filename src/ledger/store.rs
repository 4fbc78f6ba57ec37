//! The SQLite database of a run directory: opens it, reads and writes records.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, Row, params};

use super::digest::Digest;
use super::info::{Facts, RunInfo, Session};
use super::row::{self, COLUMNS};
use super::{Coverage, Entry, FILE, LedgerError, files, format, meta};
use crate::engine::{Engine, Tally, TaskKey};

/// An open ledger: the database of one run directory.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
    info: RunInfo,
    key: Digest,
}

/// What the records of a ledger add up to.
#[derive(Clone, Debug)]
pub struct LedgerSums {
    /// Which tasks are there.
    pub coverage: Coverage,
    /// The sum of their tallies, for each plan.
    pub tallies: BTreeMap<Engine, Tally>,
}

/// Whether a task is new to a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inserted {
    /// It was recorded.
    New,
    /// It was there, with the same result.
    There,
}

/// The most sessions of a run: ten thousand machines that were each stopped six times.
const MOST_SESSIONS: i64 = 1 << 16;

/// The most bytes that all sessions of a run say of their hardware and configuration.
const LONGEST_SESSIONS: i64 = 256 << 20;

/// The longest time of a session, in milliseconds: a century.
const LONGEST_SESSION: u64 = 100 * 366 * 86_400 * 1000;

/// What a ledger held at one moment, for as long as it lives, whatever other processes write.
struct Moment<'a>(&'a Store);

impl<'a> Moment<'a> {
    fn of(store: &'a Store) -> Result<Self, LedgerError> {
        // Unlike BEGIN, this is possible within a transaction.
        store.batch("SAVEPOINT moment")?;
        Ok(Self(store))
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        // Nothing was written, so nothing can be lost.
        let _ = self.0.batch("RELEASE moment");
    }
}

impl Store {
    /// Makes the ledger of a new run in `dir`, which must exist.
    ///
    /// The file gets its name when it is complete and on the disk, so a kill never leaves half a
    /// ledger.
    ///
    /// # Errors
    /// [`LedgerError::Exists`] if there is a run; errors of the file system. Call with the lock
    /// of the directory held.
    pub fn create(dir: &Path, info: &RunInfo) -> Result<Self, LedgerError> {
        Self::expect_none(dir)?;
        let file = dir.join(FILE);
        let draft = dir.join("ledger.new");
        if files::is_there(&draft)? {
            fs::remove_file(&draft).map_err(|source| LedgerError::io(&draft, source))?;
        }
        write_draft(&draft, info)?;
        fs::rename(&draft, &file).map_err(|source| LedgerError::io(&file, source))?;
        files::sync_directory(dir)?;
        Self::open_to_write(dir)
    }

    /// Checks that there is no run in `dir`.
    ///
    /// # Errors
    /// [`LedgerError::Exists`] if there is one; [`LedgerError::NotRegular`].
    pub fn expect_none(dir: &Path) -> Result<(), LedgerError> {
        if files::has_ledger(dir)? {
            return Err(LedgerError::Exists {
                dir: dir.to_owned(),
            });
        }
        Ok(())
    }

    /// Opens the ledger in `dir` to add records. Call with the lock of the directory held.
    ///
    /// # Errors
    /// There is none, it is of another format, damaged, or cannot be written.
    pub fn open_to_write(dir: &Path) -> Result<Self, LedgerError> {
        Self::open(dir, format::open_to_write)
    }

    /// Opens the ledger in `dir` to read it. Another process may write to it meanwhile.
    ///
    /// # Errors
    /// There is none, it is of another format, damaged, or cannot be read.
    pub fn open_to_read(dir: &Path) -> Result<Self, LedgerError> {
        Self::open(dir, format::open_to_read)
    }

    fn open(
        dir: &Path,
        open: fn(&Path) -> Result<Connection, LedgerError>,
    ) -> Result<Self, LedgerError> {
        let file = dir.join(FILE);
        if !files::has_ledger(dir)? {
            return Err(LedgerError::NoRun {
                dir: dir.to_owned(),
            });
        }
        let connection = open(&file)?;
        format::check(&connection, &file)?;
        let info = meta::read(&connection, &file)?;
        let store = Self {
            key: info.key(),
            connection,
            file,
            info,
        };
        // There are few, and reading them shows damage early.
        store.sessions()?;
        Ok(store)
    }

    /// Which run it is.
    pub const fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Calls `each` for every record in canonical order: by the name of the engine, then by index.
    /// Each is checked against its digest, the plan and the sessions first.
    ///
    /// # Errors
    /// A record is damaged, or `each` fails.
    pub fn for_each(
        &self,
        each: impl FnMut(Entry) -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.try_for_each(each)
    }

    /// Like [`for_each`](Self::for_each), for an `each` that can fail otherwise than the ledger.
    ///
    /// # Errors
    /// A record is damaged, or `each` fails, which is called no more then.
    pub(super) fn try_for_each<E: From<LedgerError>>(
        &self,
        mut each: impl FnMut(Entry) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut coverage = Coverage::none_of(self.info.n, &self.info.plans);
        // Sessions and records of the same moment: another process may begin one meanwhile.
        let _moment = Moment::of(self)?;
        let sessions = self.sessions()?.into_iter().map(|session| session.id);
        let sessions: BTreeSet<String> = sessions.collect();
        let sql = format!("SELECT {COLUMNS} FROM record ORDER BY engine, task");
        let mut statement = self.connection.prepare(&sql).map_err(|e| self.failed(&e))?;
        let mut rows = statement.query([]).map_err(|e| self.failed(&e))?;
        while let Some(row) = rows.next().map_err(|e| self.failed(&e))? {
            let entry = self.read(row)?;
            let key = entry.result.key;
            if !coverage.is_task(key) {
                let what = format!("record {key} is of a task that the plan does not have");
                return Err(self.damaged(what).into());
            }
            // The primary key forbids it, but a damaged page could still show a row twice.
            if !coverage.add(key) {
                return Err(self.damaged(format!("record {key} is there twice")).into());
            }
            if !sessions.contains(&entry.session) {
                let what = format!("the session that counted record {key} is missing");
                return Err(self.damaged(what).into());
            }
            each(entry)?;
        }
        Ok(())
    }

    /// What the records add up to.
    ///
    /// # Errors
    /// A record is damaged.
    pub fn sums(&self) -> Result<LedgerSums, LedgerError> {
        let mut coverage = Coverage::none_of(self.info.n, &self.info.plans);
        let mut tallies: BTreeMap<Engine, Tally> = self
            .info
            .plans
            .iter()
            .map(|plan| (plan.engine, Tally::default()))
            .collect();
        self.for_each(|Entry { result, .. }| {
            coverage.add(result.key);
            *tallies.entry(result.key.engine).or_default() += result.tally;
            Ok(())
        })?;
        Ok(LedgerSums { coverage, tallies })
    }

    /// The record of a task, if there is one.
    ///
    /// # Errors
    /// It is damaged.
    pub fn get(&self, task: TaskKey) -> Result<Option<Entry>, LedgerError> {
        let sql = format!("SELECT {COLUMNS} FROM record WHERE engine = ?1 AND task = ?2");
        let mut statement = self
            .connection
            .prepare_cached(&sql)
            .map_err(|e| self.failed(&e))?;
        let index = self.integer("task index", task.index)?;
        let mut rows = statement
            .query(params![task.engine.name(), index])
            .map_err(|e| self.failed(&e))?;
        match rows.next().map_err(|e| self.failed(&e))? {
            Some(row) => self.read(row).map(Some),
            None => Ok(None),
        }
    }

    /// Records a result, within the transaction that is open. `ranks` gives the ranks of the task and
    /// is called for an error message only: a plan may take longer for it than the database for the
    /// record.
    ///
    /// # Errors
    /// It is recorded with another result; the file cannot be written.
    pub fn insert(
        &self,
        entry: &Entry,
        ranks: impl FnOnce() -> Range<u64>,
    ) -> Result<Inserted, LedgerError> {
        let sql = format!(
            "INSERT INTO record ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, \
             ?12, ?13, ?14, ?15, ?16, ?17) ON CONFLICT (engine, task) DO NOTHING"
        );
        let mut statement = self
            .connection
            .prepare_cached(&sql)
            .map_err(|e| self.failed(&e))?;
        let inserted = row::insert(&mut statement, entry, &entry.digest(&self.key))
            .map_err(|reason| self.database(reason))?
            .map_err(|e| self.failed(&e))?;
        if inserted > 0 {
            return Ok(Inserted::New);
        }
        let result = &entry.result;
        match self.get(result.key)? {
            Some(Entry { result: there, .. }) if there.tally.agrees_with(&result.tally) => {
                Ok(Inserted::There)
            }
            Some(Entry { result: there, .. }) => Err(LedgerError::Disagreement {
                task: result.key,
                ranks: ranks(),
                counts: Box::new(
                    [&there, result]
                        .map(|counted| (counted.tally, counted.origin.counted_by.to_string())),
                ),
            }),
            None => Err(self.damaged(format!("record {} is there and is not", result.key))),
        }
    }

    /// Removes the records of a session, and the session. Returns the number of records.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remove_session(&self, id: &str) -> Result<u64, LedgerError> {
        let remove = |sql| self.connection.execute(sql, [id]);
        let records =
            remove("DELETE FROM record WHERE session = ?1").map_err(|e| self.failed(&e))?;
        remove("DELETE FROM session WHERE id = ?1").map_err(|e| self.failed(&e))?;
        Ok(records as u64)
    }

    /// Adds a session, or updates the one with the same id.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_session(&self, session: &Session) -> Result<(), LedgerError> {
        let facts = serde_json::to_string(&session.facts)
            .map_err(|error| self.database(error.to_string()))?;
        let elapsed = u64::try_from(session.elapsed.as_millis()).unwrap_or(u64::MAX);
        let stored = self.integer("elapsed time", elapsed)?;
        let digest = Session::digest(&self.key, &session.id, &facts, elapsed, session.committed);
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5)")
            .and_then(|mut statement| {
                statement.execute(params![
                    session.id,
                    facts,
                    stored,
                    session.committed,
                    digest.0
                ])
            })
            .map(|_| ())
            .map_err(|e| self.failed(&e))
    }

    /// All sessions, by id.
    ///
    /// # Errors
    /// One is damaged, or there are more than runs have.
    pub fn sessions(&self) -> Result<Vec<Session>, LedgerError> {
        let (count, length): (i64, i64) = self
            .connection
            .query_row(
                "SELECT count(*), coalesce(sum(octet_length(facts)), 0) FROM session",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .map_err(|e| self.failed(&e))?;
        if count > MOST_SESSIONS || length > LONGEST_SESSIONS {
            let most = format!(
                "at most {MOST_SESSIONS} with {} MiB",
                LONGEST_SESSIONS >> 20
            );
            let what = format!("it has {count} sessions with {length} bytes, and there are {most}");
            return Err(self.damaged(what));
        }
        let mut statement = self
            .connection
            .prepare("SELECT id, facts, elapsed_ms, committed, blake3 FROM session ORDER BY id")
            .map_err(|e| self.failed(&e))?;
        let mut rows = statement.query([]).map_err(|e| self.failed(&e))?;
        let mut sessions = Vec::new();
        while let Some(row) = rows.next().map_err(|e| self.failed(&e))? {
            let session = self.read_session(row).map_err(|e| self.failed(&e))?;
            sessions.push(session.ok_or_else(|| self.damaged("a session is damaged".to_owned()))?);
        }
        Ok(sessions)
    }

    fn read_session(&self, row: &Row<'_>) -> rusqlite::Result<Option<Session>> {
        let id: String = row.get(0)?;
        let facts: String = row.get(1)?;
        let elapsed = u64::try_from(row.get::<_, i64>(2)?).ok();
        let committed = row.get(3)?;
        let stored: [u8; 32] = row.get(4)?;
        let Some(elapsed) = elapsed.filter(|elapsed| *elapsed <= LONGEST_SESSION) else {
            return Ok(None);
        };
        let digest = Session::digest(&self.key, &id, &facts, elapsed, committed);
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

    /// Writes a copy of the ledger, durably, to a new file. Call outside of a transaction.
    ///
    /// # Errors
    /// The file is there already, or cannot be written.
    pub(super) fn save_as(&self, file: &Path) -> Result<(), LedgerError> {
        let failed = |error: &rusqlite::Error| LedgerError::sqlite(file, error);
        let name = file.to_str().ok_or_else(|| LedgerError::Database {
            file: file.to_owned(),
            reason: "its name is not UTF-8".to_owned(),
        })?;
        self.connection
            .execute("VACUUM INTO ?1", [name])
            .map_err(|error| failed(&error))?;
        File::open(file)
            .and_then(|file| file.sync_all())
            .map_err(|source| LedgerError::io(file, source))?;
        file.parent().map_or(Ok(()), files::sync_directory)
    }

    /// Begins a transaction, to be ended by [`commit`](Self::commit).
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn begin(&self) -> Result<(), LedgerError> {
        self.batch("BEGIN IMMEDIATE")
    }

    /// Makes what was written since [`begin`](Self::begin) durable: it is on the disk when this
    /// returns.
    ///
    /// # Errors
    /// It is not, and the ledger is as it was before.
    pub fn commit(&self) -> Result<(), LedgerError> {
        self.batch("COMMIT")
    }

    fn batch(&self, sql: &str) -> Result<(), LedgerError> {
        self.connection
            .execute_batch(sql)
            .map_err(|e| self.failed(&e))
    }

    /// The entry in a row, checked against its digest.
    fn read(&self, row: &Row<'_>) -> Result<Entry, LedgerError> {
        let (entry, stored) = row::read(row, self.info.n, &self.info.plans)
            .map_err(|e| self.failed(&e))?
            .ok_or_else(|| self.damaged("a record holds what no count gives".to_owned()))?;
        if entry.digest(&self.key).0 == stored {
            Ok(entry)
        } else {
            let key = entry.result.key;
            Err(self.damaged(format!("record {key} does not match its digest")))
        }
    }

    fn integer(&self, what: &str, number: u64) -> Result<i64, LedgerError> {
        i64::try_from(number)
            .map_err(|_| self.database(format!("{what} {number} does not fit 63 bits")))
    }

    fn failed(&self, error: &rusqlite::Error) -> LedgerError {
        LedgerError::sqlite(&self.file, error)
    }

    fn damaged(&self, what: String) -> LedgerError {
        LedgerError::Damaged {
            file: self.file.clone(),
            what,
        }
    }

    fn database(&self, reason: String) -> LedgerError {
        LedgerError::Database {
            file: self.file.clone(),
            reason,
        }
    }
}

fn write_draft(draft: &Path, info: &RunInfo) -> Result<(), LedgerError> {
    let write = || {
        let connection = Connection::open(draft)?;
        // An incomplete draft is thrown away, so it needs no journal.
        connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.execute_batch("BEGIN")?;
        format::create(&connection)?;
        meta::write(&connection, info)?;
        connection.execute_batch("COMMIT")?;
        connection.close().map_err(|(_, error)| error)
    };
    write().map_err(|error| LedgerError::sqlite(draft, &error))?;
    File::open(draft)
        .and_then(|draft| draft.sync_all())
        .map_err(|source| LedgerError::io(draft, source))
}
