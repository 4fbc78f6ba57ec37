//! The state of a run for Prometheus: `--metrics`.

use std::io;
use std::path::Path;
use std::time::Duration;

use crate::session::outputs::output_files::{METRICS, lost};
use crate::session::repeating::repeat;
use crate::telemetry::metrics;
use queenfold::actors::Control;
use queenfold::board::GivenBoard;
use queenfold::machine::believed_temperatures;
use queenfold::system::threads::Background;

/// How often the file is replaced. Collectors read it every 15 seconds or less often.
const EVERY: Duration = Duration::from_secs(5);

/// Keeps the file at `path` up to date for the run of `board` under `control`, until what is returned is
/// dropped. If it cannot be written to later, one line says so, and the run goes on.
///
/// # Errors
/// The system refuses another thread.
pub fn keep(path: &Path, board: GivenBoard, control: Control) -> io::Result<Background> {
    let path = path.to_owned();
    repeat("metrics", EVERY, move || {
        let warm = believed_temperatures().into_iter();
        let warm: Vec<_> = warm.map(|of| (of.sensor, of.celsius)).collect();
        let text = metrics(&board, &control.progress(), &warm);
        let written = METRICS.write(&path, text.as_bytes());
        if let Err(error) = &written {
            lost("metrics", &path.display().to_string(), error);
        }
        written.is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_does_not_end_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("metrics");
        let gone = folder.path().join("gone/metrics");
        let control = Control::new();
        let board = GivenBoard::from(queenfold::board::Size::new(8).unwrap());
        drop(keep(&file, board, control.clone()).unwrap());
        assert!(file.is_file());
        drop(keep(&gone, board, control).unwrap());
    }
}
