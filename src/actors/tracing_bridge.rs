//! The events of runs as events of `tracing`, of which the trace is made.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tracing::{Level, trace};

use crate::actors::{EventKind, FinishedLaunch, Observer, RunEvent, RunState, TimeSpan};

/// Target of the events that make up a trace.
///
/// An event with the fields `lane` and `part` is a stretch of time in a lane, named by `part`, from
/// `start` to `end` in nanoseconds since the `epoch`. An event with the field `counter` gives a value, its other field, to the
/// counter of that name.
pub const LANES: &str = "queenfold::lanes";

/// The moment that stretches of a trace are measured from: the first call.
pub fn epoch() -> Instant {
    static EPOCH: OnceLock<Instant> = OnceLock::new();
    *EPOCH.get_or_init(Instant::now)
}

/// An observer of runs for those who listen to [`LANES`] through `tracing`; `None` if nobody does.
///
/// The lanes are `run`, with a stretch for each board, `producer`, `collector`, `worker-0`, … and
/// `gpu-0 stream 0`, ….
pub fn observer() -> Option<Arc<dyn Observer>> {
    let traced = tracing::enabled!(target: LANES, Level::TRACE);
    traced.then(|| Arc::new(TracingBridge::default()) as _)
}

/// Turns events of a run into events of `tracing`, on the thread where they happen.
#[derive(Default)]
struct TracingBridge {
    /// When the run began, in nanoseconds since the epoch: runs that follow one another must not lie
    /// on top of each other in the trace.
    began: AtomicU64,
    /// The board that is counted, 0 before it is known.
    board: AtomicU32,
}

impl Observer for TracingBridge {
    fn event(&self, event: &RunEvent) {
        match &event.kind {
            EventKind::State(RunState::Planning) => {
                let began = epoch().elapsed().saturating_sub(event.at);
                self.began.store(nanos(began), Ordering::Relaxed);
            }
            EventKind::Planned { plans, .. } => {
                let board = plans.first().map_or(0, |plan| plan.n.get());
                self.board.store(board, Ordering::Relaxed);
            }
            EventKind::State(state) if state.is_final() => {
                let start = self.began.load(Ordering::Relaxed);
                let end = start + nanos(event.at);
                let part = format!("n = {}", self.board.load(Ordering::Relaxed));
                trace!(target: LANES, lane = "run", part, start, end);
            }
            EventKind::Offered { time } => {
                let (start, end) = self.since_epoch(*time);
                trace!(target: LANES, lane = "producer", part = "offer", start, end);
            }
            EventKind::Collected { tasks, time } => {
                let (start, end) = self.since_epoch(*time);
                trace!(target: LANES, lane = "collector", part = "record", start, end, tasks);
            }
            EventKind::BatchDone {
                worker,
                engine,
                tasks,
                nodes,
                time,
                ..
            } => {
                let (start, end) = self.since_epoch(*time);
                let (lane, engine) = (worker.to_string(), engine.name());
                let n = self.board.load(Ordering::Relaxed);
                trace!(target: LANES, lane, part = "batch", start, end, n, engine, tasks, nodes);
            }
            EventKind::LaunchDone(launch) => self.launch_done(launch),
            EventKind::Queued { batches } => {
                trace!(target: LANES, counter = "queue depth", batches);
            }
            EventKind::Advanced {
                nodes_per_second, ..
            } => {
                trace!(target: LANES, counter = "nodes per second", nodes = nodes_per_second);
            }
            // There are too many tasks for a trace, and what else there is has no length.
            _ => {}
        }
    }
}

impl TracingBridge {
    fn launch_done(&self, launch: &FinishedLaunch) {
        let FinishedLaunch {
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
            let (start, end) = self.since_epoch(time);
            trace!(target: LANES, lane, part, start, end, device, tasks);
        }
    }

    /// Beginning and end of a stretch of the run, in nanoseconds since the epoch.
    fn since_epoch(&self, time: TimeSpan) -> (u64, u64) {
        let began = self.began.load(Ordering::Relaxed);
        (began + nanos(time.start), began + nanos(time.end))
    }
}

const fn nanos(time: Duration) -> u64 {
    time.as_nanos() as u64
}
