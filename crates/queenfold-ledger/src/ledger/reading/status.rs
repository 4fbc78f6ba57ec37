//! How far a run is, as its directory shows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::ledger::{
    Division, Entry, Facts, LedgerError, LedgerSums, Missing, Session, Store, unix_time,
};
use queenfold::actors::FaultyWorker;
use queenfold::engine::{Engine, Plan, WorkerId};

/// How far a run is, by what is committed. It is made from the ledger, not from the events of the
/// run, because the process that wrote it may be gone.
#[derive(Clone, Debug)]
pub struct Status {
    /// What the records add up to, and who counted them, how often.
    pub sums: LedgerSums,
    /// The tasks that are not recorded, of the whole run.
    pub missing: Missing,
    /// Tasks of the run's own shard that are recorded, and all of them.
    pub shard_tasks: (u64, u64),
    /// The share of the estimated work of the shard that is done, 0 to 1.
    pub share: f64,
    /// What was recorded by the latest process.
    pub latest: Option<Latest>,
    /// Workers and devices that counted wrongly, each with the machine it was on.
    pub faulty: Vec<(String, FaultyWorker)>,
    /// How many processes worked on the run.
    pub sessions: usize,
}

/// What the latest process did.
#[derive(Clone, Debug)]
pub struct Latest {
    /// Where and when.
    pub session: Session,
    /// Tasks it counted, the first or the second time.
    pub tasks: u64,
    /// Of these, the tasks that it counted a second time.
    pub second: u64,
    /// Nodes in what it counted.
    pub nodes: u64,
    /// What each of its workers counted.
    pub workers: BTreeMap<WorkerId, Speed>,
    /// Time left if it continues at its speed; `None` while its speed is unknown.
    pub left: Option<Duration>,
}

/// What a worker counted, the first or the second time.
#[derive(Clone, Debug, Default)]
pub struct Speed {
    /// The kernel it used last.
    pub backend: String,
    /// Tasks.
    pub tasks: u64,
    /// Nodes in them.
    pub nodes: u64,
    /// The time it counted.
    pub busy: Duration,
}

impl Speed {
    /// Nodes for each second of counting.
    pub fn nodes_per_second(&self) -> f64 {
        per_second(self.nodes, self.busy)
    }
}

impl Latest {
    /// Tasks for each second since it began.
    pub fn tasks_per_second(&self) -> f64 {
        per_second(self.tasks, self.session.elapsed)
    }

    /// Nodes for each second since it began.
    pub fn nodes_per_second(&self) -> f64 {
        per_second(self.nodes, self.session.elapsed)
    }

    /// How long ago it committed. The clocks of two machines may differ.
    pub fn checkpoint(&self) -> Duration {
        let age = unix_time().saturating_sub(self.session.committed);
        Duration::from_secs(u64::try_from(age).unwrap_or(0))
    }

    /// Adds a task that it counted.
    fn add(&mut self, entry: &Entry) {
        let (result, nodes) = (&entry.result, entry.result.tally.nodes);
        self.tasks += 1;
        self.nodes = self.nodes.saturating_add(nodes);
        let worker = self.workers.entry(result.origin.worker).or_default();
        result
            .origin
            .counted_by
            .backend()
            .clone_into(&mut worker.backend);
        worker.tasks += 1;
        worker.nodes = worker.nodes.saturating_add(nodes);
        worker.busy += result.duration;
    }
}

/// So many for each second; 0 if no time is known.
pub(crate) fn per_second(count: u64, time: Duration) -> f64 {
    match time.is_zero() {
        true => 0.0,
        false => count as f64 / time.as_secs_f64(),
    }
}

/// The estimated work of one plan, and how fast it went.
#[derive(Default)]
struct PlanWork {
    /// Of all tasks of the shard, and of those that are recorded.
    cost: f64,
    cost_done: f64,
    /// Of what the latest process recorded.
    cost_latest: f64,
    seconds_latest: f64,
}

/// Plans with up to this many tasks use the cost of each task. Computing the costs of millions takes
/// longer than somebody who asks for the status wants to wait.
const ESTIMATED: u64 = 1 << 16;

/// The expected cost of a task of `plan`, in units of that plan.
fn cost(plan: &dyn Plan, index: u64) -> f64 {
    if plan.tasks() <= ESTIMATED {
        plan.task(index).cost
    } else {
        1.0
    }
}

impl Status {
    /// Reads the ledger of the run of `plans`, which are divided by `division`. To make that takes seconds
    /// for the largest plans: who reads again and again makes it once. Records are believed unless `is_checked`.
    ///
    /// # Errors
    /// The ledger is damaged or of other plans.
    pub fn read(
        store: &Store,
        plans: &[Arc<dyn Plan>],
        division: &Division,
        is_checked: bool,
    ) -> Result<Self, LedgerError> {
        store.check_plans(plans)?;
        let _moment = store.moment()?;
        let sessions = store.sessions()?;
        let count = sessions.len();
        let shard = store.info().shard;
        let named = |session: &Session| {
            let Facts { host, faulty, .. } = &session.facts;
            let faulty = faulty.iter().map(|worker| (host.clone(), worker.clone()));
            faulty.collect::<Vec<_>>()
        };
        let faulty = sessions.iter().flat_map(named).collect();
        let mut latest = sessions
            .into_iter()
            .max_by_key(|session| session.facts.number)
            .map(|session| Latest {
                session,
                tasks: 0,
                second: 0,
                nodes: 0,
                workers: BTreeMap::new(),
                left: None,
            });
        let mut works: BTreeMap<Engine, PlanWork> = BTreeMap::new();
        let sums = store.sums_of(is_checked, |task| {
            let (record, second) = (&task.record, &task.second);
            let key = record.result.key;
            let Some(latest) = &mut latest else {
                return;
            };
            let id = &latest.session.id;
            if record.session == *id {
                let mut plans = plans.iter();
                if let Some(plan) = plans.find(|plan| plan.engine() == key.engine) {
                    let work = works.entry(plan.engine()).or_default();
                    work.cost_latest += cost(plan.as_ref(), key.index);
                    work.seconds_latest += record.result.duration.as_secs_f64();
                }
                latest.add(record);
            } else if let Some(second) = second.as_ref().filter(|second| second.session == *id) {
                latest.second += 1;
                latest.add(second);
            }
        })?;
        let mut shard_tasks = (0, 0);
        for plan in plans {
            let work = works.entry(plan.engine()).or_default();
            let tasks = (0..plan.tasks()).map(|index| plan.key(index));
            for task in tasks.filter(|task| division.holds(shard, *task)) {
                let cost = cost(plan.as_ref(), task.index);
                shard_tasks.1 += 1;
                work.cost += cost;
                if sums.coverage.holds(task) {
                    shard_tasks.0 += 1;
                    work.cost_done += cost;
                }
            }
        }
        if let Some(latest) = &mut latest {
            latest.left = left(works.values(), latest.session.facts.workers);
        }
        let cost: f64 = works.values().map(|work| work.cost).sum();
        let cost_done: f64 = works.values().map(|work| work.cost_done).sum();
        Ok(Self {
            missing: sums.coverage.missing(division),
            share: match shard_tasks {
                (done, all) if done == all => 1.0,
                _ if cost > 0.0 => (cost_done / cost).clamp(0.0, 1.0),
                _ => 0.0,
            },
            sums,
            shard_tasks,
            faulty,
            latest,
            sessions: count,
        })
    }

    /// Whether every task of its shard is recorded.
    pub const fn is_done(&self) -> bool {
        self.shard_tasks.0 == self.shard_tasks.1
    }
}

/// Time left for `workers` at the speed that the latest process had in each plan.
fn left<'a>(works: impl Iterator<Item = &'a PlanWork>, workers: u64) -> Option<Duration> {
    let mut seconds = 0.0;
    for work in works {
        let cost = (work.cost - work.cost_done).max(0.0);
        if cost > 1e-9 * work.cost {
            if work.cost_latest <= 0.0 {
                return None;
            }
            seconds += cost * work.seconds_latest / work.cost_latest;
        }
    }
    Duration::try_from_secs_f64(seconds / workers.max(1) as f64).ok()
}
