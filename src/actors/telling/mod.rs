//! What does a run tell? Its events, and the one account of them: progress, workers, time left, the map of tasks.
//!
//! * `events`: what can happen; `observers`: who hears of it.
//! * `progress`: the account of the events; `worker_progress`: its part about a worker; `task_map`: which tasks are
//!   counted.
//! * `eta`: how fast the run counts, and when it ends.

pub(super) mod eta;
pub(super) mod events;
pub(super) mod observers;
pub(super) mod progress;
pub(super) mod task_map;
pub(super) mod worker_progress;
