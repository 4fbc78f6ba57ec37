//! What happens in a run, sent to observers while it happens.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::actors::{Eta, PauseReason, RunState};
use crate::board::decimal;
use crate::board::{GivenSquares, Size};
use crate::engine::{
    CountedBy, DeviceIdentity, Engine, KernelName, Plan, TaskKey, TaskResult, WorkerId, seconds,
};

/// Something that happened in a run, and when. Events can be written and read with serde, so that
/// another process can follow a run: [`Progress::note`](crate::actors::telling::progress::Progress::note) keeps account of them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEvent {
    /// When, measured from the beginning of the run.
    #[serde(with = "seconds")]
    pub at: Duration,
    /// What.
    pub kind: EventKind,
}

/// What can happen in a run.
///
/// Events of one worker come in the order of time. Events of different threads may overtake each
/// other on the way to an observer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EventKind {
    /// The run went to another state. The first event of every run is [`RunState::Planning`].
    State(RunState),
    /// Why the run is paused. It comes after [`RunState::Paused`], and again when the reasons change.
    PausedFor {
        /// All reasons, at least one.
        reasons: Vec<PauseReason>,
    },
    /// Something failed, so that the run can have no result. It drains, and ends as
    /// [`RunState::Failed`]. Told once, of the first failure.
    Failed {
        /// What failed, for people.
        reason: String,
    },
    /// What is to be counted is planned, and the workers start.
    Planned {
        /// What is to be counted.
        plans: Vec<PlannedTasks>,
        /// Who counts: CPU workers, then devices.
        workers: Vec<WorkerId>,
    },
    /// The producer filled the queue.
    Offered {
        /// When it did.
        time: TimeSpan,
    },
    /// The number of batches in the queue of the CPU workers changed.
    Queued {
        /// Batches that wait.
        batches: usize,
    },
    /// A worker has nothing to count and waits for a batch.
    Waiting {
        /// The worker.
        worker: WorkerId,
    },
    /// A wait ended: the worker has a batch, or the queue is closed.
    Waited {
        /// The worker.
        worker: WorkerId,
        /// The part of the wait while there were tasks to hand out.
        #[serde(with = "seconds")]
        waiting: Duration,
        /// The part after the last task was handed out.
        #[serde(with = "seconds")]
        starved: Duration,
        /// Whether the worker has a batch. If not, the queue is closed, and the worker will end.
        has_batch: bool,
    },
    /// A worker begins to count a task on the CPU.
    TaskBegun {
        /// The worker.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
    },
    /// A worker, named in the origin of the result, counted a task. The task is done only when the
    /// collector has recorded it: see [`Advanced`](Self::Advanced).
    TaskCounted(TaskResult),
    /// The count of a task panicked. Another worker tries it once more; if it panics again, the run
    /// fails.
    TaskPanicked {
        /// The worker.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
        /// What the panic said.
        message: String,
    },
    /// A worker gave up the task that it counted, or a device a task of a launch, because the run stops or
    /// pauses. What was
    /// counted of it is lost; the task is counted from its beginning when the run goes on.
    TaskGivenUp {
        /// The worker.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
        /// How long the worker had counted it; of a device, its part of the time of the launch.
        #[serde(with = "seconds")]
        after: Duration,
    },
    /// A CPU worker counted a batch, or gave it up.
    BatchDone {
        /// The worker.
        worker: WorkerId,
        /// The engine whose tasks they were.
        engine: Engine,
        /// Tasks that the batch was made of.
        tasks: usize,
        /// Nodes searched in them.
        #[serde(with = "decimal")]
        nodes: u64,
        /// From the first task to the last.
        time: TimeSpan,
        /// The CPU time of the worker in that: less if it had to wait for a core.
        #[serde(with = "seconds")]
        cpu: Duration,
    },
    /// A device is open and tested.
    DeviceReady {
        /// The thread that owns the device.
        worker: WorkerId,
        /// The device.
        device: DeviceIdentity,
    },
    /// A device could not be opened, or failed: it counts nothing more in this run. Others
    /// count the tasks that it held. If there is nobody else, the run fails.
    DeviceGivenUp {
        /// The thread that owns the device.
        worker: WorkerId,
        /// What failed.
        reason: String,
    },
    /// A device was given a launch. The event comes up to 50 ms later, and before the event that the
    /// launch ended.
    LaunchBegun {
        /// The thread that owns the device.
        worker: WorkerId,
        /// Tasks in the launch.
        tasks: usize,
    },
    /// A launch on a device ended.
    LaunchDone(FinishedLaunch),
    /// A worker counted its canary correctly: small tasks whose counts are known.
    CanaryPassed {
        /// The worker.
        worker: WorkerId,
        /// Counts that were compared.
        counts: u64,
        /// How long that took.
        #[serde(with = "seconds")]
        took: Duration,
    },
    /// A worker or device counted wrongly. It counts nothing more in this run. What it counted since its
    /// last good canary is counted again by others.
    Faulty(FaultyWorker),
    /// A task that others had counted was counted again, because of doubt about its count.
    CountedAgain {
        /// The worker.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
        /// How long it took.
        #[serde(with = "seconds")]
        took: Duration,
    },
    /// Two counts of a task differed, and a third one decided. The sums follow it.
    Corrected(Box<CorrectedCount>),
    /// Everything is counted, and the sums contradict what is known. Tasks are counted again elsewhere,
    /// until the wrong ones are found or that took as long as the run.
    Contradicted {
        /// What contradicts what.
        reason: String,
    },
    /// A task was counted a second time, with the same result. If the results differ, a third count
    /// decides.
    Audited {
        /// The worker that did it.
        worker: WorkerId,
        /// The task.
        key: TaskKey,
        /// The kernel of the second count.
        by: KernelName,
        /// How long the second count took.
        #[serde(with = "seconds")]
        took: Duration,
    },
    /// The collector took results from a worker.
    Collected {
        /// Results.
        tasks: usize,
        /// When it did.
        time: TimeSpan,
    },
    /// How far the run is: sent when the actors start, and whenever the collector took results.
    Advanced {
        /// Tasks recorded.
        tasks_done: u64,
        /// Tasks that are recorded or to be counted.
        tasks_total: u64,
        /// Share of the estimated work that is done, 0 to 1.
        share: f64,
        /// Solutions found so far: Σ weight × completions.
        #[serde(with = "decimal")]
        solutions: u128,
        /// Nodes searched so far, without those of restored tasks.
        #[serde(with = "decimal")]
        nodes: u64,
        /// How fast all workers together count: the mean of the last ten seconds or a little more; 0 unless the run counts.
        #[serde(default)]
        nodes_per_second: f64,
        /// The time left; `None` until enough tasks are counted.
        eta: Option<Eta>,
    },
    /// The recorder made results durable.
    Checkpoint {
        /// Results since the checkpoint before, at least 1.
        tasks: u64,
    },
    /// A worker ended: it counts nothing more in this run.
    Gone {
        /// The worker.
        worker: WorkerId,
    },
}

impl EventKind {
    /// The worker that the event is about, if it is about one.
    pub const fn worker(&self) -> Option<WorkerId> {
        match self {
            Self::Waiting { worker }
            | Self::Waited { worker, .. }
            | Self::TaskBegun { worker, .. }
            | Self::TaskPanicked { worker, .. }
            | Self::TaskGivenUp { worker, .. }
            | Self::BatchDone { worker, .. }
            | Self::DeviceReady { worker, .. }
            | Self::DeviceGivenUp { worker, .. }
            | Self::LaunchBegun { worker, .. }
            | Self::LaunchDone(FinishedLaunch { worker, .. })
            | Self::Audited { worker, .. }
            | Self::CanaryPassed { worker, .. }
            | Self::Faulty(FaultyWorker { worker, .. })
            | Self::CountedAgain { worker, .. }
            | Self::Gone { worker } => Some(*worker),
            Self::TaskCounted(result) => Some(result.origin.worker),
            _ => None,
        }
    }
}

/// A worker or device that counted wrongly.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultyWorker {
    /// The worker.
    pub worker: WorkerId,
    /// What it counted with, as far as the run knows: its device, or the kernel of its last task.
    pub counted_by: Option<CountedBy>,
    /// What it counted wrongly.
    pub reason: String,
    /// The tasks that it counted since its last good canary.
    pub suspects: u64,
}

/// A task of which two counts differed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrectedCount {
    /// The count that is wrong.
    pub wrong: TaskResult,
    /// The count that is right by a third one.
    pub right: TaskResult,
    /// The kernel or device of the third count.
    pub decided_by: CountedBy,
    /// Whether the wrong count was the first, which was in the sums.
    pub was_summed: bool,
}

/// A plan of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedTasks {
    /// The board.
    pub n: Size,
    /// What is given on it; left out for a free board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenSquares>,
    /// The engine.
    pub engine: Engine,
    /// Tasks of the whole plan. A run may count a part of them.
    pub tasks: u64,
}

impl PlannedTasks {
    pub(crate) fn of(plan: &dyn Plan) -> Self {
        Self {
            n: plan.size(),
            given: GivenSquares::of(&plan.given()),
            engine: plan.engine(),
            tasks: plan.tasks(),
        }
    }
}

/// A stretch of time, measured from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeSpan {
    /// Its beginning.
    #[serde(with = "seconds")]
    pub start: Duration,
    /// Its end, not before the beginning.
    #[serde(with = "seconds")]
    pub end: Duration,
}

/// A launch that ended: where it ran, and when the device did what for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedLaunch {
    /// The thread that owns the device.
    pub worker: WorkerId,
    /// What its maker calls the device.
    pub device: String,
    /// The stream of the device that it ran on, from 0.
    pub stream: usize,
    /// Tasks in the launch.
    pub tasks: usize,
    /// Copying jobs to the device.
    pub upload: TimeSpan,
    /// Counting.
    pub kernel: TimeSpan,
    /// Copying sums back.
    pub download: TimeSpan,
}

/// Hears of what happens in a run.
///
/// It is called on the thread where things happen, which waits for it: the actors' thread, the
/// workers' threads and the recorder's. So it must be quick, and hand on what takes long. An observer
/// that panics hears of nothing more; the run goes on.
pub trait Observer: Send + Sync {
    /// Something happened just now.
    fn event(&self, event: &RunEvent);

    /// Called once on each thread that counts, before it does: for its priority, or the cores it may use.
    fn worker_thread(&self) {}
}

impl<F: Fn(&RunEvent) + Send + Sync> Observer for F {
    fn event(&self, event: &RunEvent) {
        self(event);
    }
}
