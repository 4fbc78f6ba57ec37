//! The durable record of a run: one directory, one SQLite database, one row for each finished task.

mod coverage;
mod digest;
mod error;
mod host;
mod info;
mod lock;
mod meta;
mod plan_hash;
mod record;
mod schema;
mod shard;
mod store;

pub use coverage::{Coverage, Missing, TaskRange};
pub use digest::Digest;
pub use error::LedgerError;
pub use info::{Facts, RunInfo, Session};
pub use lock::{DirLock, is_held};
pub use plan_hash::{PlanInfo, plan_hash};
pub use record::Record;
pub use schema::FORMAT;
pub use shard::{Shard, ShardError};
pub use store::{FILE, Inserted, Store, Sums};
