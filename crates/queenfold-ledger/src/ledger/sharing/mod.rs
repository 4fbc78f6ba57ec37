//! Which tasks belong to which shard?
//!
//! * `division`: how tasks are dealt to the parts of a run; `shard`: some of these parts, and how they are written.
//! * `index_list`: several shards, as schedulers write them.

pub(super) mod division;
pub(super) mod index_list;
pub(super) mod shard;
