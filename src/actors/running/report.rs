//! What a run gives at its end: sums, and how its workers spent it; or why it has no result.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::actors::{FaultyWorker, WorkerProgress};
use crate::engine::{Engine, Plan, Tally, TaskKey, WorkerId};

/// How a run ended that did not fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunEnd {
    /// Every task of its plans is counted, in this run or before it: even if it was stopped after the last one, or counted
    /// a shard after the others.
    #[default]
    Whole,
    /// Every task that its source gives is counted, such as those of a shard.
    Part,
    /// This stopped it before.
    Stopped(StopCause),
}

/// What stopped a job before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// [`Control::drain`](crate::actors::Control::drain).
    Request,
    /// The time limit.
    TimeLimit,
    /// This device is lost. With others that are, it had done most of the work, and a process that begins again may have
    /// them back.
    LostDevice(WorkerId),
}

impl fmt::Display for StopCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request => f.write_str("a request"),
            Self::TimeLimit => f.write_str("the time limit"),
            Self::LostDevice(device) => {
                write!(
                    f,
                    "the loss of {device} (lost devices did most of the work)"
                )
            }
        }
    }
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// How it ended.
    pub end: RunEnd,
    /// The sum of the tallies of each plan. They are a result only if the report
    /// [is whole](Self::is_whole).
    pub tallies: BTreeMap<Engine, Tally>,
    /// Tasks counted, in this run or before it.
    pub tasks_done: u64,
    /// Tasks that were counted before this run or that it was to count.
    pub tasks_total: u64,
    /// Tasks of all plans. A source such as that of a shard gives only a part of them.
    pub tasks_planned: u64,
    /// Tasks that two counts of this run agree on.
    pub twice: u64,
    /// Tasks whose count in the sums was corrected by others.
    pub corrected: u64,
    /// Workers and devices that counted wrongly.
    pub faulty: Vec<FaultyWorker>,
    /// How often a task was given up because the run stopped or paused.
    pub given_up: u64,
    /// The time of workers that was lost by that, added up.
    pub lost: Duration,
    /// Wall time from the start of the run to the final tally. Opening and testing a device is included
    /// only if others count the same plan meanwhile.
    pub elapsed: Duration,
    /// CPU time of all threads of the process in that time.
    pub cpu: Duration,
    /// How each worker spent the run: CPU workers, then devices.
    pub workers: Vec<WorkerProgress>,
}

impl Report {
    /// Whether every task of all plans is counted, in this run or before it.
    pub fn is_whole(&self) -> bool {
        self.end == RunEnd::Whole
    }

    /// The queens that the search placed, added up over all plans.
    pub fn nodes(&self) -> u128 {
        let nodes = self.tallies.values().map(|tally| u128::from(tally.nodes));
        nodes.sum()
    }

    /// The share of the work of this run that a worker or device counted, 0 to 1.
    pub fn share_of(&self, worker: &WorkerProgress) -> f64 {
        let all: u64 = self.workers.iter().map(|worker| worker.nodes).sum();
        worker.nodes as f64 / all.max(1) as f64
    }

    /// The time between the moments when the first and the last worker or device finished its last
    /// task. Those without any task are left out.
    pub fn skew(&self) -> Duration {
        let workers = || self.workers.iter().filter(|worker| worker.tasks > 0);
        let finished = || workers().map(|worker| worker.finished);
        match (finished().min(), finished().max()) {
            (Some(least), Some(most)) => most - least,
            _ => Duration::ZERO,
        }
    }
}

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// A task panicked on two workers.
    #[error("task {task} (ranks {}..{}) failed twice: {message}", ranks.start, ranks.end)]
    TaskFailed {
        /// The task.
        task: TaskKey,
        /// Its ranks.
        ranks: Range<u64>,
        /// What the last panic said.
        message: String,
    },
    /// A check failed: two counts of one task differ, or a counter contradicted itself.
    #[error("task {task} (ranks {}..{}): {message}", ranks.start, ranks.end)]
    Mismatch {
        /// The task.
        task: TaskKey,
        /// Its ranks.
        ranks: Range<u64>,
        /// What differs.
        message: String,
    },
    /// A worker or device counted wrongly, and nobody is left to count instead.
    #[error("{worker} is faulty, and nobody is left to count instead: {reason}")]
    Faulty {
        /// The worker.
        worker: WorkerId,
        /// What it counted wrongly.
        reason: String,
    },
    /// The sums contradict what is known, and no task was found whose count is wrong.
    #[error("{reason}; tasks counted again elsewhere, with the same results: {again} of {tasks}")]
    Contradiction {
        /// What contradicts what.
        reason: String,
        /// Tasks of the run.
        tasks: u64,
        /// Those that were counted again.
        again: u64,
    },
    /// Results cannot be recorded.
    #[error("{0}")]
    Recorder(String),
    /// The runtime itself failed: a thread could not be started, for example.
    #[error("the runtime failed: {0}")]
    Runtime(String),
}

impl RunError {
    /// A check of a task of this plan failed, if its plan is known.
    pub(crate) fn mismatch(plan: Option<&dyn Plan>, task: TaskKey, message: String) -> Self {
        Self::Mismatch {
            task,
            ranks: plan.map_or(0..0, |plan| plan.ranks_of(task.index)),
            message,
        }
    }
}
