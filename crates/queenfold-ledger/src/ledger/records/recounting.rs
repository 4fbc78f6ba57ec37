//! Second counts of recorded tasks, and the counts that decide where they differ: where a run gets its
//! tasks from, and where its results go.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::ledger::directory::host::host_name;
use crate::ledger::reading::confirmation::Sessions;
use crate::ledger::records::recording::Change;
use crate::ledger::{LedgerError, LoggedCorrection, Recording, Store};
use queenfold::actors::{
    Finding, Flushed, OnCheckpoint, Part, RecordError, Recorder, Restored, Source, Supply, cost_of,
};
use queenfold::engine::{
    Engine, Method, Origin, Plan, Tally, TaskKey, TaskResult, TaskSet, WorkerId,
};

/// What a ledger holds of the tasks that are to be counted a second time.
#[derive(Clone, Debug, Default)]
pub struct FirstCounts {
    /// Who counted each task without a second count, and whether that was on this host.
    once: BTreeMap<TaskKey, (Origin, bool)>,
    /// The tasks with a second count, and their sum.
    twice: BTreeMap<Engine, (TaskSet, Tally)>,
    /// The tasks whose results differ, each with its last correction.
    open: BTreeMap<TaskKey, LoggedCorrection>,
}

impl FirstCounts {
    /// Reads them.
    ///
    /// # Errors
    /// The ledger is damaged or contradicts itself.
    pub fn read(store: &Store) -> Result<Self, LedgerError> {
        let _moment = store.moment()?;
        let mut all = Self {
            open: store.contested()?,
            ..Self::default()
        };
        let sessions = Sessions::of(store.sessions()?);
        let own = host_name();
        store.for_each_task(|task| {
            let result = &task.record.result;
            if sessions.confirmed(&task).is_some() {
                let (tasks, sum) = all.twice.entry(result.key.engine).or_default();
                tasks.insert(result.key.index);
                *sum += result.tally;
            } else if !all.open.contains_key(&result.key) {
                let is_own = sessions.host(&task.record.session) == Some(&own);
                let result = task.record.result;
                all.once.insert(result.key, (result.origin, is_own));
            }
        })?;
        Ok(all)
    }

    /// Who counted a task that has no second count.
    pub fn origin(&self, task: TaskKey) -> Option<&Origin> {
        self.once.get(&task).map(|(origin, _)| origin)
    }

    /// The worker of this host that counted a task first, if it was one of this host.
    pub fn worker_here(&self, task: TaskKey) -> Option<WorkerId> {
        let (origin, is_own) = self.once.get(&task)?;
        is_own.then_some(origin.worker)
    }

    /// The tasks without a second count.
    pub fn once(&self) -> impl Iterator<Item = TaskKey> {
        self.once.keys().copied()
    }

    /// The tasks whose results differ.
    pub const fn open(&self) -> &BTreeMap<TaskKey, LoggedCorrection> {
        &self.open
    }
}

/// Gives a run chosen tasks.
pub struct ChosenTasks {
    /// The tasks of each plan.
    tasks: BTreeMap<Engine, TaskSet>,
    /// What was counted before, of each plan.
    before: BTreeMap<Engine, (TaskSet, Tally)>,
    /// By whom a task is not to be counted.
    avoided: Option<Avoided>,
}

/// The worker of this run that is not to count a task, if there is another one.
type Avoided = Arc<dyn Fn(TaskKey) -> Option<WorkerId> + Send + Sync>;

impl ChosenTasks {
    /// These tasks.
    pub fn new(tasks: impl Iterator<Item = TaskKey>) -> Self {
        let mut of_plans = BTreeMap::<Engine, TaskSet>::new();
        for task in tasks {
            of_plans.entry(task.engine).or_default().insert(task.index);
        }
        Self {
            tasks: of_plans,
            before: BTreeMap::new(),
            avoided: None,
        }
    }

    /// Those of `first` that have a second count were counted before, and no worker gets what it counted
    /// first.
    #[must_use]
    pub fn after(mut self, first: &Arc<FirstCounts>) -> Self {
        self.before = first.twice.clone();
        let first = Arc::clone(first);
        self.without(move |task| first.worker_here(task))
    }

    /// No worker gets a task for which `avoided` names it, if there is another one.
    #[must_use]
    pub fn without(
        mut self,
        avoided: impl Fn(TaskKey) -> Option<WorkerId> + Send + Sync + 'static,
    ) -> Self {
        self.avoided = Some(Arc::new(avoided));
        self
    }
}

impl Source for ChosenTasks {
    fn open(&self, plan: &dyn Plan) -> Supply {
        let engine = plan.engine();
        let (tasks, sum) = self.before.get(&engine).cloned().unwrap_or_default();
        let mut part = self.tasks.get(&engine).cloned().unwrap_or_default();
        for index in tasks.iter() {
            part.insert(index);
        }
        let restored = Restored {
            cost: cost_of(plan, tasks.iter(), tasks.len()),
            tasks: Arc::new(tasks),
            sum,
            ..Restored::default()
        };
        let known = part.iter().filter(|task| *task < plan.tasks());
        Supply::of(plan, Part::Listed(known.collect()), restored)
    }

    fn avoided(&self, plan: &dyn Plan, task: u64) -> Option<WorkerId> {
        self.avoided.as_ref()?(plan.key(task))
    }
}

/// What a task was counted as, if that is found now: the first time, or by what decides between counts that differ.
///
/// # Errors
/// A result is taken back.
pub(crate) fn decided(finding: Finding) -> Result<Option<TaskResult>, RecordError> {
    match finding {
        Finding::Result(result) => Ok(Some(result)),
        Finding::Correction(correction) => Ok(correction.decision.map(|decided| decided.result)),
        Finding::Withdrawal(_) | Finding::Faulty(_) => finding.unlogged().map(|()| None),
    }
}

/// Records results as second counts, or as what decides open corrections. A second count that differs from its record
/// opens a correction, and the run goes on. So does one that is corrected, because its worker counts wrongly: whatever was
/// counted instead is another second count.
pub struct Recounts {
    /// Where they are recorded.
    pub recording: Arc<Recording>,
    /// How each task is counted, if that decides.
    pub deciding: Option<BTreeMap<TaskKey, Method>>,
}

impl Recorder for Recounts {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        match (finding, &self.deciding) {
            (finding @ Finding::Faulty(_), _) => self.recording.take(finding),
            (Finding::Withdrawal(task), None) => {
                self.recording.write(Change::SecondWithdrawal(task))
            }
            (finding, deciding) => match decided(finding)? {
                None => Ok(()),
                Some(result) => self.recording.write(match deciding {
                    None => Change::Second(result),
                    Some(methods) => {
                        let method = methods.get(&result.key).copied();
                        Change::Decision(result, method.unwrap_or(Method::Oracle))
                    }
                }),
            },
        }
    }

    fn on_checkpoint(&self, tell: OnCheckpoint) {
        self.recording.on_checkpoint(tell);
    }

    fn flush(&self, flushed: Flushed) {
        self.recording.flush(flushed);
    }
}
