//! The state of a run for Prometheus: `--metrics`.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::output::say;
use super::repeating::Repeating;
use crate::actors::Control;
use crate::board::Size;
use crate::ledger::replace_file;
use crate::telemetry::{metrics, printable};

/// How often the file is replaced. Collectors read it every 15 seconds or less often.
const EVERY: Duration = Duration::from_secs(5);

/// Keeps the file at `path` up to date for the run of board `n` under `control`, until what is returned is
/// dropped. If it cannot be written, one line says so, and the run goes on.
///
/// # Errors
/// There is something else than a regular file at `path`, or the system refuses another thread.
pub fn keep(path: &Path, n: Size, control: Control) -> io::Result<Repeating> {
    // It would be replaced, not written to.
    if path.metadata().is_ok_and(|file| !file.is_file()) {
        return Err(io::Error::other("not a regular file"));
    }
    let path = path.to_owned();
    let mut draft = path.clone().into_os_string();
    draft.push(".tmp");
    let draft = PathBuf::from(draft);
    Repeating::new("metrics", EVERY, move || {
        let text = metrics(n, &control.progress());
        let written = replace_file(&path, &draft, text.as_bytes());
        if let Err(error) = &written {
            let path = path.display();
            say(&printable(&format!(
                "metrics can no longer be written to {path} ({error}); the run goes on"
            )));
        }
        written.is_ok()
    })
}
