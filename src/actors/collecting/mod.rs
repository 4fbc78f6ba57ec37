//! What is counted, and which count is believed? The collector, its sums, and rechecks.

pub(super) mod collector;
pub(super) mod counted_tasks;
pub(super) mod recent_results;
pub(super) mod recheck;
pub(super) mod rechecker;
pub(super) mod recorder;
