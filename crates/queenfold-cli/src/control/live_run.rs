//! What the process that works on a run directory says of the run at the moment.

use std::path::Path;
use std::time::Duration;

use crate::telemetry::{Snapshot, state_in_words};
use queenfold::actors::{PauseReason, RunState};
use queenfold_ledger::ledger::{is_held_by, read_live, unix_time};

/// A state that is older is said to be: it is written once a second.
const OLD: Duration = Duration::from_secs(5);

/// How old a snapshot is, by the clocks of both machines, if it is an old one.
pub fn old(snapshot: &Snapshot) -> Option<Duration> {
    let age = Duration::try_from_secs_f64(unix_time() as f64 - snapshot.taken);
    age.ok().filter(|age| *age > OLD)
}

/// What the process that works on the run in `dir`, or did so last, has said of it. `None` if it has said nothing.
pub fn last_said(dir: &Path) -> Option<Snapshot> {
    Snapshot::read(&read_live(dir).ok()??).ok()
}

/// What the process that works on the run in `dir` has said of it. `None` if there is none, or it has said nothing.
pub fn of_holder(dir: &Path) -> Option<Snapshot> {
    let snapshot = last_said(dir)?;
    is_held_by(dir, snapshot.process, &snapshot.host).then_some(snapshot)
}

/// Why the run in `dir` is paused. `None` if it is not, or if the process that works on it has not said so
/// within the last seconds.
pub fn paused_for(dir: &Path) -> Option<Vec<PauseReason>> {
    let snapshot = of_holder(dir)?;
    let is_paused = snapshot.progress.state == RunState::Paused && old(&snapshot).is_none();
    is_paused.then_some(snapshot.progress.paused_for)
}

/// What a run does: `paused (outside its hours)`.
pub fn in_words(snapshot: &Snapshot) -> String {
    state_in_words(snapshot.progress.state, &snapshot.progress.paused_for)
}
