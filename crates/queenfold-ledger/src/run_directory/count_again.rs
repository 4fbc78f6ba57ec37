//! Counts chosen tasks once more. `verify`, with and without `--again`, and `check --challenge` do it all in one way: by a run on the
//! workers of this machine. They differ in which tasks are drawn, by what each is counted, and who hears of it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::ledger::{ChosenTasks, OriginName, decided};
use queenfold::actors::{
    DeviceSpec, Finding, Flushed, OnCheckpoint, RecordError, Recorder, Report, RunEnd, RunSpec,
};
use queenfold::engine::{
    CheckedBy, CountedBy, Engine, Plan, RecountKernel, RecountPlan, Tally, TaskKey, TaskResult,
};
use queenfold::job::{Hardware, JobError, RunSettings, Stopped};

/// Counts `tasks` of `plans`, on the CPU each by the kernel that `by` gives for it, on devices by the
/// [`relauncher`](Plan::relauncher) if `relaunches`. `tell` hears what comes out. `before` is the time of earlier processes,
/// for the message of a stop.
pub(super) fn count_again(
    plans: &[Arc<dyn Plan>],
    tasks: ChosenTasks,
    by: impl Fn(&dyn Plan, TaskKey) -> RecountKernel + Send + Sync + 'static,
    (how, hardware): (&RunSettings, &Hardware),
    (devices, relaunches): (&[DeviceSpec], bool),
    tell: Arc<dyn Recorder>,
    before: Duration,
) -> Result<Report, JobError> {
    let again = recounted(plans, by, relaunches);
    // Every task is counted twice already: that shows what audits would. Canaries tell which of two counts
    // that differ to doubt, before all of them are contested.
    let spec = RunSpec {
        audit: 0.0,
        ..how.spec(hardware, again, Arc::new(tasks), Some(tell))
    };
    let report = how.run(&spec, devices)?;
    match (report.end, plans.first()) {
        (RunEnd::Stopped(cause), Some(plan)) => {
            Err(Stopped::by(plan.given(), cause, report, before))
        }
        _ => Ok(report),
    }
}

/// `plans` whose tasks are counted on the CPU each by the kernel that `by` gives for it, on devices by the
/// [`relauncher`](Plan::relauncher) if `relaunches`.
pub(super) fn recounted(
    plans: &[Arc<dyn Plan>],
    by: impl Fn(&dyn Plan, TaskKey) -> RecountKernel + Send + Sync + 'static,
    relaunches: bool,
) -> Vec<Arc<dyn Plan>> {
    let by = Arc::new(by);
    let recounted = plans.iter().map(|plan| {
        let (of, by) = (Arc::clone(plan), Arc::clone(&by));
        let recount = RecountPlan {
            plan: Arc::clone(plan),
            choose: Arc::new(move |index| by(of.as_ref(), of.key(index))),
            relaunches,
        };
        Arc::new(recount) as Arc<dyn Plan>
    });
    recounted.collect()
}

/// What is said of a task that is counted again.
#[derive(Clone, Debug)]
pub struct Said {
    /// Its count.
    pub tally: Tally,
    /// Whether that tells how many partitions were counted.
    pub has_partitions: bool,
    /// What counted it.
    pub counted_by: CountedBy,
    /// Whose record says so: a worker of a host. `None`: a certificate.
    pub origin: Option<OriginName>,
}

/// Tasks that are counted again, to check what is said of them.
pub struct ToCheck {
    /// The plans.
    pub plans: Vec<Arc<dyn Plan>>,
    /// What is said of each task.
    pub said: BTreeMap<TaskKey, Said>,
}

/// What counting tasks again showed.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// How often each pair of kernels was compared: engine, said, counted now.
    pub kernels: BTreeMap<(Engine, String, String), u64>,
    /// What was counted of tasks of which something else is said.
    pub wrong: BTreeMap<TaskKey, TaskResult>,
}

impl Compared {
    /// The tasks of which something else is said, in the order of the plans.
    pub fn wrong_of(&self, tasks: &ToCheck) -> Vec<WrongTask> {
        let wrong = |(task, found): (&TaskKey, &TaskResult)| {
            let (by, tally) = (found.origin.counted_by.backend(), found.tally.exact());
            let said = tasks.said.get(task)?;
            Some(WrongTask {
                task: *task,
                said: said.tally,
                found: format!("{by} counted {tally}"),
                origin: said.origin.clone(),
            })
        };
        self.wrong.iter().filter_map(wrong).collect()
    }
}

/// A task that another count contradicts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongTask {
    /// The task.
    pub task: TaskKey,
    /// What is said of it.
    pub said: Tally,
    /// What was found, and by which kernel.
    pub found: String,
    /// Whose record says so: a worker of a host. `None`: a certificate.
    pub origin: Option<OriginName>,
}

impl fmt::Display for WrongTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (task, said, found) = (self.task, self.said.exact(), &self.found);
        match &self.origin {
            Some(origin) => write!(f, "task {task}: recorded {said} by {origin}, but {found}"),
            None => write!(f, "task {task}: the certificate says {said}, but {found}"),
        }
    }
}

/// Hears of each task that was counted again whether what is said of it is right.
pub type Tell = Box<dyn Fn(bool) + Send + Sync>;

impl ToCheck {
    /// How many tasks it holds.
    pub fn tasks(&self) -> u64 {
        self.said.len() as u64
    }

    /// Core-seconds that it takes to count them again, within a factor of 3.
    pub fn core_seconds(&self, by: CheckedBy) -> f64 {
        let of_task = |(key, said): (&TaskKey, &Said)| {
            let plan = self.plans.iter().find(|plan| plan.engine() == key.engine);
            let plan = plan?.as_ref();
            let per_cost = by.against(plan, &said.counted_by).seconds_per_cost(plan);
            Some(plan.task(key.index).cost * per_cost.unwrap_or(1.0))
        };
        self.said.iter().filter_map(of_task).sum()
    }

    /// Counts them again and compares.
    ///
    /// # Errors
    /// See [`JobError`]. A wrong count is not an error but a finding.
    pub fn count(
        self: &Arc<Self>,
        by: CheckedBy,
        (how, hardware): (&RunSettings, &Hardware),
        tell: Tell,
    ) -> Result<Compared, JobError> {
        let tasks = ChosenTasks::new(self.said.keys().copied());
        let all = Arc::clone(self);
        let by = move |plan: &dyn Plan, key: TaskKey| match all.said.get(&key) {
            Some(said) => by.against(plan, &said.counted_by),
            None => RecountKernel::Oracle,
        };
        let comparing = Arc::new(Comparing {
            tasks: Arc::clone(self),
            compared: Mutex::default(),
            tell,
        });
        let recorder = Arc::clone(&comparing) as Arc<dyn Recorder>;
        let (on, none) = ((how, hardware), (&[][..], false));
        count_again(&self.plans, tasks, by, on, none, recorder, Duration::ZERO)?;
        Ok(std::mem::take(&mut comparing.compared.lock()))
    }
}

/// Compares what comes out with what is said.
struct Comparing {
    tasks: Arc<ToCheck>,
    compared: Mutex<Compared>,
    tell: Tell,
}

impl Recorder for Comparing {
    fn take(&self, finding: Finding) -> Result<(), RecordError> {
        let is_first = matches!(finding, Finding::Result(_));
        let Some(result) = decided(finding)? else {
            return Ok(());
        };
        let Some(said) = self.tasks.said.get(&result.key) else {
            return Ok(());
        };
        let found = Tally {
            partitions: match said.has_partitions {
                true => result.tally.partitions,
                false => said.tally.partitions,
            },
            ..result.tally
        };
        let is_right = found.agrees_with(&said.tally);
        let mut compared = self.compared.lock();
        if is_first {
            let by = [&said.counted_by, &result.origin.counted_by];
            let [said, now] = by.map(|by| by.backend().to_owned());
            let pair = (result.key.engine, said, now);
            *compared.kernels.entry(pair).or_default() += 1;
            (self.tell)(is_right);
        }
        match is_right {
            true => compared.wrong.remove(&result.key),
            false => compared.wrong.insert(result.key, result),
        };
        Ok(())
    }

    fn on_checkpoint(&self, _: OnCheckpoint) {}

    fn flush(&self, flushed: Flushed) {
        flushed.answer(Ok(()));
    }
}
