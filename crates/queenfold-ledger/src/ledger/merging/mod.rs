//! How do several ledgers become one, and where do they differ?

pub(super) mod differences;
pub(super) mod merge;
pub(super) mod merge_source;
