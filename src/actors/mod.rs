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
//! | run | collector | `Check`, `Sum` |
//! | producer | run | `ToRun::{Complete, Quiet}` |
//! | producer | worker thread | batches, through the queue |
//! | worker thread | collector | `Counted`, `CanaryCounted` |
//! | worker thread | worker | `Ended` |
//! | device thread | producer | `ToProducer::{Want, Leave}` |
//! | worker | collector | `LostBatch` |
//! | worker | run | `ToRun::Left` |
//! | collector | producer | `ToProducer::{Settled, Retry, Recount, Leave}` |
//! | collector | run | `ToRun::{Checked, Summed}` |
//! | recorder | collector | `Durable` |
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
//! * `run`: the state machine; `state`: its table.
//! * `producer`: what is left to hand out; `balance`: who gets how much, so that CPU workers and devices finish together.
//! * `worker`, `collector`: the other actors; `cpu_worker`: what the thread of a CPU worker
//!   does; `device_loop`: what the thread that owns a device does.
//! * `source`: where tasks come from. `recorder`: what keeps results for longer than the run lives.
//! * `canary_schedule`: when workers count their canaries. `recheck`: a task that is counted again, and what its
//!   counts decide; `rechecker`: which counts are believed, as a state machine; `recent_results`: those that may turn out
//!   to be wrong, and the search among them when the sums contradict what is known.
//! * `counted_tasks`: which tasks are counted, and their sum.
//! * `messages`: what actors tell each other, and positions of workers, plans and devices; `queue`: the bounded queue.
//! * `shared`: what actors and threads share, and what devices count; `roster`: who counts, and who is retired.
//! * `attempt`: one try of a task on the CPU, and which kernel counts it;
//!   `in_flight`: the tasks that workers count, and giving them up; `audit`: which tasks are counted a second time.
//! * `control`: the handle for the outside; `eta`: share of the work done, speed and time left.
//! * `events`: what a run tells; `observers`: who hears it.
//! * `progress`, `worker_progress`: the one account of these events, which the control shows and the report is made from.
//! * `report`: what a run returns.

mod attempt;
mod audit;
mod balance;
mod canary_schedule;
mod collector;
mod control;
mod counted_tasks;
mod cpu_worker;
mod device_loop;
mod eta;
mod events;
#[cfg(feature = "fault-injection")]
mod faults;
#[cfg(not(feature = "fault-injection"))]
#[path = "no_faults.rs"]
mod faults;
mod in_flight;
mod messages;
mod observers;
mod panics;
mod producer;
mod progress;
mod queue;
mod recent_results;
mod recheck;
mod rechecker;
mod recorder;
mod report;
mod roster;
mod run;
mod shared;
mod source;
mod spec;
mod state;
mod task_map;
mod worker;
mod worker_progress;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use actix::{Actor, System};
use cpu_time::ProcessTime;
use crossbeam::channel;

pub use control::{Control, PauseReason};
pub use eta::Eta;
pub use events::{
    CorrectedCount, EventKind, FinishedLaunch, Observer, PlannedTasks, RunEvent, SickWorker,
    TimeSpan,
};
#[cfg(feature = "fault-injection")]
pub use faults::Faults;
pub use progress::Progress;
pub use recorder::{Finding, Flushed, OnCheckpoint, RecordError, RecordedResult, Recorder};
pub use report::{Report, RunError};
pub use source::{
    Part, Restored, Source, Supply, SupplySize, WholePlans, chosen, cost_of, evenly_spaced,
};
pub use spec::{BATCH_TIME, DeviceSpec, RunSpec, SumCheck};
pub use state::RunState;
pub use task_map::TaskMap;
pub use worker_progress::{WorkerProgress, WorkerState};

use attempt::{Counters, try_task};
use audit::{Audits, TaskAudit, recount};
use balance::Balance;
use canary_schedule::{CanarySchedule, MOST_UNTESTED};
use collector::Collector;
use control::Request;
use counted_tasks::{CountedPlan, CountedTasks};
use cpu_worker::WorkerContext;
use eta::{PlanProgress, RecentSpeed};
use faults::Injector;
use in_flight::{GRACE, InFlight, WorkDone};
use messages::{
    CanaryCounted, Check, Costed, CountKind, Counted, DeviceIndex, Durable, Ended, LostBatch,
    PlanIndex, Recount, Retry, RunLink, Sum, Sums, ToProducer, ToRun, Want, WorkerIndex,
};
use observers::Observers;
use producer::{Fresh, Producer};
use progress::LiveProgress;
use queue::{Batch, Drawn, Inlet, Outlet};
use recent_results::{RecentResults, WrongCountSearch};
use recheck::{Effect, Reason, Recheck, TaskCount, Verdict};
use rechecker::Rechecker;
use roster::Roster;
use run::{Prepared, Run};
use shared::RunShared;
use spec::QUEUE_PER_WORKER;
use task_map::{MapKeeper, Mapped};
use worker::Worker;

/// Runs the plans of `spec` to the end, or until `control` stops it.
///
/// The actors live on the calling thread, in an actix system of their own: it must not have one. When
/// it returns, every thread it started has ended.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run(spec: &RunSpec, control: &Control) -> Result<Report, RunError> {
    run_on(spec, &[], control)
}

/// Like [`run`](fn@run), but also uses devices; `workers` may then be 0.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run_on(
    spec: &RunSpec,
    devices: &[DeviceSpec],
    control: &Control,
) -> Result<Report, RunError> {
    check(spec)?;
    let cpu = ProcessTime::try_now().ok();
    let progress = Arc::new(LiveProgress::begin());
    control.show(Arc::clone(&progress));
    let observers = Observers::new(progress, &spec.observers);
    observers.tell(EventKind::State(RunState::Planning));
    let prepared = Prepared::new(spec);
    let (sender, outcome) = channel::bounded(1);
    let act = || {
        let system = System::new();
        system.block_on(async {
            Run::new(spec, devices, prepared, observers, control, sender).start()
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

/// Refuses what no run can count.
fn check(spec: &RunSpec) -> Result<(), RunError> {
    for (at, plan) in spec.plans.iter().enumerate() {
        for other in &spec.plans[..at] {
            if plan.engine() == other.engine() {
                let engine = plan.engine();
                let why = format!("two plans of the engine {engine} in one run");
                return Err(RunError::Runtime(why));
            }
            if plan.size() != other.size() {
                let (one, two) = (other.size(), plan.size());
                let why = format!("plans of different boards in one run: n = {one} and {two}");
                return Err(RunError::Runtime(why));
            }
        }
    }
    let isa = spec.counter.isa;
    if !isa.is_available() {
        let why = format!("this machine lacks the instruction set {}", isa.name());
        return Err(RunError::Runtime(why));
    }
    Ok(())
}
