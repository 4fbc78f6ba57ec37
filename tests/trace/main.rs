//! The trace of a run. These tests have a binary of their own, because the process decides once for all
//! threads whether a span has a listener: a run without a trace could turn a span off for a moment.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]

use std::fs::File;
use std::path::Path;

use parking_lot::{Mutex, MutexGuard};
use queenfold::telemetry::{TraceFile, trace_layer};
use tracing::Subscriber;
use tracing_subscriber::Layer;
use tracing_subscriber::registry::LookupSpan;

mod devices;
mod workers;

#[path = "../common/emulated_device.rs"]
mod emulated_device;
#[path = "../common/run_spec.rs"]
mod run_spec;

/// Held while a run is traced: only one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock()
}

/// A trace that can be written whole.
fn trace_to<S>(path: &Path) -> (impl Layer<S> + use<S>, TraceFile)
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    let file = File::create(path).unwrap();
    trace_layer(file, Box::new(|error| panic!("{error}")))
}
