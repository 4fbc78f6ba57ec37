//! The events of runs, for other programs: `--events`.

use std::fs::File;
use std::io;

use crate::cli::exit::{Exit, Failure};
use crate::cli::output::{say, stdout};
use crate::config::{Config, FileOrStream, Value};
use crate::system::files::open_to_write;
use crate::telemetry::{EventFile, printable};

/// Opens what the settings name; `None` if they name nothing. If it cannot be written to later, one line
/// says so, and the run goes on.
///
/// # Errors
/// The file cannot be opened, or events and a table would share standard output.
pub fn open(config: &Config) -> Result<Option<EventFile>, Failure> {
    let Some(target) = &config.trace.events.0 else {
        return Ok(None);
    };
    let opened = match target {
        FileOrStream::Stream if !config.output.json => {
            return Err(Failure::usage(
                "--events - needs --json: standard output has the results, too, and each of its lines \
                 must be JSON",
            ));
        }
        FileOrStream::Stream => EventFile::new(stdout(), |error| lost("standard output", &error)),
        FileOrStream::File(path) => {
            let name = path.display().to_string();
            let file = open_to_write(File::options().append(true).create(true), path);
            file.and_then(|file| EventFile::new(file, move |error| lost(&name, &error)))
        }
    };
    opened.map(Some).map_err(|error| {
        let name = target.write();
        Failure::new(Exit::Error, format!("events file {name}: {error}"))
    })
}

fn lost(name: &str, error: &io::Error) {
    say(&printable(&format!(
        "events can no longer be written to {name} ({error}); the run goes on"
    )));
}
