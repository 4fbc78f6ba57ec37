//! How do results become records? Those of a run while it counts, and those of second counts.

pub(super) mod recording;
pub(super) mod recount_choice;
pub(super) mod recounting;
pub(super) mod second_counts;
