//! How do results become records? Those of a run while it counts, and those of second counts.
//!
//! * `recording`: writes the results of a run while it counts.
//! * `recounting`: gives a run recorded tasks to be counted a second time, and takes the counts; `recount_choice`:
//!   which tasks `verify` counts again.
//! * `second_counts`: changes what is recorded: second counts, corrections, sessions that are taken out.

pub(super) mod recording;
pub(super) mod recount_choice;
pub(super) mod recounting;
pub(super) mod second_counts;
