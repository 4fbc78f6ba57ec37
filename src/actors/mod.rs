//! The runtime: producer, workers and collector around one bounded queue, and the run that owns
//! them.
//!
//! # Layout
//!
//! ```text
//!    Source ──→ Producer ──→ queue ──→ worker threads ──→ Collector ──→ Recorder
//!                  ▲                         │                │
//!                  └────── Run ──────────────┴────────────────┘──→ Control, Observers
//! ```
//!
//! | from | to | messages |
//! |---|---|---|
//! | control | run | `ToRun::Wake` |
//! | run | producer | `ToProducer::{Offer, Halt, Close}` |
//! | run | collector | `ToCollector::{Check, Sum}` |
//! | producer | run | `ToRun::{Complete, Quiet}` |
//! | producer | worker thread | batches, through the queue |
//! | worker thread | collector | `ToCollector::{Counted, Canary}` |
//! | worker thread | worker | `Ended` |
//! | device thread | producer | `ToProducer::{Want, Leave}` |
//! | worker | run | `ToRun::Left` |
//! | collector | producer | `ToProducer::{Settled, Keep, Leave}` |
//! | collector | run | `ToRun::{Checked, Summed}` |
//! | recorder | collector | `ToCollector::Durable` |
//! | producer, collector, worker, device thread | run | `ToRun::Failed` |
//! | any actor that dies | run | `ToRun::ActorDied` |
//!
//! All actors live on the thread that called [`run`](fn@run). They never wait, and no step of theirs takes
//! long: what does is done before they start (what a source restored), on threads of its own
//! (counting, committing), or in bounded steps (passing over restored tasks). One thing may hold
//! them up on purpose: a recorder that has fallen far behind, so that results do not pile up in
//! memory. It takes results one by one, so each wait is as long as one commit at most.
//!
//! A batch is *in flight* from when the producer offers it until the collector has recorded what
//! came of it. Their number is limited, so neither the queue nor any mailbox grows.
//!
//! Every run ends the same way, whether it is finished, stopped or failed: the producer is halted,
//! what is in flight comes back, the queue is closed, and the threads end and are joined. Tasks that
//! workers still count a second after a run was stopped or paused are given up and come back
//! uncounted.
//!
//! * `running`: the run, its states, and what its parts share.
//! * `producing`: where tasks come from, and who gets how much, so that CPU workers and devices finish together.
//! * `counting`: what the threads of CPU workers and devices do.
//! * `collecting`: which tasks are counted, which of several counts is believed, and what keeps results for longer than the
//!   run lives.
//! * `telling`: events, and the one account of them, which the control shows and the report is made from.
//! * `tracing_bridge`: the events as events of `tracing`.
//! * `fault_hook`: where tests let a run go wrong.

mod collecting;
mod counting;
mod fault_hook;
mod producing;
mod running;
mod telling;
pub mod tracing_bridge;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, System};
use cpu_time::ProcessTime;
use crossbeam::channel;

pub use collecting::recorder::{
    Finding, Flushed, OnCheckpoint, RecordError, RecordedResult, Recorder,
};
#[doc(hidden)]
pub use fault_hook::{FaultHook, inject_everywhere};
pub use producing::source::{Part, Restored, Source, Supply, SupplySize, WholePlans, cost_of};
pub use running::control::{Control, PauseReason};
#[doc(hidden)]
pub use running::messages::CountKind;
pub use running::report::{Report, RunEnd, RunError, StopCause};
pub use running::spec::{BATCH_TIME, DeviceSpec, RunSpec, SumCheck};
pub use running::state::RunState;
pub use telling::eta::Eta;
pub use telling::events::{
    CorrectedCount, EventKind, FaultyWorker, FinishedLaunch, Observer, PlannedTasks, RunEvent,
    TimeSpan,
};
pub use telling::progress::Progress;
pub use telling::task_map::TaskMap;
pub use telling::worker_progress::{WorkerProgress, WorkerState};

use collecting::collector::Collector;
use collecting::counted_tasks::{CountedPlan, CountedTasks};
use collecting::recent_results::{RecentResults, WrongCountSearch};
use collecting::recheck::{Effect, Reason, Recheck, TaskCount, Verdict};
use collecting::rechecker::Rechecker;
use counting::attempt::{Counters, try_task};
use counting::audit::{Audits, TaskAudit};
use counting::canary_schedule::{CanarySchedule, MOST_UNTESTED};
use counting::cpu_worker::WorkerContext;
use counting::device_loop;
use counting::in_flight::{GRACE, InFlight, WorkDone};
use counting::worker::Worker;
use producing::balance::Balance;
use producing::producer::{Fresh, Producer};
use producing::queue;
use producing::queue::{Batch, Inlet, Outlet};
use running::messages::{
    CanaryCounted, Costed, Counted, DeviceIndex, Ended, PlanIndex, RunLink, Sums, ToCollector,
    ToProducer, ToRun, Want, WorkerIndex,
};
use running::panics;
use running::roster::Roster;
use running::run::{Prepared, Run};
use running::shared::RunShared;
use running::spec::QUEUE_PER_WORKER;
use telling::eta;
use telling::eta::{PlanProgress, RecentSpeed};
use telling::observers::Observers;
use telling::progress::LiveProgress;
use telling::task_map::{MapKeeper, Mapped};

/// Runs the plans of `spec` to the end, or until `control` stops it. With devices, `workers` may be 0.
///
/// The actors live on the calling thread, in an actix system of their own: it must not have one. When
/// it returns, every thread it started has ended.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run(spec: &RunSpec, devices: &[DeviceSpec], control: &Control) -> Result<Report, RunError> {
    let isa = spec.counter.isa;
    if !isa.is_available() {
        let why = format!("this machine lacks the instruction set {}", isa.name());
        return Err(RunError::Runtime(why));
    }
    let cpu = ProcessTime::try_now().ok();
    let progress = Arc::new(LiveProgress::begin());
    control.show(Arc::clone(&progress));
    let observers = Observers::new(progress, &spec.observers);
    observers.tell(EventKind::State(RunState::Planning));
    let shared = RunShared::new(spec, devices, observers, control.faults());
    let prepared = Prepared::new(&shared);
    let (sender, outcome) = channel::bounded(1);
    let act = || {
        let system = System::new();
        system.block_on(async {
            Run::create(|context| Run::begin(shared, prepared, control, sender, context))
        });
        system.run()
    };
    let ended = match catch_unwind(AssertUnwindSafe(act)) {
        Ok(ended) => ended.map_err(|error| error.to_string()),
        Err(panic) => Err(panics::describe(panic.as_ref())),
    };
    control.detach();
    let mut report = match outcome.try_recv() {
        Ok(outcome) => outcome?,
        Err(_) => {
            let why = ended.err().unwrap_or_else(|| "the run is gone".to_owned());
            return Err(RunError::Runtime(why));
        }
    };
    report.cpu = cpu
        .and_then(|since| since.try_elapsed().ok())
        .unwrap_or(Duration::ZERO);
    Ok(report)
}
