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
//! All actors live on the thread that called [`run`], and do nothing that takes long; the counting
//! is done by one thread for each worker. A batch is *in flight* from when the producer offers it
//! until the collector has recorded what came of it, and their number is limited, so that neither
//! the queue nor any mailbox grows.
//!
//! Every run ends the same way, whether it is finished, stopped or failed: the producer is halted,
//! what is in flight comes back, the queue is closed, the threads end and are joined.
//!
//! * `run`: the state machine; `state`: its table.
//! * `producer`, `worker`, `collector`: the other actors; `thread`: what a worker's thread does;
//!   `gpu`: what the thread that owns a device does.
//! * `shares`: how much each may take, so that CPU workers and devices finish together.
//! * `messages`: what they tell each other; `queue`: the bounded queue; `floor`: what all share.
//! * `recorder`: what keeps finished tasks for longer than the run lives; `attempt`: one try of a
//!   task on the CPU; `audit`: which tasks are counted a second time.
//! * `estimate`: share of work done and time left; `control`: the handle for the outside.

mod attempt;
mod audit;
mod collector;
mod control;
mod counted_tasks;
mod eta;
#[cfg(feature = "fault-injection")]
mod faults;
mod floor;
mod fresh;
mod gpu;
mod lifeline;
mod messages;
mod panics;
mod producer;
mod queue;
mod recorder;
mod report;
mod run;
mod shares;
mod source;
mod spec;
mod state;
mod thread;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use actix::{Actor, System};
use cpu_time::ProcessTime;
use crossbeam::channel;

pub use control::{Control, Eta, Progress};
#[cfg(feature = "fault-injection")]
pub use faults::Faults;
pub use recorder::{Flushed, RecordError, Recorder};
pub use report::{Report, RunError, WorkerReport};
pub use source::{Restored, Source, Step, Supply, Walk, WholePlans, cost_of, evenly_spaced};
pub use spec::{DeviceSpec, RunSpec};
pub use state::RunState;

use run::{Prepared, Run};

/// Target of the spans and counters that make up a trace.
///
/// A span with the field `lane` belongs to the lane of that name: `producer`, `collector`,
/// `worker-0`, …. An event with the field `counter` gives a value, its other field, to the counter
/// of that name. An event with the fields `lane` and `part` is a stretch of time that was measured
/// elsewhere: what a stream of a device did, in the lane `gpu-0 stream 0`, …, from `start` to `end` in
/// nanoseconds since [`epoch`].
pub const LANES: &str = "queenfold::lanes";

/// The moment that times of the trace are measured from where a span cannot tell: the first call.
pub fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

const PRODUCER: &str = "producer";
const COLLECTOR: &str = "collector";

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

/// Like [`run`], with devices beside the CPU workers, of which there may be none then.
///
/// # Errors
/// See [`RunError`]. No partial result is returned with an error.
pub fn run_on(
    spec: &RunSpec,
    devices: &[DeviceSpec],
    control: &Control,
) -> Result<Report, RunError> {
    epoch();
    let cpu = ProcessTime::try_now().ok();
    let prepared = Prepared::new(spec);
    let (sender, outcome) = channel::bounded(1);
    let act = || {
        let system = System::new();
        system.block_on(async { Run::new(spec, devices, prepared, control, sender).start() });
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
