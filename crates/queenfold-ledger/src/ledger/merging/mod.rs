//! How do several ledgers become one, and where do they differ?
//!
//! * `merge`: puts runs into one, and takes them out again; `merge_source`: copies one of them.
//! * `differences`: the tasks whose counts differ.

pub(super) mod differences;
pub(super) mod merge;
pub(super) mod merge_source;
