//! Trace Event JSON, the format that Perfetto and `chrome://tracing` open: a lane for each actor and
//! each stream of a device, and counters.
//!
//! Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use queenfold::actors::tracing_bridge::{LANES, epoch};

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

/// A layer that writes the stretches of time and the counters of the runtime to an empty file, opened to append. After
/// the first error nothing more is written, and `failed` gets that error.
pub fn trace_layer<S>(file: File, failed: Lost) -> (impl Layer<S> + use<S>, TraceFile)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let writer = Writer {
        file,
        waiting: TRACE_MARK.as_bytes().to_vec(),
        written: 0,
        last: 0,
        lanes: HashMap::new(),
        failed: Some(failed),
    };
    let shared = Arc::new(Mutex::new(writer));
    // Not after the beginning of the trace.
    epoch();
    let layer = TraceLayer {
        start: Instant::now(),
        writer: Arc::clone(&shared),
    };
    let wanted = Targets::new().with_target(LANES, LevelFilter::TRACE);
    (layer.with_filter(wanted), TraceFile(shared))
}

/// A trace file being written. Dropping this closes it, so the file is complete even if the run
/// failed.
pub struct TraceFile(Arc<Mutex<Writer>>);

impl Drop for TraceFile {
    fn drop(&mut self) {
        self.0.lock().finish();
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
    let numbers = || {
        lane.split(|c: char| !c.is_ascii_digit())
            .filter_map(|number| number.parse::<u64>().ok())
    };
    let number = numbers().fold(0, |all, number| 100 * all + number);
    match lane {
        "run" => 0,
        "producer" => 1,
        "collector" => 2,
        _ if lane.starts_with("worker-") => 10 + number,
        _ => 10_000 + number,
    }
}

struct TraceLayer {
    start: Instant,
    writer: Arc<Mutex<Writer>>,
}

impl<S> Layer<S> for TraceLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    /// A stretch of time or a counter: see [`LANES`].
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let Fields(mut fields) = fields;
        // Microseconds since the trace began.
        let micros = |at: Instant| at.duration_since(self.start).as_nanos() as f64 / 1000.0;
        let mut writer = self.writer.lock();
        let mut line = if let Some(part) = fields.remove("part") {
            let mut take = |name| fields.remove(name).unwrap_or_default();
            let lane = writer.lane(take("lane").as_str().unwrap_or_default());
            // Nanoseconds since the epoch.
            let [start, end] = ["start", "end"].map(|edge| take(edge).as_u64().unwrap_or(0));
            json!({
                "ph": "X",
                "name": part,
                "tid": lane,
                "ts": micros(epoch() + Duration::from_nanos(start)),
                "dur": end.saturating_sub(start) as f64 / 1000.0,
            })
        } else if let Some(counter) = fields.remove("counter") {
            json!({"ph": "C", "name": counter, "ts": micros(Instant::now())})
        } else {
            return;
        };
        line["pid"] = 1.into();
        line["args"] = fields.into();
        writer.event(&line);
    }
}

/// The fields of an event, as JSON.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name().to_owned(), value.into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let text = format!("{value:?}");
        self.0.insert(field.name().to_owned(), text.into());
    }
}
