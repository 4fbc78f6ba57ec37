//! Trace Event JSON, the format that Perfetto and `chrome://tracing` open: a lane for each actor and
//! each stream of a device, and counters.
//!
//! Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};

use queenfold::actors::{EventKind, FinishedLaunch, Observer, RunEvent, RunState, TimeSpan};

/// What a trace begins with.
pub const TRACE_MARK: &str = concat!(
    "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n",
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"queenfold\"}}",
);

/// What a trace ends with.
const END: &str = "\n]}\n";

/// Called once, with the reason, when nothing more can be written.
pub type Lost = Box<dyn FnOnce(io::Error) + Send>;

/// How much is written at once, in bytes.
const CHUNK: usize = 16 << 10;

/// A trace file being written. Dropping this closes it, so the file is complete even if the run
/// failed.
pub struct TraceFile(Arc<Told>);

/// What is told of runs, for the file.
struct Told(Mutex<Writer>);

impl TraceFile {
    /// Begins a trace in an empty file, opened to append. After the first error nothing more is written, and `failed` gets
    /// that error.
    pub fn new(file: File, failed: Lost) -> Self {
        Self(Arc::new(Told(Mutex::new(Writer {
            file,
            waiting: TRACE_MARK.as_bytes().to_vec(),
            written: 0,
            last: 0,
            lanes: HashMap::new(),
            failed: Some(failed),
            start: Instant::now(),
            began: Duration::ZERO,
            board: 0,
        }))))
    }

    /// An observer that writes what runs do here.
    ///
    /// The lanes are `run`, with a stretch for each board, `producer`, `collector`, `worker-0`, … and
    /// `gpu-0 stream 0`, ….
    pub fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.0) as _
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        self.0.0.lock().finish();
    }
}

struct Writer {
    file: File,
    /// Whole events that are not written yet.
    waiting: Vec<u8>,
    /// How much was written in all, and last, in bytes.
    written: u64,
    last: u64,
    /// Numbers of the lanes that were named in the file.
    lanes: HashMap<String, usize>,
    /// `None` when nothing more is written.
    failed: Option<Lost>,
    /// The moment that times are measured from.
    start: Instant,
    /// When the run began: runs that follow one another must not lie on top of each other.
    began: Duration,
    /// The board that is counted, 0 before it is known.
    board: u32,
}

impl Writer {
    fn event(&mut self, event: &Value) {
        if self.failed.is_some() {
            // Writing to memory does not fail.
            let _ = write!(self.waiting, ",\n{event}");
            if self.waiting.len() >= CHUNK {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        match self.append() {
            Ok(()) => {
                self.last = self.waiting.len() as u64;
                self.written += self.last;
                self.waiting.clear();
            }
            Err(error) => {
                if let Some(failed) = self.failed.take() {
                    failed(error);
                }
            }
        }
    }

    /// Writes what waits. If that fails, the file ends with an earlier event.
    fn append(&mut self) -> io::Result<()> {
        let file = self.file.metadata()?;
        if file.is_file() && file.len() < self.written {
            return Err(io::Error::other("somebody else has made it shorter"));
        }
        let written = self.file.write_all(&self.waiting);
        if written.is_err() && file.is_file() {
            // If the disk had no space at all, some has to be given back.
            for cut in [0, self.last] {
                let end = if self.written > cut { END } else { "" };
                let is_cut = self.file.set_len(file.len() - cut);
                if is_cut
                    .and_then(|()| self.file.write_all(end.as_bytes()))
                    .is_ok()
                {
                    break;
                }
            }
        }
        written
    }

    /// The number of a lane; the first time it is named in the file.
    fn lane(&mut self, name: &str) -> usize {
        if let Some(&lane) = self.lanes.get(name) {
            return lane;
        }
        let lane = self.lanes.len() + 1;
        self.lanes.insert(name.to_owned(), lane);
        self.event(&json!({
            "ph": "M", "name": "thread_name", "pid": 1, "tid": lane, "args": {"name": name},
        }));
        self.event(&json!({
            "ph": "M", "name": "thread_sort_index", "pid": 1, "tid": lane,
            "args": {"sort_index": sort_index(name)},
        }));
        lane
    }

    fn finish(&mut self) {
        if self.failed.is_some() {
            self.waiting.extend_from_slice(END.as_bytes());
            self.flush();
            self.failed = None;
        }
    }
}

/// Where a lane stands among the others: the run, the actors, the CPU workers by number, then the
/// streams of each device.
fn sort_index(lane: &str) -> u64 {
    let numbers = lane.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter_map(|number| number.parse::<u64>().ok());
    let number = numbers.fold(0, |all, number| 100 * all + number);
    match lane {
        "run" => 0,
        "producer" => 1,
        "collector" => 2,
        _ if lane.starts_with("worker-") => 10 + number,
        _ => 10_000 + number,
    }
}

impl Observer for Told {
    fn event(&self, event: &RunEvent) {
        self.0.lock().tell(event);
    }
}

impl Writer {
    fn tell(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::State(RunState::Planning) => {
                self.began = self.start.elapsed().saturating_sub(event.at);
            }
            EventKind::Planned { plans, .. } => {
                self.board = plans.first().map_or(0, |plan| plan.n.get());
            }
            EventKind::State(state) if state.is_final() => {
                let time = TimeSpan {
                    start: Duration::ZERO,
                    end: event.at,
                };
                let board = format!("n = {}", self.board);
                self.stretch("run", &board, time, json!({}));
            }
            EventKind::Offered { time } => self.stretch("producer", "offer", *time, json!({})),
            EventKind::Collected { tasks, time } => {
                self.stretch("collector", "record", *time, json!({ "tasks": tasks }));
            }
            EventKind::BatchDone {
                worker,
                engine,
                tasks,
                nodes,
                time,
                ..
            } => {
                let (n, engine) = (self.board, engine.name());
                let what = json!({ "n": n, "engine": engine, "tasks": tasks, "nodes": nodes });
                self.stretch(&worker.to_string(), "batch", *time, what);
            }
            EventKind::LaunchDone(FinishedLaunch {
                worker,
                device,
                stream,
                tasks,
                upload,
                kernel,
                download,
                ..
            }) => {
                let lane = format!("{worker} stream {stream}");
                for (part, time) in [
                    ("upload", upload),
                    ("kernel", kernel),
                    ("download", download),
                ] {
                    let what = json!({ "device": device, "tasks": tasks });
                    self.stretch(&lane, part, *time, what);
                }
            }
            EventKind::Queued { batches } => {
                self.counter("queue depth", event.at, json!({ "batches": batches }));
            }
            EventKind::Advanced {
                nodes_per_second, ..
            } => {
                let nodes = json!({ "nodes": nodes_per_second });
                self.counter("nodes per second", event.at, nodes);
            }
            // There are too many tasks for a trace, and what else there is has no length.
            _ => {}
        }
    }

    /// Writes a stretch of time in a lane.
    fn stretch(&mut self, lane: &str, name: &str, time: TimeSpan, what: Value) {
        let lane = self.lane(lane);
        let took = time.end.saturating_sub(time.start);
        self.event(&json!({
            "ph": "X",
            "name": name,
            "pid": 1,
            "tid": lane,
            "ts": self.micros(time.start),
            "dur": took.as_nanos() as f64 / 1000.0,
            "args": what,
        }));
    }

    /// Writes the value of a counter.
    fn counter(&mut self, name: &str, at: Duration, value: Value) {
        let at = self.micros(at);
        self.event(&json!({ "ph": "C", "name": name, "pid": 1, "ts": at, "args": value }));
    }

    /// Microseconds of the trace at a time of the run.
    fn micros(&self, at: Duration) -> f64 {
        (self.began + at).as_nanos() as f64 / 1000.0
    }
}
