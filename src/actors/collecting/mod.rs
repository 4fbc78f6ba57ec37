//! What is counted, and which count is believed? The collector, its sums, and rechecks.
//!
//! * `collector`: the actor that decides that a task is done; `counted_tasks`: which tasks are, and their sums.
//! * `rechecker`: who counts again, and which count wins; `recheck`: one task that is counted again; `recent_results`:
//!   which results may have to be, and the search for wrong ones.
//! * `recorder`: what keeps results for longer than the run lives.

pub(super) mod collector;
pub(super) mod counted_tasks;
pub(super) mod recent_results;
pub(super) mod recheck;
pub(super) mod rechecker;
pub(super) mod recorder;
