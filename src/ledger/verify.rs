//! Counts recorded tasks again by another method.

use std::collections::{BTreeMap, HashMap};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crossbeam::channel::{self, Receiver};

use super::confirmation::hosts;
use super::{Coverage, DoneBy, Entry, LedgerError, LedgerSums, OriginName, RecountChoice, Store};
use crate::engine::{
    CheckedBy, CountedBy, Counter, CounterSettings, DeviceKind, Engine, Mismatch, Origin, Plan,
    Tally, TaskKey, TaskResult, WorkerId,
};
use crate::simd::Isa;
use crate::system::threads::start_scoped;

/// What counting recorded tasks again showed.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What the records add up to.
    pub sums: LedgerSums,
    /// Tasks counted again.
    pub checked: u64,
    /// How often each pair of kernels was compared: engine, recorded, counted now.
    pub kernels: BTreeMap<(Engine, String, &'static str), u64>,
    /// The tasks whose record is wrong, in the order of the plans.
    pub wrong_records: Vec<WrongRecord>,
}

/// A record that a second count contradicts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("task {task} (ranks {}..{}): recorded {} by {origin}, but {found}", ranks.start, ranks.end, recorded.exact())]
pub struct WrongRecord {
    /// The task.
    pub task: TaskKey,
    /// Its ranks.
    pub ranks: Range<u64>,
    /// What is recorded.
    pub recorded: Tally,
    /// What was found, and by which kernel.
    pub found: String,
    /// Who counted it: a worker of a host.
    pub origin: OriginName,
    /// The session that recorded it.
    pub session: String,
    /// What was counted instead, by this process; `None` if the counter failed.
    pub counted: Option<TaskResult>,
}

/// What verification needs in addition to the ledger.
pub struct VerifySettings<'a> {
    /// The plans of the run.
    pub plans: &'a [Arc<dyn Plan>],
    /// What counts the tasks again.
    pub by: CheckedBy,
    /// What a counter may use.
    pub settings: &'a CounterSettings,
    /// Chooses among the tasks of this origin alone, if there is one.
    pub done_by: Option<&'a DoneBy>,
    /// Threads that count.
    pub workers: NonZeroUsize,
    /// Called before the first task is counted again, with the tasks that will be.
    pub begin: &'a (dyn Fn(&Coverage) + Sync),
    /// Called after each task that was counted again, with whether its record is right.
    pub tell: &'a (dyn Fn(bool) + Sync),
    /// Once it is true, no further task is counted again, and the findings are of no use.
    pub given_up: &'a AtomicBool,
}

/// Reads every record and counts the chosen tasks again by another kernel than the recorded one, or by the oracle.
///
/// # Errors
/// The ledger is damaged or of other plans. A wrong count is not an error but a finding.
pub fn verify(
    store: &Store,
    how: &VerifySettings<'_>,
    choice: RecountChoice,
) -> Result<Findings, LedgerError> {
    store.info().check_plans(store.file(), how.plans)?;
    let among = match how.done_by {
        Some(done_by) => done_by.tasks(store)?,
        None => store.sums()?.coverage,
    };
    let chosen = choice.among(store.info().n(), &store.info().plans, &among);
    count_again(store, how, &chosen)
}

/// Counts a task by another kernel of this machine than `recorded` was counted by: the kernel, and its count.
pub(super) fn count_here(
    plan: &dyn Plan,
    recorded: &TaskResult,
) -> (&'static str, Result<Tally, Mismatch>) {
    let settings = CounterSettings { isa: Isa::best() };
    let first = &recorded.origin.counted_by;
    let mut counter = CheckedBy::OtherKernel.counter(plan, &settings, first);
    let counted = counter.count(&plan.task(recorded.key.index));
    (counter.backend(), counted)
}

/// Reads every record and counts the chosen tasks again.
///
/// # Errors
/// Those of [`verify`].
pub(super) fn count_again(
    store: &Store,
    how: &VerifySettings<'_>,
    chosen: &Coverage,
) -> Result<Findings, LedgerError> {
    store.info().check_plans(store.file(), how.plans)?;
    let sums = store.sums()?;
    (how.begin)(chosen);
    let hosts = hosts(&store.sessions()?);
    let (sender, inbox) =
        channel::bounded::<(TaskResult, OriginName, String)>(2 * how.workers.get());
    let checker = std::thread::scope(|scope| {
        let check = || Checker::new(how).work(&inbox);
        let workers = (0..how.workers.get()).map(|_| start_scoped(scope, check));
        let workers: Vec<_> = workers
            .collect::<Result<_, _>>()
            .map_err(|source| LedgerError::io(store.file(), source))?;
        let fed = store.for_each(
            |Entry {
                 result, session, ..
             }| {
                if chosen.holds(result.key) && !how.given_up.load(Ordering::Relaxed) {
                    let host = hosts.get(&session).map_or("", String::as_str);
                    let origin = OriginName::of(host, result.origin.worker);
                    // The receiver lives until the sender is gone.
                    let _ = sender.send((result, origin, session));
                }
                Ok(())
            },
        );
        drop(sender);
        let mut all = Checker::new(how);
        for worker in workers {
            match worker.join() {
                Ok(checker) => all.join(checker),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        fed.map(|()| all)
    })?;
    let mut wrong_records = checker.wrong_records;
    wrong_records.sort_by_key(|wrong| wrong.task);
    Ok(Findings {
        sums,
        checked: checker.kernels.values().sum(),
        kernels: checker.kernels,
        wrong_records,
    })
}

/// Whether this program has a kernel for the tasks of `plan`, or a kind of device, of this name.
fn is_kernel(plan: &dyn Plan, name: &str) -> bool {
    let mut sets = Isa::ALL.iter();
    sets.any(|isa| [isa.name(), plan.recount_kernel(*isa)].contains(&name))
        || DeviceKind::ALL.iter().any(|kind| kind.name() == name)
}

/// Where one thread counts.
struct Checker<'a> {
    how: &'a VerifySettings<'a>,
    /// By engine and recorded kernel.
    counters: HashMap<(Engine, String), Box<dyn Counter>>,
    /// What the plans call their kernel on the CPU and their oracle.
    own_kernels: HashMap<Engine, [&'static str; 2]>,
    kernels: BTreeMap<(Engine, String, &'static str), u64>,
    wrong_records: Vec<WrongRecord>,
}

impl<'a> Checker<'a> {
    fn new(how: &'a VerifySettings<'a>) -> Self {
        Self {
            how,
            counters: HashMap::new(),
            own_kernels: HashMap::new(),
            kernels: BTreeMap::new(),
            wrong_records: Vec::new(),
        }
    }

    fn work(mut self, inbox: &Receiver<(TaskResult, OriginName, String)>) -> Self {
        for (result, origin, session) in inbox {
            self.check(&result, origin, session);
        }
        self.counters.clear();
        self
    }

    fn check(&mut self, recorded: &TaskResult, origin: OriginName, session: String) {
        let engine = recorded.key.engine;
        let mut plans = self.how.plans.iter();
        let Some(plan) = plans.find(|plan| plan.engine() == engine) else {
            return;
        };
        let settings = self.how.settings;
        let own_kernels = *self.own_kernels.entry(engine).or_insert_with(|| {
            [plan.counter(settings), plan.oracle()].map(|kernel| kernel.backend())
        });
        let counted_by = &recorded.origin.counted_by;
        // A forged ledger may name any number of kernels, and each would get a counter.
        let known = is_kernel(plan.as_ref(), counted_by.backend())
            || own_kernels.iter().any(|own| counted_by.is_kernel(own));
        let backend = if known {
            counted_by.backend()
        } else {
            "an unknown kernel"
        }
        .to_owned();
        let task = plan.task(recorded.key.index);
        let counter = self
            .counters
            .entry((engine, backend.clone()))
            .or_insert_with(|| self.how.by.counter(plan.as_ref(), settings, counted_by));
        let begun = Instant::now();
        let count = counter.count(&task);
        let (found, counted) = match count {
            Ok(tally) if tally.agrees_with(&recorded.tally) => (None, None),
            Ok(tally) => {
                let counted = TaskResult {
                    key: task.key,
                    tally,
                    origin: Origin {
                        worker: WorkerId::Cpu(0),
                        counted_by: CountedBy::Cpu(counter.backend().into()),
                    },
                    audited_by: None,
                    duration: begun.elapsed(),
                };
                let found = format!("{} counted {}", counter.backend(), tally.exact());
                (Some(found), Some(counted))
            }
            Err(mismatch) => (
                Some(format!("{} failed: {mismatch}", counter.backend())),
                None,
            ),
        };
        *self
            .kernels
            .entry((engine, backend, counter.backend()))
            .or_default() += 1;
        (self.how.tell)(found.is_none());
        if let Some(found) = found {
            self.wrong_records.push(WrongRecord {
                task: task.key,
                ranks: task.ranks,
                recorded: recorded.tally,
                found,
                origin,
                session,
                counted,
            });
        }
    }

    fn join(&mut self, other: Self) {
        self.wrong_records.extend(other.wrong_records);
        for (kernels, tasks) in other.kernels {
            *self.kernels.entry(kernels).or_default() += tasks;
        }
    }
}
