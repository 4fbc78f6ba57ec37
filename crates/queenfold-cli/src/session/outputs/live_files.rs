//! What people can see of a run while it runs: in its directory, where `status --watch` and `report` find it, and in
//! the dashboard of `--tui`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::control::steering::Steering;
use crate::exit::{Exit, Failure};
use crate::output::say;
use crate::session::repeating::repeat;
use crate::telemetry::{EventFile, History, SnapshotKeeper, printable};
use queenfold::actors::{Observer, RunState};
use queenfold::board::GivenBoard;
use queenfold::system::threads::Background;
use queenfold_ledger::ledger::{host_name, open_history, take_request, write_live};

/// How often the run is shown, and requests are looked for.
const EVERY: Duration = Duration::from_secs(1);

/// A run that people watch. It is shown a last time when this is dropped.
pub struct WatchedRun {
    keeper: Arc<SnapshotKeeper>,
    history: Option<Arc<History>>,
    live: Option<Background>,
}

impl WatchedRun {
    /// Begins to show the run of `board` that is steered. In its directory, if it has one, its state, its history and
    /// requests are kept. What cannot be written is said once, and the run goes on.
    ///
    /// # Errors
    /// The system refuses another thread.
    pub fn new(
        board: GivenBoard,
        directory: Option<&Path>,
        steering: &Steering,
    ) -> Result<Self, Failure> {
        let keeper = SnapshotKeeper::new(board, host_name(), directory.map(Path::to_owned));
        let keeper = Arc::new(keeper);
        let live = directory
            .map(|directory| live(directory.to_owned(), Arc::clone(&keeper), steering.clone()));
        let history = directory.map(|directory| {
            let directory = directory.to_owned();
            Arc::new(History::new(move || {
                let name = directory.clone();
                let opened = open_history(&directory).and_then(|file| {
                    let name = name.clone();
                    EventFile::new(file, move |error| lost("history", &name, &error))
                });
                opened.inspect_err(|error| lost("history", &name, error))
            }))
        });
        Ok(Self {
            keeper,
            history,
            live: live
                .transpose()
                .map_err(|error| Failure::new(Exit::Error, error))?,
        })
    }

    /// What snapshots are made of.
    pub fn keeper(&self) -> Arc<SnapshotKeeper> {
        Arc::clone(&self.keeper)
    }

    /// What has to observe the run.
    pub fn observers(&self) -> Vec<Arc<dyn Observer>> {
        let keeper = Arc::clone(&self.keeper) as Arc<dyn Observer>;
        let history = self
            .history
            .as_ref()
            .map(|history| Arc::clone(history) as _);
        std::iter::once(keeper).chain(history).collect()
    }
}

impl Drop for WatchedRun {
    fn drop(&mut self) {
        drop(self.live.take());
        if let Some(history) = &self.history {
            history.close();
        }
    }
}

/// Keeps the state of the run in its directory, and does what is asked there.
fn live(
    directory: PathBuf,
    keeper: Arc<SnapshotKeeper>,
    steering: Steering,
) -> std::io::Result<Background> {
    let mut begun = false;
    let mut written = true;
    repeat("live", EVERY, move || {
        let progress = steering.control().progress();
        // Before that there may be no directory, or one that this process must not change.
        if progress.state == RunState::Planning {
            return true;
        }
        // What was asked of an earlier process is not for this one.
        let is_first = !std::mem::replace(&mut begun, true);
        if let Some(asked) = take_request(&directory).filter(|_| !is_first) {
            steering.obey(asked.request, asked.by.command(asked.request));
        }
        if written {
            let snapshot = keeper.snapshot(progress, steering.control().task_map());
            let text = serde_json::to_vec(&snapshot).unwrap_or_default();
            let result = write_live(&directory, &text);
            written = result
                .inspect_err(|error| lost("state", &directory, error))
                .is_ok();
        }
        true
    })
}

fn lost(what: &str, directory: &Path, error: &std::io::Error) {
    say(&printable(&format!(
        "the {what} of the run can no longer be written in {} ({error}); the run goes on",
        directory.display()
    )));
}
