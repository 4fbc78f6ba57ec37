//! The state of a run for Prometheus: `--metrics`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::output::say;
use crate::actors::Control;
use crate::board::Size;
use crate::telemetry::{metrics, printable};

/// How often the file is replaced. Collectors read it every 15 seconds or less often.
const EVERY: Duration = Duration::from_secs(5);

/// A file that says how far a run is, replaced again and again. Dropping it writes it once more.
pub struct MetricsFile {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsFile {
    /// Keeps the file at `path` up to date for the run of board `n` under `control`. If it cannot be
    /// written, one line says so, and the run goes on.
    ///
    /// # Errors
    /// There is something else than a regular file at `path`, or the system refuses another thread.
    pub fn keep(path: &Path, n: Size, control: Control) -> io::Result<Self> {
        // It would be replaced, not written to.
        if path.metadata().is_ok_and(|file| !file.is_file()) {
            return Err(io::Error::other("not a regular file"));
        }
        let path = path.to_owned();
        let (stop, stopped) = mpsc::channel::<()>();
        let thread = thread::Builder::new()
            .name("metrics".into())
            .spawn(move || {
                let mut last = false;
                let mut wait = Duration::ZERO;
                while !last {
                    last = stopped.recv_timeout(wait) != Err(RecvTimeoutError::Timeout);
                    if let Err(error) = replace(&path, &metrics(n, &control.progress())) {
                        let path = path.display();
                        say(&printable(&format!(
                            "metrics can no longer be written to {path} ({error}); the run goes on"
                        )));
                        return;
                    }
                    wait = EVERY;
                }
            })?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for MetricsFile {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // It does not panic, and there is nobody to tell.
            let _ = thread.join();
        }
    }
}

/// Writes beside the file and renames, so that a reader sees the old file or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".tmp");
    let beside = PathBuf::from(beside);
    let done = fs::write(&beside, text).and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_file(&beside);
    }
    done
}
