//! Writes the results of a run while it counts: the thread that commits every second.

use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use crossbeam::channel::{self, Receiver, RecvTimeoutError, Sender};
use parking_lot::Mutex;
use tracing::warn;

use crate::ledger::directory::files::Home;
use crate::ledger::directory::host::{host_name, unix_time};
use crate::ledger::{
    Column, DirLock, Division, Entry, Facts, LedgerError, LedgerSums, RunInfo, Session, Shard,
    Store, files,
};
use queenfold::actors::{
    Finding, Flushed, OnCheckpoint, Part, RecordError, RecordedResult, Recorder, Restored, Source,
    Supply, cost_of,
};
use queenfold::engine::{Method, Plan, TaskKey, TaskResult};
use queenfold::machine::Machine;
use queenfold::system::threads;

/// How long a result may wait for its commit. A commit waits for the disk, so one commit a task would
/// take longer than a short task.
pub const COMMIT_EVERY: Duration = Duration::from_secs(1);

/// How many results may wait for the writer. When there are more, the collector waits until the writer
/// takes one, which is after a commit at most: results must not pile up in memory. To fall so far
/// behind, the writer must be slower than all workers together for 65,536 tasks.
const WAITING: usize = 1 << 16;

/// A ledger that a run writes to: what was restored, and a thread that writes.
///
/// It holds the lock of the directory. Dropping it commits what was taken.
pub struct Recording {
    dir: PathBuf,
    /// The shard that this run counts.
    pub shard: Shard,
    /// Which tasks each shard holds.
    pub division: Division,
    restored: LedgerSums,
    /// Wall time of earlier processes that did the same: to count the first time, or the second.
    pub before: Duration,
    /// Which process this is: the id of its session.
    pub session: String,
    orders: Option<Sender<Order>>,
    shared: Arc<Shared>,
    writer: Option<JoinHandle<()>>,
    _lock: DirLock,
}

/// What is to be written.
pub(crate) enum Change {
    /// What the run found.
    Found(Finding),
    /// A second count.
    Second(TaskResult),
    /// A count that decides between others.
    Decision(TaskResult, Method),
    /// A second count is taken back.
    SecondWithdrawal(TaskKey),
}

enum Order {
    Write(Box<Change>),
    Flush(Flushed),
}

/// What the run and its writer share.
#[derive(Default)]
struct Shared {
    failure: Mutex<Option<RecordError>>,
    on_checkpoint: Mutex<Option<OnCheckpoint>>,
    /// Whether somebody waits for what is recorded, or nothing more will be.
    ending: AtomicBool,
}

/// The most tasks a plan may have. To find what is missing, each is looked at; so many take minutes.
const MOST_TASKS: u64 = 1 << 34;

/// Shards of more tasks than the largest plans of this program have are not counted part by part: the order is kept in memory.
const MOST_ORDERED: u64 = 1 << 22;

/// The most workers that a session names as faulty.
const MOST_FAULTY: usize = 1 << 10;

impl Recording {
    /// Makes the directory, unless it exists, and in it the ledger of a new run of `plans`, which `info` describes. Of
    /// `process`, the caller knows how it counts.
    ///
    /// # Errors
    /// A plan has more tasks than a ledger keeps, there is a run in the directory, another process
    /// works on it, or it cannot be written.
    pub fn create(
        dir: &Path,
        info: &RunInfo,
        plans: &[Arc<dyn Plan>],
        process: &Facts,
    ) -> Result<Self, LedgerError> {
        if let Some(plan) = plans.iter().find(|plan| plan.tasks() > MOST_TASKS) {
            return Err(LedgerError::Unfit(format!(
                "{} of n = {} has {} tasks, and a ledger keeps at most {MOST_TASKS}: leave out --dir and --shard to \
                 count without one",
                plan.name(),
                plan.size(),
                plan.tasks()
            )));
        }
        files::expect_outside(dir)?;
        files::make_directory(dir)?;
        // Whether or not another process works on it.
        Store::expect_none(dir)?;
        files::expect_no_others(dir)?;
        let lock = DirLock::take(dir)?;
        Self::begin(dir, (Store::create(dir, info)?, lock), plans, process)
    }

    /// Opens the ledger in `dir` to continue the run of `plans`.
    ///
    /// # Errors
    /// There is none, it is damaged or of other plans, another process works on the directory, or
    /// it cannot be written.
    pub fn resume(
        dir: &Path,
        plans: &[Arc<dyn Plan>],
        process: &Facts,
    ) -> Result<Self, LedgerError> {
        if !files::has_ledger(dir)? {
            return Err(LedgerError::NoRun(dir.to_owned()));
        }
        let lock = DirLock::take(dir)?;
        Self::begin(dir, (Store::open_to_write(dir)?, lock), plans, process)
    }

    fn begin(
        dir: &Path,
        (store, lock): (Store, DirLock),
        plans: &[Arc<dyn Plan>],
        process: &Facts,
    ) -> Result<Self, LedgerError> {
        let home = Home::of(dir)?;
        store.check_plans(plans)?;
        let sums = store.sums()?;
        let sessions = store.sessions()?;
        let before = Session::time(&sessions, process.again)
            .elapsed
            .unwrap_or_default();
        let numbers = sessions.iter().map(|session| session.facts.number);
        let facts = Facts {
            number: numbers.max().unwrap_or(0).saturating_add(1),
            host: host_name(),
            processor: Machine::detect()
                .cpu
                .unwrap_or_else(|| "unknown".to_owned()),
            program: crate::ledger::program(),
            started: unix_time(),
            ..process.clone()
        };
        let session = Session {
            id: new_id(&sessions),
            facts,
            elapsed: Duration::ZERO,
            cpu: Some(Duration::ZERO),
            committed: unix_time(),
        };
        let (orders, inbox) = channel::bounded(WAITING);
        let shared = Arc::new(Shared::default());
        let path = store.file().to_owned();
        let shard = store.info().shard;
        let division = Division::new(shard, plans);
        let id = session.id.clone();
        let writer = Writer {
            home,
            shared: Arc::clone(&shared),
            store,
            counts: !sums.coverage.is_whole_for(shard, &division),
            session,
            start: Instant::now(),
            cpu: ProcessTime::try_now().ok(),
            uncommitted: 0,
        };
        let writer = threads::start("ledger", move || writer.run(&inbox))
            .map_err(|source| LedgerError::io(&path, source))?;
        Ok(Self {
            dir: dir.to_owned(),
            shard,
            division,
            restored: sums,
            before,
            session: id,
            orders: Some(orders),
            shared,
            writer: Some(writer),
            _lock: lock,
        })
    }

    /// Writes it as soon as the thread of the ledger takes it.
    pub(crate) fn write(&self, change: Change) -> Result<(), RecordError> {
        self.send(Order::Write(Box::new(change)))
    }

    fn send(&self, order: Order) -> Result<(), RecordError> {
        if let Some(error) = self.shared.failure.lock().clone() {
            return Err(error);
        }
        let gone = || RecordError::Failed("the ledger's thread is gone".to_owned());
        let sent = self.orders.as_ref().ok_or_else(gone)?.send(order);
        // The writer stops at its first failure, which is the better message.
        sent.map_err(|_| self.shared.failure.lock().clone().unwrap_or_else(gone))
    }
}

impl Recorder for Recording {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        self.write(Change::Found(finding))
    }

    fn results(&self) -> Result<Vec<RecordedResult>, RecordError> {
        let mut results = Vec::new();
        Store::open_to_read(&self.dir)
            .and_then(|store| {
                store.for_each_task(|task| {
                    results.push(RecordedResult {
                        is_own: task.record.session == self.session,
                        result: task.record.result,
                    });
                })
            })
            .map_err(record_error)?;
        Ok(results)
    }

    fn on_checkpoint(&self, tell: OnCheckpoint) {
        *self.shared.on_checkpoint.lock() = Some(tell);
    }

    fn flush(&self, flushed: Flushed) {
        self.shared.ending.store(true, Ordering::Relaxed);
        // If the writer is gone the order is dropped, and `flushed` with it, which reports that.
        if let Some(orders) = &self.orders {
            let _ = orders.send(Order::Flush(flushed));
        }
    }
}

impl Source for Recording {
    /// The tasks of the shard that are not recorded yet.
    fn open(&self, plan: &dyn Plan) -> Supply {
        let engine = plan.engine();
        let tasks = self.restored.coverage.of(engine);
        let restored = Restored {
            sum: self
                .restored
                .tallies
                .get(&engine)
                .copied()
                .unwrap_or_default(),
            cost: cost_of(plan, tasks.iter(), tasks.len()),
            on_cpu: self
                .restored
                .on_cpu
                .get(&engine)
                .copied()
                .unwrap_or_default(),
            tasks: Arc::new(tasks),
        };
        let part = match self.division.chosen(self.shard, engine) {
            Some(tasks) => Part::Listed(tasks.iter().collect()),
            None => Part::Spaced {
                residues: self.shard.parts(),
                spacing: self.shard.count(),
            },
        };
        let mut supply = Supply::of(plan, part, restored);
        // Part by part, so that few parts are half counted if others take what is missing. Parts cost the same, so what
        // has been counted still tells how long the rest will take.
        if self.shard.parts().count() > 1 && supply.size.tasks <= MOST_ORDERED {
            let mut tasks: Vec<u64> = supply.walk.collect();
            tasks.sort_by_key(|task| self.division.part_of(plan.key(*task)));
            supply.walk = Box::new(tasks.into_iter());
        }
        supply
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.orders = None;
        self.shared.ending.store(true, Ordering::Relaxed);
        if let Some(writer) = self.writer.take() {
            // Its failures are in `failure`, and its panics too.
            let _ = writer.join();
        }
    }
}

/// A random id that none of the sessions has.
fn new_id(sessions: &[Session]) -> String {
    loop {
        let id = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        if sessions.iter().all(|session| session.id != id) {
            return id;
        }
    }
}

struct Writer {
    store: Store,
    home: Home,
    shared: Arc<Shared>,
    /// Whether anything is left to count. If not, no session is added.
    counts: bool,
    session: Session,
    start: Instant,
    cpu: Option<ProcessTime>,
    /// Entries since the last commit.
    uncommitted: u64,
}

impl Writer {
    fn run(mut self, inbox: &Receiver<Order>) {
        let end = catch_unwind(AssertUnwindSafe(|| self.serve(inbox)));
        let failure = match end {
            Ok(Ok(())) => return,
            Ok(Err(failure)) => failure,
            Err(_) => RecordError::Failed("the ledger's thread panicked".to_owned()),
        };
        *self.shared.failure.lock() = Some(failure.clone());
        // Nothing more is recorded, and whoever waits for a flush hears why.
        for order in inbox {
            if let Order::Flush(flushed) = order {
                flushed.answer(Err(failure.clone()));
            }
        }
    }

    /// Takes orders until the last sender is gone, and commits at the latest
    /// [`COMMIT_EVERY`] after the first record of a transaction.
    fn serve(&mut self, inbox: &Receiver<Order>) -> Result<(), RecordError> {
        // The session is recorded before its first result. This also shows that the file can be
        // written.
        if self.counts {
            self.begin()?;
            self.commit()?;
        }
        let mut open_since: Option<Instant> = None;
        loop {
            let order = match open_since {
                None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(since) => inbox.recv_deadline(since + COMMIT_EVERY),
            };
            match order {
                Ok(Order::Flush(flushed)) => {
                    let committed = match open_since.take() {
                        Some(_) => self.commit(),
                        // How long this process worked.
                        None if self.counts => self.begin().and_then(|()| self.commit()),
                        None => Ok(()),
                    };
                    flushed.answer(committed.clone());
                    committed?;
                }
                Ok(Order::Write(change)) => {
                    if open_since.is_none() {
                        self.begin()?;
                        open_since = Some(Instant::now());
                    }
                    if let Err(error) = self.write(*change) {
                        // What came before it is good. If that cannot be written either, the first
                        // error says why.
                        let _ = self.commit();
                        return Err(error);
                    }
                    // Records may come so fast that the wait never times out.
                    if open_since.is_some_and(|since| since.elapsed() >= COMMIT_EVERY) {
                        self.commit()?;
                        open_since = None;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.commit()?;
                    open_since = None;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return match open_since {
                        Some(_) => self.commit(),
                        None => Ok(()),
                    };
                }
            }
        }
    }

    fn begin(&self) -> Result<(), RecordError> {
        self.patiently(Store::begin)
    }

    /// Begins or ends a transaction. While another program keeps the file locked, results wait and the run goes
    /// on counting; only a run that ends gives up, after the time that SQLite waits.
    fn patiently(&self, step: fn(&Store) -> Result<(), LedgerError>) -> Result<(), RecordError> {
        loop {
            let last = self.shared.ending.load(Ordering::Relaxed);
            match step(&self.store) {
                Err(error @ LedgerError::Busy { .. }) if !last => {
                    warn!("{error}; results wait in memory until it is free");
                }
                done => return done.map_err(record_error),
            }
        }
    }

    fn write(&mut self, change: Change) -> Result<(), RecordError> {
        let (id, now) = (&self.session.id, unix_time());
        let entry = |result| Entry {
            result,
            session: id.clone(),
            recorded_at: now,
        };
        let written = match change {
            Change::Found(Finding::Result(result)) => self.store.insert(&entry(result)).map(|()| 1),
            // The results other than the recorded one are of this process, too.
            Change::Found(Finding::Correction(correction)) => {
                let correction = correction.map(entry);
                self.store.correct(&correction, id, now).map(|()| 0)
            }
            Change::Found(Finding::Withdrawal(task)) => self.store.withdraw(task).map(|()| 0),
            Change::Found(Finding::Faulty(faulty)) => {
                if self.session.facts.faulty.len() < MOST_FAULTY {
                    self.session.facts.faulty.push(faulty);
                }
                Ok(0)
            }
            Change::Second(result) => self.store.confirm(&entry(result), id, now).map(|()| 1),
            Change::Decision(result, method) => self
                .store
                .decide(&entry(result), method, id, now)
                .map(|()| 1),
            Change::SecondWithdrawal(task) => self.store.remove(Column::Second, task).map(|()| 0),
        };
        self.uncommitted += written.map_err(record_error)?;
        Ok(())
    }

    fn commit(&mut self) -> Result<(), RecordError> {
        self.session.elapsed = self.start.elapsed();
        self.session.cpu = self.cpu.and_then(|since| since.try_elapsed().ok());
        self.session.committed = unix_time();
        self.store
            .put_session(&self.session)
            .map_err(record_error)?;
        // With a rollback journal, readers keep a writer from its commit; the transaction stays open.
        self.patiently(Store::commit)?;
        self.home.check(&self.store).map_err(record_error)?;
        let tasks = std::mem::take(&mut self.uncommitted);
        if let Some(tell) = &*self.shared.on_checkpoint.lock() {
            tell(tasks);
        }
        Ok(())
    }
}

fn record_error(error: LedgerError) -> RecordError {
    match error {
        LedgerError::Disagreement { task, what } => RecordError::Mismatch {
            task,
            message: what,
        },
        other => RecordError::Failed(other.to_string()),
    }
}
