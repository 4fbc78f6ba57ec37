//! The events of runs, for other programs: `--events`.

use std::path::Path;

use crate::config::{Config, FileOrStream};
use crate::exit::Failure;
use crate::output::stdout;
use crate::session::outputs::output_files::{EVENTS, lost};
use crate::telemetry::EventFile;

/// Opens what the settings name; `None` if they name nothing. If it cannot be written to later, one line
/// says so, and the run goes on.
///
/// # Errors
/// The file cannot be opened, or events and a table would share standard output.
pub fn open(config: &Config) -> Result<Option<EventFile>, Failure> {
    let Some(target) = &config.trace.events.0 else {
        return Ok(None);
    };
    let (opened, path) = match target {
        FileOrStream::Stream if !config.output.json => {
            return Err(Failure::usage(
                "--events - needs --json: standard output has the results, too, and each of its lines \
                 must be JSON",
            ));
        }
        FileOrStream::Stream => {
            let lost = |error| lost("events", "standard output", &error);
            (EventFile::new(stdout(), lost), Path::new("-"))
        }
        FileOrStream::File(path) => {
            let name = path.display().to_string();
            let lost = move |error| lost("events", &name, &error);
            let file = EVENTS.append(path);
            let opened = file.and_then(|file| EventFile::new(file, lost));
            (opened, path.as_path())
        }
    };
    let failed = |error| Failure::of_file("events file", path, &error);
    opened.map(Some).map_err(failed)
}
