use std::sync::{Arc, OnceLock};
use std::time::Instant;

use tracing::{Level, trace};

use crate::actors::{LaunchTimes, Observer, RunEvent, TimeSpan};

/// Target of the events that make up a trace.
///
/// An event with the fields `lane` and `part` is a stretch of time in a lane, named by `part`, from
/// `start` to `end` in nanoseconds since the `epoch`. An event with the field `counter` gives a value, its other field, to the
/// counter of that name.
pub const LANES: &str = "queenfold::lanes";

/// The moment that stretches of a trace are measured from: the first call.
pub(super) fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

/// An observer of runs for those who listen to [`LANES`] through `tracing`; `None` if nobody does.
///
/// The lanes are `producer`, `collector`, `worker-0`, … and `gpu-0 stream 0`, ….
pub fn observer() -> Option<Arc<dyn Observer>> {
    let traced = tracing::enabled!(target: LANES, Level::TRACE);
    traced.then(|| Arc::new(TracingBridge) as _)
}

/// Turns events of a run into events of `tracing`, on the thread where they happen.
struct TracingBridge;

impl Observer for TracingBridge {
    fn event(&self, event: &RunEvent) {
        match event {
            RunEvent::Offered { time } => {
                let (start, end) = nanos(*time);
                trace!(target: LANES, lane = "producer", part = "offer", start, end);
            }
            RunEvent::Collected { tasks, time } => {
                let (start, end) = nanos(*time);
                trace!(target: LANES, lane = "collector", part = "record", start, end, tasks);
            }
            RunEvent::BatchDone {
                worker,
                engine,
                tasks,
                nodes,
                time,
            } => {
                let (start, end) = nanos(*time);
                let (lane, engine) = (worker.to_string(), engine.name());
                trace!(target: LANES, lane, part = "batch", start, end, engine, tasks, nodes);
            }
            RunEvent::LaunchDone(launch) => launch_done(launch),
            RunEvent::Queued { batches } => {
                trace!(target: LANES, counter = "queue depth", batches);
            }
            RunEvent::Speed { nodes_per_second } => {
                trace!(target: LANES, counter = "nodes per second", nodes = nodes_per_second);
            }
            // There are too many tasks for a trace, and what else there is has no length.
            _ => {}
        }
    }
}

fn launch_done(launch: &LaunchTimes) {
    let LaunchTimes {
        worker,
        device,
        stream,
        tasks,
        ..
    } = launch;
    let lane = format!("{worker} stream {stream}");
    for (part, time) in [
        ("upload", launch.upload),
        ("kernel", launch.kernel),
        ("download", launch.download),
    ] {
        let (start, end) = nanos(time);
        trace!(target: LANES, lane, part, start, end, device, tasks);
    }
}

fn nanos(time: TimeSpan) -> (u64, u64) {
    let since = |at: Instant| at.duration_since(epoch()).as_nanos() as u64;
    (since(time.start), since(time.end))
}
