//! The trace of a run.

use std::fs::File;
use std::path::Path;

use queenfold_cli::telemetry::TraceFile;

mod devices;
mod workers;

/// A trace that can be written whole.
fn trace_to(path: &Path) -> TraceFile {
    let file = File::create(path).unwrap();
    TraceFile::new(file, Box::new(|error| panic!("{error}")))
}
