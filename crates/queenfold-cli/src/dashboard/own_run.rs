//! The dashboard of a run in this process.

use std::io::{self, PipeWriter};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::show;
use crate::control::steering::{KEY, Steering};
use crate::output::say;
use crate::telemetry::SnapshotKeeper;
use queenfold::system::threads;

/// A run that ends earlier shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the end of a run waits for the last picture.
const LAST_PICTURE: Duration = Duration::from_secs(2);

/// The dashboard of a run in this process. Dropping it gives the screen back.
pub struct OwnDashboard {
    /// Closed at the end of the run, so that the thread neither waits for its first picture nor for a key.
    stop: Option<(Sender<()>, PipeWriter)>,
    thread: Option<JoinHandle<()>>,
}

impl OwnDashboard {
    /// Shows the run that is steered. If its terminal is lost, one line says so, and the run goes on.
    ///
    /// # Errors
    /// The system refuses another thread or a pipe.
    pub fn show(keeper: Arc<SnapshotKeeper>, steering: Steering) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (end, closed_at_end) = io::pipe()?;
        let thread = threads::start("dashboard", move || {
            if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let control = steering.control();
            let look = || {
                let is_over = stopped.try_recv() == Err(TryRecvError::Disconnected);
                let run = || keeper.snapshot(control.progress(), control.task_map());
                (!is_over).then(|| (run(), None))
            };
            let ask = |request| {
                steering.obey(request, KEY);
                Ok(())
            };
            if let Err(error) = show(look, ask, Some(&end)) {
                say(&format!(
                    "the dashboard has lost its terminal ({error}); the run goes on"
                ));
            }
        })?;
        Ok(Self {
            stop: Some((stop, closed_at_end)),
            thread: Some(thread),
        })
    }
}

impl Drop for OwnDashboard {
    fn drop(&mut self) {
        self.stop = None;
        let since = Instant::now();
        if let Some(thread) = self.thread.take() {
            // A terminal may hold up who writes to it, and a run does not wait for that.
            while !thread.is_finished() && since.elapsed() < LAST_PICTURE {
                thread::sleep(LAST_PICTURE / 2000);
            }
        }
    }
}
