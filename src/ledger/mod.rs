//! The durable record of a run: one directory, one SQLite database, one row for each finished task.
//!
//! * [`Recording`]: writes the results of a run while it counts.
//! * [`Store`]: the database. `format`: its layout and version; `row`: how a result becomes a row.
//! * [`RunInfo`], [`Session`]: which run it is, and which processes worked on it.
//! * [`Coverage`]: which tasks are recorded; [`Shard`]: which of them a part of a divided run counts.
//! * [`Status`], [`verify()`], [`export()`], [`read_export()`], [`merge()`]: what the commands of
//!   these names do.
//! * `files`: which files of a directory are opened at all; `home`: whether they are still there.
//! * [`Entry`]: a recorded task with its digest; `digest`: what each digest covers.

mod coverage;
mod digest;
mod entry;
mod error;
mod export;
mod export_line;
mod files;
mod format;
mod home;
mod host;
mod info;
mod lock;
mod merge;
mod meta;
mod origin_columns;
mod plan_hash;
mod read_export;
mod recording;
mod recount_choice;
mod row;
mod shard;
mod status;
mod store;
mod verify;

pub use coverage::{Coverage, Missing, TaskRange};
pub use digest::Digest;
pub use entry::Entry;
pub use error::LedgerError;
#[cfg(feature = "cli")]
pub(crate) use error::{FILE_LIMIT, is_file_limit};
pub use export::{Signature, export, signature};
pub use format::FORMAT;
pub use host::unix_time;
pub use info::{Facts, RunInfo, Session};
pub use lock::{DirLock, is_held};
pub use merge::{Merged, TakenOut, merge, take_out};
pub use plan_hash::{PlanInfo, plan_hash};
pub use read_export::{ExportError, read_export};
pub use recording::{COMMIT_EVERY, EarlierTime, ProcessFacts, Recording};
pub use recount_choice::{RecountChoice, chance_missed};
pub use shard::{Shard, ShardError};
pub use status::{Latest, Speed, Status};
pub use store::{Inserted, LedgerSums, Store};
pub use verify::{Findings, VerifySettings, WrongRecord, verify};

/// The name of the database file in a run directory.
pub const FILE: &str = "ledger.db";

/// Name and version of this program, as ledgers keep it.
pub fn program() -> String {
    format!("queenfold {}", env!("CARGO_PKG_VERSION"))
}
