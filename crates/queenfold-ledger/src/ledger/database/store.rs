//! The SQLite database of a run directory: opens it, reads and writes records.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::ValueRef::Null;
use rusqlite::{Connection, Params, Row, params};

use crate::ledger::database::correction_rows::{LoggedCorrection, last_corrections};
use crate::ledger::database::digest::Digest;
use crate::ledger::database::entry_rows::COUNT;
use crate::ledger::database::parts::own_plan;
use crate::ledger::reading::who_counted::Counting;
use crate::ledger::{
    Column, Coverage, DirLock, Entry, FILE, LedgerError, Parts, PlanInfo, RunInfo, WhoCounted,
    draft, files, meta, schema,
};
use queenfold::engine::{Correction, CountedBy, Engine, Plan, Tally, TaskKey, TaskResult};
use queenfold::job::plans;

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

    /// Where it is: a directory, or the file that a key signed.
    pub fn place(&self) -> &Path {
        match self.signer {
            Some(_) => &self.file,
            None => self.file.parent().unwrap_or(&self.file),
        }
    }

    /// The plans of the run as this program makes them, the counting one first.
    ///
    /// # Errors
    /// It is of other plans.
    pub fn plans(&self) -> Result<Vec<Arc<dyn Plan>>, LedgerError> {
        let engines = self.info.plans.iter().map(|plan| plan.engine);
        let plans = plans(self.info.board, engines);
        self.check_plans(&plans)?;
        Ok(plans)
    }

    /// Checks that these are the plans of the run.
    ///
    /// # Errors
    /// One is another.
    pub fn check_plans(&self, plans: &[Arc<dyn Plan>]) -> Result<(), LedgerError> {
        self.info.check_plans(&self.file, plans)
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
        self.walk(true, |task| {
            each(task);
            Ok(())
        })
    }

    /// Calls `each` for every task in canonical order. Unless `is_checked`, records are believed, but for being of the run:
    /// that takes less time where there are millions.
    pub(crate) fn walk<E: From<LedgerError>>(
        &self,
        is_checked: bool,
        mut each: impl FnMut(RecordedTask) -> Result<(), E>,
    ) -> Result<(), E> {
        // Records, sessions and corrections of the same moment: another process may write meanwhile.
        let _moment = self.moment()?;
        let checks = is_checked.then(|| Checks::new(self)).transpose()?;
        let mut coverage = Coverage::none_of(self.info.n(), &self.info.plans);
        let mut seconds = 0;
        let sql = "SELECT r.*, s.* FROM record AS r LEFT JOIN second AS s \
                   ON s.engine = r.engine AND s.task = r.task ORDER BY r.engine, r.task";
        self.for_each_row(sql, [], |row| {
            let read = |from, column| self.entry(row, from, column, is_checked);
            let record = read(0, Column::Record)?;
            let is_second = self.sql(row.get_ref(COUNT))? != Null;
            let second = is_second.then(|| read(COUNT, Column::Second)).transpose()?;
            let key = record.result.key;
            if !coverage.is_task(key) {
                let what = format!("record {key} is of a task that the plan does not have");
                return Err(self.damaged(what).into());
            }
            // The primary key forbids it, but a damaged page could still show a row twice.
            if !coverage.add(key) {
                return Err(self.damaged(format!("record {key} is there twice")).into());
            }
            seconds += u64::from(is_second);
            let task = RecordedTask { record, second };
            if let Some(checks) = &checks {
                checks.check(&task)?;
            }
            each(task)
        })?;
        if is_checked && self.rows_of("second")? != seconds {
            let what = "it has a second count of a task that has no record".to_owned();
            return Err(self.damaged(what).into());
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
    pub fn sums_and(&self, each: impl FnMut(RecordedTask)) -> Result<LedgerSums, LedgerError> {
        self.sums_of(true, each)
    }

    /// [`sums_and`](Self::sums_and), where records are believed unless `is_checked`.
    pub(crate) fn sums_of(
        &self,
        is_checked: bool,
        mut each: impl FnMut(RecordedTask),
    ) -> Result<LedgerSums, LedgerError> {
        let mut sums = LedgerSums::none_of(&self.info);
        let _moment = self.moment()?;
        let mut counting = Counting::begin(self)?;
        self.walk(is_checked, |task| {
            sums.add(&task.record.result);
            counting.add(&task);
            each(task);
            Ok::<_, LedgerError>(())
        })?;
        sums.who = counting.end();
        sums.contested = self.contested()?.into_keys().collect();
        Ok(sums)
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
        let of_task = params![task.engine.name(), task.index];
        self.execute(&sql, of_task).map(drop)
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

    /// The task of this index, if the run has a plan of this engine.
    pub(super) fn task(&self, engine: &str, index: u64) -> Option<TaskKey> {
        let mut plans = self.info.plans.iter();
        let plan = plans.find(|plan| plan.engine.name() == engine)?;
        Some(TaskKey {
            n: self.info.n(),
            engine: plan.engine,
            version: plan.name.version,
            index,
        })
    }

    /// Runs a statement that changes rows; the number of these.
    pub(super) fn execute(&self, sql: &str, of: impl Params) -> Result<usize, LedgerError> {
        let statement = self.connection.prepare_cached(sql);
        self.sql(statement.and_then(|mut statement| statement.execute(of)))
    }

    /// Calls `each` for every row that a statement gives.
    fn for_each_row<E: From<LedgerError>>(
        &self,
        sql: &str,
        of: impl Params,
        mut each: impl FnMut(&Row<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut statement = self.sql(self.connection.prepare_cached(sql))?;
        let mut rows = self.sql(statement.query(of))?;
        while let Some(row) = self.sql(rows.next())? {
            each(row)?;
        }
        Ok(())
    }

    /// What `read` makes of every row that a statement gives.
    pub(super) fn rows<T>(
        &self,
        sql: &str,
        of: impl Params,
        mut read: impl FnMut(&Row<'_>) -> Result<T, LedgerError>,
    ) -> Result<Vec<T>, LedgerError> {
        let mut all = Vec::new();
        self.for_each_row(sql, of, |row| read(row).map(|read| all.push(read)))?;
        Ok(all)
    }

    /// What was read of `what`, which is damaged if that is nothing.
    pub(super) fn whole<T>(
        &self,
        what: &str,
        read: rusqlite::Result<Option<T>>,
    ) -> Result<T, LedgerError> {
        let damaged = || self.damaged(format!("{what} is damaged"));
        self.sql(read)?.ok_or_else(damaged)
    }

    /// The key of the run, which is in every digest.
    pub(super) const fn key(&self) -> &Digest {
        &self.key
    }

    /// What came of reading or writing this file.
    pub(super) fn sql<T>(&self, done: rusqlite::Result<T>) -> Result<T, LedgerError> {
        done.map_err(|error| LedgerError::sqlite(&self.file, &error))
    }

    pub(super) fn damaged(&self, what: String) -> LedgerError {
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

/// What is checked of a record besides its digest.
struct Checks<'a> {
    store: &'a Store,
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
            sessions,
            corrections: last_corrections(log),
        })
    }

    fn check(&self, task: &RecordedTask) -> Result<(), LedgerError> {
        let RecordedTask { record, second } = task;
        let key = record.result.key;
        let damaged = |what: String| Err(self.store.damaged(what));
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
