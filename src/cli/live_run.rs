//! What the process that works on a run directory says of the run at the moment.

use std::path::Path;
use std::time::Duration;

use crate::actors::{PauseReason, RunState};
use crate::ledger::{is_held_by, read_live, unix_time};
use crate::telemetry::Snapshot;

/// A state that is older is said to be: it is written once a second.
const OLD: Duration = Duration::from_secs(5);

/// How old a snapshot is, by the clocks of both machines, if it is an old one.
pub fn old(snapshot: &Snapshot) -> Option<Duration> {
    let age = Duration::try_from_secs_f64(unix_time() as f64 - snapshot.taken);
    age.ok().filter(|age| *age > OLD)
}

/// Why the run in `dir` is paused. `None` if it is not, or if the process that works on it has not said so
/// within the last seconds.
pub fn paused_for(dir: &Path) -> Option<Vec<PauseReason>> {
    let snapshot = Snapshot::read(&read_live(dir).ok()??).ok()?;
    let progress = &snapshot.progress;
    let is_paused = progress.state == RunState::Pausing
        && old(&snapshot).is_none()
        && is_held_by(dir, snapshot.process, &snapshot.host);
    is_paused.then(|| progress.paused_for.clone())
}
