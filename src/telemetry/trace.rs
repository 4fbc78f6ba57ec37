//! Trace Event JSON, the format that Perfetto and `chrome://tracing` open: a lane for each actor and
//! each stream of a device, and counters.
//!
//! Format: <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
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

use super::tracing_bridge::{LANES, epoch};

/// A layer that writes to a new file the stretches of time and the counters of the runtime.
pub fn trace_layer<S>(file: File) -> (impl Layer<S> + use<S>, TraceFile)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let mut writer = Writer {
        out: BufWriter::new(file),
        lanes: HashMap::new(),
        empty: true,
        outcome: Ok(()),
        finished: false,
    };
    writer.put("{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    writer.event(&json!({
        "ph": "M", "name": "process_name", "pid": 1, "args": {"name": "queenfold"},
    }));
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

impl TraceFile {
    /// Closes the file. What happens later is not in it.
    ///
    /// # Errors
    /// Something could not be written, now or earlier.
    pub fn finish(self) -> io::Result<()> {
        self.0.lock().finish()
    }
}

impl Drop for TraceFile {
    fn drop(&mut self) {
        // `finish` reports errors.
        let _ = self.0.lock().finish();
    }
}

impl fmt::Debug for TraceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceFile").finish_non_exhaustive()
    }
}

struct Writer {
    out: BufWriter<File>,
    /// Numbers of the lanes that were named in the file.
    lanes: HashMap<String, usize>,
    empty: bool,
    /// The first error; after it nothing more is written.
    outcome: io::Result<()>,
    finished: bool,
}

impl Writer {
    fn put(&mut self, text: &str) {
        if self.outcome.is_ok() {
            self.outcome = self.out.write_all(text.as_bytes());
        }
    }

    fn event(&mut self, event: &Value) {
        if !self.finished {
            let comma = if self.empty { "\n" } else { ",\n" };
            self.empty = false;
            self.put(&format!("{comma}{event}"));
        }
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

    fn finish(&mut self) -> io::Result<()> {
        if !std::mem::replace(&mut self.finished, true) {
            self.put("\n]}\n");
            if self.outcome.is_ok() {
                self.outcome = self.out.flush();
            }
        }
        std::mem::replace(&mut self.outcome, Ok(()))
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

impl TraceLayer {
    /// Writes a complete event.
    fn put(&self, lane: &str, name: &str, from: Instant, took: Duration, arguments: Fields) {
        let mut writer = self.writer.lock();
        let lane = writer.lane(lane);
        writer.event(&json!({
            "ph": "X",
            "name": name,
            "pid": 1,
            "tid": lane,
            "ts": self.micros(from),
            "dur": took.as_nanos() as f64 / 1000.0,
            "args": arguments.0,
        }));
    }

    /// Microseconds since the trace began.
    fn micros(&self, at: Instant) -> f64 {
        at.duration_since(self.start).as_nanos() as f64 / 1000.0
    }
}

impl<S> Layer<S> for TraceLayer
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    /// A counter or a stretch of time: see [`LANES`].
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        if let Some(stretch) = Stretch::take(&mut fields) {
            self.put(
                &stretch.lane,
                &stretch.part,
                epoch() + Duration::from_nanos(stretch.start),
                Duration::from_nanos(stretch.end.saturating_sub(stretch.start)),
                fields,
            );
            return;
        }
        let Some(counter) = fields.0.remove("counter") else {
            return;
        };
        self.writer.lock().event(&json!({
            "ph": "C",
            "name": counter,
            "pid": 1,
            "ts": self.micros(Instant::now()),
            "args": fields.0,
        }));
    }
}

/// A stretch of time in an event.
struct Stretch {
    lane: String,
    part: String,
    /// Nanoseconds since the epoch.
    start: u64,
    end: u64,
}

impl Stretch {
    /// Takes it out of the fields of an event, if it is one.
    fn take(fields: &mut Fields) -> Option<Self> {
        let text = |value: Value| value.as_str().map(str::to_owned);
        Some(Self {
            part: fields.0.remove("part").and_then(text)?,
            lane: fields.0.remove("lane").and_then(text)?,
            start: fields.0.remove("start")?.as_u64()?,
            end: fields.0.remove("end")?.as_u64()?,
        })
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
