//! The events of runs, for other programs: `--events`.

use std::path::Path;

use crate::config::is_stream;
use crate::exit::Failure;
use crate::output::stdout;
use crate::session::outputs::output_files::{EVENTS, lost};
use crate::telemetry::EventFile;

/// Opens what the settings name, for a command that prints `json` or tables; `None` if they name nothing. If it cannot be
/// written to later, one line says so, and the run goes on.
///
/// # Errors
/// The file cannot be opened, or events and a table would share standard output.
pub fn open(events: Option<&Path>, json: bool) -> Result<Option<EventFile>, Failure> {
    let Some(path) = events else {
        return Ok(None);
    };
    let opened = match is_stream(path) {
        true if !json => {
            return Err(Failure::usage(
                "--events - needs --json: standard output has the results, too, and each of its lines \
                 must be JSON",
            ));
        }
        true => EventFile::new(stdout(), |error| lost("events", "standard output", &error)),
        false => {
            let name = path.display().to_string();
            let lost = move |error| lost("events", &name, &error);
            let file = EVENTS.append(path);
            file.and_then(|file| EventFile::new(file, lost))
        }
    };
    let failed = |error| Failure::of_file("events file", path, &error);
    opened.map(Some).map_err(failed)
}
