//! What a run directory says of its run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::timeline::Timeline;
use queenfold::engine::{Engine, Plan, WorkerId};
use queenfold::job::outcome;
use queenfold::outcome::Outcome;
use queenfold_ledger::ledger::{
    Division, LedgerError, LedgerSums, LoggedCorrection, RecordedTask, RunInfo, Session, Signature,
    Status, Store, WorkTime, is_held, read_history, unix_time,
};

/// All that a report shows.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The directory.
    pub directory: PathBuf,
    /// What is counted.
    pub info: RunInfo,
    /// Whether a process works on it now.
    pub runs: bool,
    /// When this was read, in seconds since 1970.
    pub read_at: i64,
    /// How far it is.
    pub status: Status,
    /// The result, if all is counted and nothing contradicts it; otherwise why there is none.
    pub outcome: Result<Outcome, String>,
    /// The signature of what is recorded, in hexadecimal digits.
    pub signature: String,
    /// The processes that worked on it.
    pub sessions: Vec<Session>,
    /// Who counted.
    pub lanes: Vec<Lane>,
    /// The names of the kernels and devices that counted.
    pub kernels: Vec<String>,
    /// What was counted, in canonical order.
    pub tasks: Vec<DoneTask>,
    /// Counts that differed.
    pub corrections: Vec<LoggedCorrection>,
    /// Pauses, and times left that were told.
    pub timeline: Timeline,
}

/// A worker or device of a host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lane {
    /// The machine.
    pub host: String,
    /// The worker.
    pub worker: WorkerId,
}

/// A recorded task, as the drawings need it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoneTask {
    /// The engine.
    pub engine: Engine,
    /// Its number in the plan.
    pub index: u64,
    /// The process that recorded it: an index of [`RunReport::sessions`].
    pub session: Option<usize>,
    /// Who counted it: an index of [`RunReport::lanes`].
    pub lane: usize,
    /// By what: an index of [`RunReport::kernels`].
    pub kernel: usize,
    /// When it was recorded, in seconds since 1970.
    pub end: i64,
    /// How long it was counted, in seconds.
    pub seconds: f64,
    /// Nodes searched.
    pub nodes: u64,
}

impl RunReport {
    /// Reads the run in `directory`, while a process works on it or not.
    ///
    /// # Errors
    /// The ledger is damaged, or of another version.
    pub fn read(directory: &Path) -> Result<Self, LedgerError> {
        let store = Store::open_to_read(directory)?;
        let plans = store.plans()?;
        let _moment = store.moment()?;
        let division = Division::new(store.info().shard, &plans);
        let status = Status::read(&store, &plans, &division, true)?;
        let mut report = Self {
            directory: directory.to_owned(),
            info: store.info().clone(),
            runs: is_held(directory),
            read_at: unix_time(),
            outcome: Err(String::new()),
            status,
            signature: String::new(),
            sessions: store.sessions()?,
            lanes: Vec::new(),
            kernels: Vec::new(),
            tasks: Vec::new(),
            corrections: store.corrections()?,
            timeline: timeline(directory),
        };
        let sums = report.read_tasks(&store)?;
        report.outcome = total(&store, &plans, &sums);
        Ok(report)
    }

    fn read_tasks(&mut self, store: &Store) -> Result<LedgerSums, LedgerError> {
        let sessions = self.sessions.iter().enumerate();
        let sessions: BTreeMap<_, _> = sessions
            .map(|(at, session)| (session.id.as_str(), (at, session.facts.host.as_str())))
            .collect();
        // Each with its tasks, which get the number of their lane when all are known.
        let mut lanes: BTreeMap<(&str, WorkerId), Vec<usize>> = BTreeMap::new();
        let mut signature = Signature::new(store.info());
        let sums = store.sums_and(|RecordedTask { record: entry, .. }| {
            signature.add(&entry);
            let result = &entry.result;
            let session = sessions.get(entry.session.as_str());
            let host = session.map_or("", |(_, host)| host);
            let lane = lanes.entry((host, result.origin.worker)).or_default();
            lane.push(self.tasks.len());
            let by = result.origin.counted_by.name();
            let kernel = self.kernels.iter().position(|kernel| kernel == by);
            let kernel = kernel.unwrap_or_else(|| {
                self.kernels.push(by.to_owned());
                self.kernels.len() - 1
            });
            self.tasks.push(DoneTask {
                engine: result.key.engine,
                index: result.key.index,
                session: session.map(|(at, _)| *at),
                lane: 0,
                kernel,
                end: entry.recorded_at,
                seconds: result.duration.as_secs_f64(),
                nodes: result.tally.nodes,
            });
        })?;
        self.signature = signature.digest().to_string();
        for ((host, worker), tasks) in lanes {
            for task in tasks {
                self.tasks[task].lane = self.lanes.len();
            }
            let host = host.to_owned();
            self.lanes.push(Lane { host, worker });
        }
        Ok(sums)
    }

    /// How long it was counted for the first time.
    pub fn time(&self) -> WorkTime {
        Session::time(&self.sessions, false)
    }
}

fn total(store: &Store, plans: &[Arc<dyn Plan>], sums: &LedgerSums) -> Result<Outcome, String> {
    let missing = sums.coverage.tasks() - sums.coverage.done();
    if missing > 0 {
        return Err(format!("{missing} tasks are missing"));
    }
    let decided = store.check_decided();
    decided.map_err(|error| error.to_string())?;
    // The plan that counts all solutions is the first.
    let plan = plans.first().ok_or("it has no plan")?;
    let outcome = outcome(plan.as_ref(), |engine| sums.tallies.get(&engine));
    outcome.map_err(|error| error.to_string())
}

/// What the history says; nothing if there is none, or none that can be read.
fn timeline(directory: &Path) -> Timeline {
    let text = read_history(directory).ok().flatten().unwrap_or_default();
    Timeline::read(&String::from_utf8_lossy(&text))
}
