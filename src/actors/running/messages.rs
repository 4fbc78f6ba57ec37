//! What actors tell each other, and the types for that. All messages are sent without waiting for an answer.

use std::time::Duration;

use actix::{Message, Recipient};

use crate::actors::{Batch, RecordError, RunError};
use crate::engine::{Tally, TaskResult, WorkerId};

/// Who counts: a CPU worker or a device. CPU workers come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct WorkerIndex(pub(crate) usize);

/// A plan of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct PlanIndex(pub(crate) usize);

/// A device of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DeviceIndex(pub(crate) usize);

/// What a counter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountKind {
    /// Tasks, with the kernel of the run.
    Task,
    /// Tasks, with a kernel that has not counted them.
    ByOtherKernel,
    /// The canary.
    Canary,
}

/// To the run.
pub(crate) enum ToRun {
    /// From the control: what it asks for has changed.
    Wake,
    /// Something failed, so that there can be no result.
    Failed(RunError),
    /// A device that is given up. With others that are, it did most of the work. What is counted is kept.
    DeviceLost(WorkerId),
    /// This actor has died, a bug.
    ActorDied(&'static str),
    /// From the producer: the sources have ended, everything handed out has come back and is recorded,
    /// and all workers have counted their canaries since.
    Complete,
    /// From the producer: it was halted and nothing is in flight.
    Quiet,
    /// From the collector: nothing more is to be counted.
    Checked,
    /// From a worker: its thread has ended and is joined.
    Left,
    /// From the collector: it has made everything durable, and this is the result.
    Summed(Sums),
}

/// To the collector.
pub(crate) enum ToCollector {
    /// From a worker's thread: tasks of a batch.
    Counted(Counted),
    /// From a worker's thread: it counted its canary, after all that it reported.
    Canary(CanaryCounted),
    /// From the run: everything is counted; compare the sums with what is known.
    Check,
    /// From the run: every worker has left; make everything durable and sum up.
    Sum,
    /// From the recorder: everything recorded is durable, or why not.
    Durable(Result<(), RecordError>),
}

/// What all tasks add up to.
#[derive(Default)]
pub(crate) struct Sums {
    /// The number of tasks counted and their sum, of each plan.
    pub(crate) plans: Vec<(u64, Tally)>,
    /// The tasks that two counts of this run agree on.
    pub(crate) twice: u64,
}

/// To the producer.
pub(crate) enum ToProducer {
    /// Offer batches.
    Offer,
    /// Take back what is queued, offer nothing, say when nothing is in flight.
    Halt,
    /// Close the queue; workers end.
    Close,
    /// From a device.
    Want(Want),
    /// From a device, or from the collector of a faulty worker: it takes no batch any more. If nobody is left to
    /// count what it would have counted, the run fails with this.
    Leave(WorkerIndex, RunError),
    /// From the collector: a batch is over. What of it was not counted, and the seconds per cost measured so far in its
    /// plan on CPU workers.
    Settled(Batch, Option<f64>),
    /// From the collector: tasks that are to be tried once more, or counted again.
    Keep(Batch),
}

/// A device wants a batch that costs this much, as soon as there is one.
pub(crate) struct Want {
    pub(crate) worker: WorkerIndex,
    /// In core-seconds by the plan's estimate.
    pub(crate) cost: f64,
    /// Cost that the device counts per second, once known.
    pub(crate) speed: Option<f64>,
}

/// What a worker's canary told.
pub(crate) struct CanaryCounted {
    pub(crate) worker: WorkerIndex,
    /// How many counts were compared, or what is wrong.
    pub(crate) outcome: Result<u64, String>,
    pub(crate) took: Duration,
}

/// What came of tasks of a batch.
pub(crate) struct Counted {
    pub(crate) worker: WorkerIndex,
    pub(crate) plan: PlanIndex,
    pub(crate) results: Vec<Costed>,
    /// Tasks that panicked, and what the panic said.
    pub(crate) panicked: Vec<(u64, String)>,
    /// A task whose counter contradicted itself.
    pub(crate) mismatch: Option<(u64, String)>,
    /// The batch is over but for these tasks, which were not begun; `None` while it goes on.
    pub(crate) left: Option<Batch>,
}

impl Counted {
    /// From `worker`, of tasks of a plan: nothing yet.
    pub(crate) const fn nothing(worker: WorkerIndex, plan: PlanIndex) -> Self {
        Self {
            worker,
            plan,
            results: Vec::new(),
            panicked: Vec::new(),
            mismatch: None,
            left: None,
        }
    }
}

/// A result with the cost that the plan estimated for its task, which the worker knows and which
/// takes long to compute in some plans.
#[derive(Debug)]
pub(crate) struct Costed {
    pub(crate) result: TaskResult,
    /// In core-seconds.
    pub(crate) cost: f64,
    /// The task is to be counted a second time before it is recorded, which is expected to take so long.
    pub(crate) audit: Option<Duration>,
}

impl Costed {
    /// A result that no audit is needed for any more.
    pub(crate) const fn again(result: TaskResult, cost: f64) -> Self {
        Self {
            result,
            cost,
            audit: None,
        }
    }
}

/// To a worker, from its thread: its last message, and what the panic said if it died of one.
pub(crate) struct Ended(pub(crate) Option<String>);

/// The way from an actor to the run. It also tells the run when the actor that holds it is gone. During a run only a panic
/// in a handler ends an actor, which is a bug, and actix reports nothing.
pub(crate) struct RunLink {
    pub(crate) actor: &'static str,
    pub(crate) run: Recipient<ToRun>,
}

impl RunLink {
    pub(crate) fn do_send(&self, message: ToRun) {
        self.run.do_send(message);
    }
}

impl Drop for RunLink {
    fn drop(&mut self) {
        self.do_send(ToRun::ActorDied(self.actor));
    }
}

macro_rules! unanswered {
    ($($message:ty),* $(,)?) => {
        $(impl Message for $message {
            type Result = ();
        })*
    };
}

unanswered! { ToRun, ToProducer, ToCollector, Ended }
