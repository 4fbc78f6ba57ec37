//! The SQLite database of a run directory: opens it, reads and writes records.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::ValueRef::Null;
use rusqlite::{Connection, Row, Statement, params};

use crate::ledger::database::account::{self, Account};
use crate::ledger::database::correction_rows::{self, LoggedCorrection};
use crate::ledger::database::digest::Digest;
use crate::ledger::database::parts::own_plan;
use crate::ledger::database::row::{RowError, integer};
use crate::ledger::reading::run_info::{RunInfo, Session};
use crate::ledger::reading::who_counted::Counting;
use crate::ledger::{
    Column, Coverage, DirLock, Entry, FILE, LedgerError, Parts, PlanInfo, WhoCounted, draft, files,
    meta, row, schema, session_rows,
};
use queenfold::engine::{Correction, CountedBy, Engine, Plan, Tally, TaskKey, TaskResult};

/// An open ledger: the database of one run directory.
pub struct Store {
    connection: Connection,
    file: PathBuf,
    info: RunInfo,
    /// The key that signed what a file holds.
    signer: Option<String>,
    key: Digest,
    /// The plans of the run that this program makes as well, with their partitions, once a record was checked.
    parts: OnceCell<PlanParts>,
}

/// The plans of a run, with their partitions.
pub(crate) type PlanParts = BTreeMap<Engine, (Arc<dyn Plan>, Parts)>;

/// What the records of a ledger add up to.
#[derive(Clone, Debug)]
pub struct LedgerSums {
    /// Which tasks are there.
    pub coverage: Coverage,
    /// The sum of their tallies, for each plan.
    pub tallies: BTreeMap<Engine, Tally>,
    /// The time that CPU workers counted, added up, for engines whose tasks no device counted.
    pub on_cpu: BTreeMap<Engine, Duration>,
    /// The engines of which a device counted a task.
    on_devices: BTreeSet<Engine>,
    /// Tasks whose results differ, and nothing has decided which one is right: while there are any, the
    /// sums are no result.
    pub contested: Vec<TaskKey>,
    /// Who counted them, and how often.
    pub who: WhoCounted,
}

impl LedgerSums {
    /// Of no records of this run.
    fn none_of(info: &RunInfo) -> Self {
        let none = |plan: &PlanInfo| (plan.engine, Tally::default());
        Self {
            coverage: Coverage::none_of(info.n(), &info.plans),
            tallies: info.plans.iter().map(none).collect(),
            on_cpu: BTreeMap::new(),
            on_devices: BTreeSet::new(),
            contested: Vec::new(),
            who: WhoCounted::default(),
        }
    }

    /// Adds a record.
    fn add(&mut self, result: &TaskResult) {
        self.coverage.add(result.key);
        *self.tallies.entry(result.key.engine).or_default() += result.tally;
        let engine = result.key.engine;
        if let CountedBy::Device(_) = result.origin.counted_by {
            self.on_devices.insert(engine);
            self.on_cpu.remove(&engine);
        } else if !self.on_devices.contains(&engine) {
            *self.on_cpu.entry(engine).or_default() += result.duration;
        }
    }
}

/// What a ledger keeps of a task: its record, and a second count of it if there is one, which agrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTask {
    /// The count that is added up.
    pub record: Entry,
    /// Another count.
    pub second: Option<Entry>,
}

/// What a ledger held at one moment, for as long as it lives, whatever other processes write.
pub struct Moment<'a>(&'a Store);

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
        let draft = draft::write(dir, info)?;
        fs::rename(&draft, &file).map_err(|source| LedgerError::io(&file, source))?;
        files::sync_directory(dir)?;
        Self::open_to_write(dir)
    }

    /// Checks that there is no run in `dir`.
    ///
    /// # Errors
    /// [`LedgerError::Exists`] if there is one; it is no regular file.
    pub fn expect_none(dir: &Path) -> Result<(), LedgerError> {
        if files::has_ledger(dir)? {
            return Err(LedgerError::Exists(dir.to_owned()));
        }
        Ok(())
    }

    /// Opens the ledger in `dir` to add records. Call with the lock of the directory held.
    ///
    /// # Errors
    /// There is none, it is of another format, damaged, or cannot be written.
    pub fn open_to_write(dir: &Path) -> Result<Self, LedgerError> {
        Self::open(dir, schema::open_to_write)?.checked()
    }

    /// Undoes the commit in which the writer of the ledger in `dir` was killed: what
    /// [`LedgerError::Interrupted`] asks for.
    ///
    /// # Errors
    /// Another process works on the directory; those of [`open_to_write`](Self::open_to_write).
    pub fn recover(dir: &Path) -> Result<(), LedgerError> {
        let _lock = DirLock::take(dir)?;
        Self::open_to_write(dir).map(drop)
    }

    /// Opens the ledger in `dir` to read it. Another process may write to it meanwhile.
    ///
    /// # Errors
    /// There is none, it is of another format, damaged, or cannot be read.
    pub fn open_to_read(dir: &Path) -> Result<Self, LedgerError> {
        Self::open_to_glance(dir)?.checked()
    }

    /// As [`open_to_read`](Self::open_to_read), to see how far a run is: the pages of the file are not checked, which takes
    /// seconds where there are millions of records.
    ///
    /// # Errors
    /// There is none, it is of another format, or cannot be read.
    pub fn open_to_glance(dir: &Path) -> Result<Self, LedgerError> {
        Self::open(dir, schema::open_to_read)
    }

    /// The store, if every page of it is whole.
    fn checked(self) -> Result<Self, LedgerError> {
        schema::check_pages(&self.connection, &self.file)?;
        Ok(self)
    }

    fn open(
        dir: &Path,
        open: fn(&Path) -> Result<Connection, LedgerError>,
    ) -> Result<Self, LedgerError> {
        let file = dir.join(FILE);
        if !files::has_ledger(dir)? {
            return Err(LedgerError::NoRun(dir.to_owned()));
        }
        let connection = open(&file)?;
        schema::check(&connection, &file)?;
        let info = meta::read(&connection, &file)?;
        let store = Self::of(connection, file, info);
        // There are few, and reading them shows damage early.
        store.sessions()?;
        Ok(store)
    }

    fn of(connection: Connection, file: PathBuf, info: RunInfo) -> Self {
        Self {
            key: info.key(),
            connection,
            file,
            info,
            signer: None,
            parts: OnceCell::new(),
        }
    }

    /// A ledger of no directory, for what `file` holds, which messages name. It is gone when it is dropped.
    pub(crate) fn temporary(file: &Path, info: &RunInfo) -> Result<Self, LedgerError> {
        let connection = schema::temporary().map_err(|error| LedgerError::sqlite(file, &error))?;
        Ok(Self::of(connection, file.to_owned(), info.clone()))
    }

    /// Keeps that what it holds was signed by a key.
    pub(crate) fn signed_by(&mut self, key: &str) {
        self.signer = Some(key.to_owned());
    }

    /// The key that signed what it holds, in hexadecimal.
    pub fn signer(&self) -> Option<&str> {
        self.signer.as_deref()
    }

    /// Reads what the ledger holds now, until the moment is dropped.
    pub fn moment(&self) -> Result<Moment<'_>, LedgerError> {
        // Unlike BEGIN, this is possible within a transaction.
        self.batch("SAVEPOINT moment")?;
        Ok(Moment(self))
    }

    /// The plans of the run that this program makes as well, with the names of their partitions.
    pub(crate) fn parts(&self) -> &PlanParts {
        self.parts.get_or_init(|| {
            let of = |info: &PlanInfo| {
                let own = own_plan(self.info.board, &info.name.to_string(), info.tasks);
                Some((info.engine, own.ok()?))
            };
            self.info.plans.iter().filter_map(of).collect()
        })
    }

    /// Which run it is.
    pub const fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Calls `each` for every task in canonical order: by the name of the engine, then by index. Each record and second count is
    /// checked against its digest, the plan, the sessions, each other and the log of corrections first.
    ///
    /// # Errors
    /// A record or a second count is damaged or contradicted.
    pub fn for_each_task(&self, mut each: impl FnMut(RecordedTask)) -> Result<(), LedgerError> {
        self.try_for_each(|task| {
            each(task);
            Ok(())
        })
    }

    /// Like [`for_each_task`](Self::for_each_task), for an `each` that can fail, and is called no more then.
    ///
    /// # Errors
    /// A record is damaged, or `each` fails.
    pub(crate) fn try_for_each<E: From<LedgerError>>(
        &self,
        mut each: impl FnMut(RecordedTask) -> Result<(), E>,
    ) -> Result<(), E> {
        // Records, sessions and corrections of the same moment: another process may write meanwhile.
        let _moment = self.moment()?;
        let mut checks = Checks::new(self)?;
        let mut statement = self.prepare_tasks(|table| format!("{table}.*"))?;
        let mut rows = self.sql(statement.query([]))?;
        let mut seconds = 0;
        while let Some(row) = self.sql(rows.next())? {
            let record = self.read(row, 0, Column::Record)?;
            let is_second = self.sql(row.get_ref(row::COUNT))? != Null;
            let second = match is_second {
                true => Some(self.read(row, row::COUNT, Column::Second)?),
                false => None,
            };
            let task = RecordedTask { record, second };
            checks.check(&task)?;
            seconds += u64::from(is_second);
            each(task)?;
        }
        if self.rows_of("second")? != seconds {
            let what = "it has a second count of a task that has no record".to_owned();
            return Err(self.damaged(what).into());
        }
        Ok(())
    }

    /// The statement for all tasks: these columns of the record, then those of the second count, which are null without one.
    fn prepare_tasks(&self, columns: fn(&str) -> String) -> Result<Statement<'_>, LedgerError> {
        let sql = format!(
            "SELECT {}, {} FROM record AS r LEFT JOIN second AS s \
             ON s.engine = r.engine AND s.task = r.task ORDER BY r.engine, r.task",
            columns("r"),
            columns("s")
        );
        self.sql(self.connection.prepare(&sql))
    }

    /// Calls `each` for every task in canonical order, with an account of its record and of its second count. The records
    /// are believed: nothing is checked but that they are of the run.
    ///
    /// # Errors
    /// The file cannot be read, or a record is of no task of the run.
    pub(crate) fn for_each_account(
        &self,
        mut each: impl FnMut(&Account<'_>, Option<&Account<'_>>),
    ) -> Result<(), LedgerError> {
        let damaged = || self.damaged("a record is of no task of this run".to_owned());
        let (n, plans) = (self.info.n(), &self.info.plans);
        let mut statement = self.prepare_tasks(account::columns)?;
        let mut rows = self.sql(statement.query([]))?;
        while let Some(row) = self.sql(rows.next())? {
            let read = |from| {
                let account = self.sql(Account::read(row, from, n, plans))?;
                account.ok_or_else(damaged)
            };
            let record = read(0)?;
            let is_second = self.sql(row.get_ref(account::COUNT))? != Null;
            let second = is_second.then(|| read(account::COUNT)).transpose()?;
            each(&record, second.as_ref());
        }
        Ok(())
    }

    /// How many tasks are recorded. The records themselves are not looked at.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn recorded_tasks(&self) -> Result<u64, LedgerError> {
        self.rows_of("record")
    }

    fn rows_of(&self, table: &str) -> Result<u64, LedgerError> {
        let sql = format!("SELECT count(*) FROM {table}");
        let rows = self.connection.query_row(&sql, [], |row| row.get(0));
        self.sql(rows.map(i64::unsigned_abs))
    }

    /// What the records add up to.
    ///
    /// # Errors
    /// A record is damaged.
    pub fn sums(&self) -> Result<LedgerSums, LedgerError> {
        self.sums_and(drop)
    }

    /// [`sums`](Self::sums), which gives each task to `each` as [`for_each_task`](Self::for_each_task) does.
    ///
    /// # Errors
    /// A record or a second count is damaged or contradicted.
    pub fn sums_and(&self, mut each: impl FnMut(RecordedTask)) -> Result<LedgerSums, LedgerError> {
        let mut sums = LedgerSums::none_of(&self.info);
        let _moment = self.moment()?;
        let mut counting = Counting::begin(self)?;
        self.for_each_task(|task| {
            sums.add(&task.record.result);
            let second = task.second.as_ref().map(Account::of);
            counting.add(&Account::of(&task.record), second.as_ref());
            each(task);
        })?;
        sums.who = counting.end();
        sums.contested = self.contested()?.into_keys().collect();
        Ok(sums)
    }

    /// The tasks whose results differ, and nothing has decided yet, each with its last correction.
    ///
    /// # Errors
    /// The log is damaged.
    pub(crate) fn contested(&self) -> Result<BTreeMap<TaskKey, LoggedCorrection>, LedgerError> {
        let mut last = last_corrections(self.corrections()?);
        last.retain(|_, last| last.is_open());
        Ok(last)
    }

    /// The log of counts that differed, by the name of the engine, then by task, then in the order in
    /// which it was written.
    ///
    /// # Errors
    /// It is damaged.
    pub fn corrections(&self) -> Result<Vec<LoggedCorrection>, LedgerError> {
        self.log_of(None)
    }

    /// What the log has of one task, in the order in which it was written.
    pub(crate) fn corrections_of(
        &self,
        task: TaskKey,
    ) -> Result<Vec<LoggedCorrection>, LedgerError> {
        self.log_of(Some(task))
    }

    fn log_of(&self, task: Option<TaskKey>) -> Result<Vec<LoggedCorrection>, LedgerError> {
        let plans = (self.info.n(), &self.info.plans[..]);
        self.sql(correction_rows::all(
            &self.connection,
            &self.key,
            plans,
            task,
        ))
    }

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
        let sql = format!(
            "SELECT * FROM {} WHERE engine = ?1 AND task = ?2",
            column.table()
        );
        let mut statement = self.sql(self.connection.prepare_cached(&sql))?;
        let index = self.sql(integer("task index", task.index))?;
        let mut rows = self.sql(statement.query(params![task.engine.name(), index]))?;
        match self.sql(rows.next())? {
            Some(row) => self.read(row, 0, column).map(Some),
            None => Ok(None),
        }
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
        let mut statement = self.sql(self.connection.prepare_cached(&row::insertion(column)))?;
        let digest = entry.digest(column, &self.key);
        Ok(self.sql(row::insert(&mut statement, entry, &digest))? > 0)
    }

    /// Removes the entry of a task from a column, if there is one.
    pub(crate) fn remove(&self, column: Column, task: TaskKey) -> Result<(), LedgerError> {
        self.remove_from(column.table(), task)
    }

    /// Removes the corrections of a task from the log.
    pub(crate) fn remove_corrections(&self, task: TaskKey) -> Result<(), LedgerError> {
        self.remove_from("correction", task)
    }

    fn remove_from(&self, table: &str, task: TaskKey) -> Result<(), LedgerError> {
        let sql = format!("DELETE FROM {table} WHERE engine = ?1 AND task = ?2");
        let index = self.sql(integer("task index", task.index))?;
        let of_task = params![task.engine.name(), index];
        self.sql(self.connection.execute(&sql, of_task)).map(drop)
    }

    /// Adds a correction to the log.
    pub(crate) fn log(&self, correction: &LoggedCorrection) -> Result<(), LedgerError> {
        let logged = correction_rows::insert(&self.connection, &self.key, correction);
        self.sql(logged)
    }

    /// The second counts of tasks whose record, and not they, a session wrote.
    pub(crate) fn seconds_to(&self, session: &str) -> Result<Vec<Entry>, LedgerError> {
        let sql = "SELECT s.* FROM second AS s JOIN record AS r ON r.engine = s.engine AND r.task = s.task \
                   WHERE r.session = ?1 AND s.session <> ?1";
        let mut statement = self.sql(self.connection.prepare(sql))?;
        let mut rows = self.sql(statement.query([session]))?;
        let mut entries = Vec::new();
        while let Some(row) = self.sql(rows.next())? {
            entries.push(self.read(row, 0, Column::Second)?);
        }
        Ok(entries)
    }

    /// Removes a session and the entries of a column that it wrote; the number of these.
    pub(crate) fn remove_of_session(&self, column: Column, id: &str) -> Result<u64, LedgerError> {
        let remove = |sql: &str| self.sql(self.connection.execute(sql, [id]));
        let entries = format!("DELETE FROM {} WHERE session = ?1", column.table());
        let removed = remove(&entries)?;
        remove("DELETE FROM session WHERE id = ?1")?;
        Ok(removed as u64)
    }

    /// Adds a session, or updates the one with the same id.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn put_session(&self, session: &Session) -> Result<(), LedgerError> {
        self.sql(session_rows::put(&self.connection, &self.key, session))
    }

    /// All sessions, by id.
    ///
    /// # Errors
    /// One is damaged.
    pub fn sessions(&self) -> Result<Vec<Session>, LedgerError> {
        self.sql(session_rows::all(&self.connection, &self.key))
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
                file: self.file.clone(),
                tasks,
            }),
        }
    }

    /// Writes a copy of the ledger, durably, to a new file. Call outside of a transaction.
    ///
    /// # Errors
    /// The file is there already, or cannot be written.
    pub(crate) fn save_as(&self, file: &Path) -> Result<(), LedgerError> {
        let failed = |error: &rusqlite::Error| LedgerError::sqlite(file, error);
        let name = files::for_sqlite(file);
        let no_text = || LedgerError::other(file, "its name is not UTF-8");
        let name = name.to_str().ok_or_else(no_text)?;
        self.connection
            .execute("VACUUM INTO ?1", [name])
            .map_err(|error| failed(&error))?;
        files::sync_file(file)?;
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

    /// Does all of `steps`, or none if one fails, within the transaction that is open.
    pub(crate) fn wholly(
        &self,
        steps: impl FnOnce() -> Result<(), LedgerError>,
    ) -> Result<(), LedgerError> {
        self.batch("SAVEPOINT steps")?;
        let done = steps();
        if done.is_err() {
            self.batch("ROLLBACK TO steps")?;
        }
        self.batch("RELEASE steps")?;
        done
    }

    fn batch(&self, sql: &str) -> Result<(), LedgerError> {
        self.sql(self.connection.execute_batch(sql))
    }

    /// The entry in the columns of a row that begin at `from`, checked against its digest.
    fn read(&self, row: &Row<'_>, from: usize, column: Column) -> Result<Entry, LedgerError> {
        let read = row::read(row, from, self.info.n(), &self.info.plans);
        let (entry, stored) = self.sql(read)?;
        if entry.digest(column, &self.key).0 == stored {
            return Ok(entry);
        }
        let (key, what) = (entry.result.key, column.what());
        Err(self.damaged(format!("{what} {key} does not match its digest")))
    }

    /// What came of reading or writing rows of this file.
    fn sql<T, E: Into<RowError>>(&self, done: Result<T, E>) -> Result<T, LedgerError> {
        done.map_err(|error| match error.into() {
            RowError::Database(error) => LedgerError::sqlite(&self.file, &error),
            RowError::Damaged(what) => self.damaged(what),
            RowError::Unfit(reason) => self.database(reason),
        })
    }

    fn damaged(&self, what: String) -> LedgerError {
        LedgerError::damaged(&self.file, what)
    }

    fn contradicted(&self, task: TaskKey, what: &'static str) -> LedgerError {
        LedgerError::Counts(format!(
            "{}: task {task} contradicts itself: {what}",
            self.file.display()
        ))
    }

    pub(crate) fn database(&self, reason: String) -> LedgerError {
        LedgerError::other(&self.file, reason)
    }
}

/// The last correction of each task.
fn last_corrections(log: Vec<LoggedCorrection>) -> BTreeMap<TaskKey, LoggedCorrection> {
    let by_task = log.into_iter().map(|logged| (logged.task(), logged));
    by_task.collect()
}

/// What is checked of a record besides its digest.
struct Checks<'a> {
    store: &'a Store,
    coverage: Coverage,
    sessions: BTreeSet<String>,
    corrections: BTreeMap<TaskKey, LoggedCorrection>,
}

impl<'a> Checks<'a> {
    fn new(store: &'a Store) -> Result<Self, LedgerError> {
        let sessions = store.sessions()?.into_iter().map(|session| session.id);
        let sessions: BTreeSet<String> = sessions.collect();
        let log = store.corrections()?;
        for logged in &log {
            let counted = logged.correction.results().map(|entry| &entry.session);
            let mut named = counted.chain([&logged.session]);
            if named.any(|session| !sessions.contains(session)) {
                let what = format!("a session in a correction of task {}", logged.task());
                return Err(store.damaged(format!("{what} is missing")));
            }
        }
        Ok(Self {
            store,
            coverage: Coverage::none_of(store.info.n(), &store.info.plans),
            sessions,
            corrections: last_corrections(log),
        })
    }

    fn check(&mut self, task: &RecordedTask) -> Result<(), LedgerError> {
        let RecordedTask { record, second } = task;
        let key = record.result.key;
        let damaged = |what: String| Err(self.store.damaged(what));
        if !self.coverage.is_task(key) {
            return damaged(format!(
                "record {key} is of a task that the plan does not have"
            ));
        }
        // The primary key forbids it, but a damaged page could still show a row twice.
        if !self.coverage.add(key) {
            return damaged(format!("record {key} is there twice"));
        }
        for entry in std::iter::once(record).chain(second) {
            if !self.sessions.contains(&entry.session) {
                return damaged(format!("the session that counted record {key} is missing"));
            }
        }
        let tally = &record.result.tally;
        if let Some((plan, parts)) = self.store.parts().get(&key.engine)
            && !parts.allow(plan.ranks_of(key.index), tally)
        {
            return damaged(format!(
                "record {key} counts partitions that the task does not have"
            ));
        }
        let agrees = |entry: &Entry| entry.result.tally.agrees_with(tally);
        if second.as_ref().is_some_and(|second| !agrees(second)) {
            return Err(self
                .store
                .contradicted(key, "its second count differs, and is not in the log"));
        }
        if let Some(last) = self.corrections.get(&key) {
            let Correction {
                recorded, decision, ..
            } = &last.correction;
            let result = decision
                .as_ref()
                .map_or(recorded, |decision| &decision.result);
            if !agrees(result) {
                return Err(self
                    .store
                    .contradicted(key, "its last correction has another result"));
            }
        }
        Ok(())
    }
}
