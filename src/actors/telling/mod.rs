//! What does a run tell? Its events, and the one account of them: progress, workers, time left, the map of tasks.

pub(super) mod eta;
pub(super) mod events;
pub(super) mod observers;
pub(super) mod progress;
pub(super) mod task_map;
pub(super) mod worker_progress;
