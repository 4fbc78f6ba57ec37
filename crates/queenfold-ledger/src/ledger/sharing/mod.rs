//! Which tasks belong to which shard?

pub(super) mod division;
pub(super) mod index_list;
pub(super) mod shard;
