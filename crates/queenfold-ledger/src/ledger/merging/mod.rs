//! How do several ledgers become one, and where do they differ?
//!
//! * `merge`: puts runs into one, and takes them out again; `copy_run`: copies one of them, and decides of each task which count is its record and which its second count.
//! * `differences`: the tasks whose counts differ.

pub(super) mod copy_run;
pub(super) mod differences;
pub(super) mod merge;
