//! What a run says about itself: log lines, a trace for Perfetto, a profile, a progress line.
//!
//! It reads the [events](queenfold::actors::RunEvent) of the runtime, of which there are a few for each task
//! or batch, and none for a node. A library caller sees
//! nothing of it until [`start`] is called or a subscriber of `tracing` is installed.
//!
//! * [`start`]: the log on standard error, and the trace file.
//! * [`TraceFile`], [`trace_layer`]: Trace Event JSON from the events of `tracing`.
//! * [`EventFile`]: the events of a run as JSON Lines.
//! * [`History`]: the few of them that a report needs. [`incident`](fn@incident): an event in words.
//! * [`metrics`](fn@metrics): how far a run is, for Prometheus.
//! * `Snapshot`: what a dashboard shows; `SnapshotKeeper` observes a run for it.
//! * [`hold_messages`]: lines on standard error wait while a dashboard has the screen.
//! * [`profile`](fn@profile): how the workers spent a run.
//! * [`RunFacts`]: what is told of a run everywhere, in the same words. [`progress_line`]: how far it is, on one line.
//! * [`printable`](fn@printable): text of others.

mod event_file;
mod history;
mod incident;
mod messages;
mod metrics;
mod printable;
mod profile;
mod progress;
mod run_facts;
mod snapshot;
mod trace;

use std::error::Error;
use std::fs::File;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt};

pub use event_file::{EVENT_FORMAT, EventFile};
pub use history::History;
pub use incident::incident;
pub use messages::{hold_messages, keep_message, last_message, release_messages};
pub use metrics::{METRICS, METRICS_MARK, metrics};
pub use printable::{printable, printable_json};
pub use profile::profile;
pub use progress::progress_line;
pub use run_facts::{Fact, RunFacts, faulty_json, state_in_words};
pub use snapshot::{Incident, Snapshot, SnapshotKeeper, Speeds};
pub use trace::{Lost, TRACE_MARK, TraceFile, trace_layer};

/// Starts telemetry for the whole process: log lines that pass `filter`, which has levels and targets like those of
/// `RUST_LOG`, on standard error, and a [trace](trace_layer) in the file `trace`, if any. The trace ends when what is
/// returned is dropped.
///
/// # Errors
/// The filter is no list of directives like `info` or `queenfold::actors=debug`, or a log was started before.
pub fn start(
    filter: &str,
    trace: Option<(File, Lost)>,
) -> Result<Option<TraceFile>, Box<dyn Error>> {
    let wanted: Targets = filter.parse()?;
    let log = fmt::layer()
        .with_writer(|| messages::Log)
        .with_filter(wanted);
    let (layer, file) = trace
        .map(|(file, failed)| trace_layer(file, failed))
        .unzip();
    let layers = tracing_subscriber::registry().with(layer).with(log);
    layers.try_init()?;
    Ok(file)
}
