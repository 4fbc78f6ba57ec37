//! One run over many hosts.
//!
//! **Job arrays**: a scheduler runs one task of an array for each shard, wherever and whenever it likes, and
//! each task counts its shard into a run directory of its own. So hosts share nothing but the file system, and
//! the ledgers alone say what is done.
//!
//! * [`ArrayDirectory`]: the directory of an array: which run it divides, where each shard is.
//! * [`Submission`]: the script that a [`Scheduler`] runs.
//! * [`ShardState`], [`gather()`]: how far the shards are, and their records in one ledger.
//! * [`Queued`]: what its queue says of them.
//! * [`IndexList`]: shards as schedulers write them, `3,17-20`.

mod array;
mod directory;
mod gather;
mod queue;
mod scheduler;
mod sizes;
mod submission;

pub use crate::ledger::IndexList;
pub use array::{Array, ArrayShard, Lacking};
pub use directory::{ArrayDirectory, KEY};
pub use gather::{Gathered, ShardState, gather};
pub use queue::{Queued, ask};
pub use scheduler::{Scheduler, Script};
pub use submission::Submission;
