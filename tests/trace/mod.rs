//! The trace of a run.

use std::fs::File;
use std::path::Path;

use queenfold_cli::telemetry::{TraceFile, trace_layer};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

mod devices;
mod workers;

/// A trace that can be written whole.
fn trace_to<S>(path: &Path) -> (impl Layer<S> + use<S>, TraceFile)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let file = File::create(path).unwrap();
    trace_layer(file, Box::new(|error| panic!("{error}")))
}
