//! The runtime: producer, workers and collector around one bounded queue, and the run that owns
//! them.
//!
//! # Layout
//!
//! ```text
//!              Offer, Halt, Close            Complete, Sums
//!        ┌──────────── Run ◄──────────────────────┐
//!        ▼              ▲ Left, Failure           │
//!     Producer          │                     Collector ──→ Control (progress)
//!        │ ▲            │                         ▲   │
//!        │ │          Worker ── Lost ─────────────┤   │
//!        │ │              ▲ Ended                 │   │
//!        └─┼─ queue ───→ thread ── Counted ───────┘   │
//!          │                                          │
//!          └─────────────── Settled, Retry ───────────┘
//! ```
//!
//! All actors live on one thread, named `run`, and do nothing that takes long; the counting is
//! done by one thread for each worker. A batch is *in flight* from when the producer offers it
//! until the collector has recorded what came of it, and their number is limited, so that neither
//! the queue nor any mailbox grows.
//!
//! Every run ends the same way, whether it is finished, stopped or failed: the producer is halted,
//! what is in flight comes back, the queue is closed, the threads end and are joined.
//!
//! * `run`: the state machine; `state`: its table.
//! * `producer`, `worker`, `collector`: the other actors; `thread`: what a worker's thread does;
//!   `gpu`: what the thread that owns a device does.
//! * `messages`: what they tell each other; `queue`: the bounded queue; `floor`: what all share.
//! * `recorder`: what keeps finished tasks for longer than the run lives; `audit`: which tasks are
//!   counted a second time.
//! * `estimate`: share of work done and time left; `control`: the handle for the outside.

mod audit;
mod collector;
mod control;
mod estimate;
#[cfg(feature = "fault-injection")]
mod faults;
mod floor;
mod gpu;
mod lifeline;
mod messages;
mod panics;
mod producer;
mod queue;
mod recorder;
mod report;
mod run;
mod spec;
mod state;
mod tasks;
mod thread;
mod worker;

use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use actix::{Actor, System};
use cpu_time::ProcessTime;
use crossbeam::channel;
use tracing::dispatcher;

use crate::engine::Plan;

pub use control::{Control, Eta, Progress};
#[cfg(feature = "fault-injection")]
pub use faults::Faults;
pub use recorder::{Finished, RecordError, Recorder};
pub use report::{Report, RunError, WorkerReport};
pub use spec::{DeviceSpec, RunSpec};
pub use state::RunState;

use run::Run;

/// Target of the spans and counters that make up a trace.
///
/// A span with the field `lane` belongs to the lane of that name: `producer`, `collector`,
/// `worker-0`, …. An event with the field `counter` gives a value, its other field, to the counter
/// of that name.
pub const LANES: &str = "queenfold::lanes";

/// The most tasks a plan may have: the record of which are done takes a bit for each, 2 GiB at the
/// most.
const MOST_TASKS: u64 = 1 << 34;

const PRODUCER: &str = "producer";
const COLLECTOR: &str = "collector";

/// Runs the plans of `spec` to the end, or until `control` stops it.
///
/// When it returns, every thread it started has ended.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run(spec: &RunSpec, control: &Control) -> Result<Report, RunError> {
    run_on(spec, &[], control)
}

/// Like [`run`], with devices beside the CPU workers, of which there may be none then.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run_on(
    spec: &RunSpec,
    devices: &[DeviceSpec],
    control: &Control,
) -> Result<Report, RunError> {
    let too_long = |plan: &&Arc<dyn Plan>| plan.tasks() > MOST_TASKS;
    if let Some(plan) = spec.plans.iter().find(too_long) {
        return Err(RunError::Runtime(format!(
            "{} of n = {} has {} tasks, and at most {MOST_TASKS} can be kept track of",
            plan.version(),
            plan.size(),
            plan.tasks()
        )));
    }
    let cpu = ProcessTime::try_now().ok();
    let dispatch = dispatcher::get_default(Clone::clone);
    let (sender, outcome) = channel::bounded(1);
    let act = || {
        let system = System::new();
        system.block_on(async { Run::new(spec, devices, control, sender).start() });
        system.run()
    };
    let ended = std::thread::scope(|scope| {
        let thread = Builder::new()
            .name("run".to_owned())
            .spawn_scoped(scope, || dispatcher::with_default(&dispatch, act));
        match thread.map(|thread| thread.join()) {
            Ok(Ok(ended)) => ended.map_err(|error| error.to_string()),
            Ok(Err(panic)) => Err(panics::describe(panic.as_ref())),
            Err(error) => Err(error.to_string()),
        }
    });
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
