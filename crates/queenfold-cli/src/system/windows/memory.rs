//! How the C library takes memory from the system.

/// Nothing is reserved for each thread here.
pub const fn use_one_arena() {}
