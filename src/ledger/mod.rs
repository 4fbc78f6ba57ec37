//! The durable record of a run: one directory, one SQLite database, one row for each finished task.
//!
//! * [`Recording`]: writes the results of a run while it counts.
//! * [`Store`]: the database. `format`: its layout and version; `row`, `session_rows` and
//!   `correction_rows`: how a result, a session and a correction become rows. `amend`: second counts and
//!   corrections of what is recorded; `correction_text`: a correction as JSON.
//! * [`RunInfo`], [`Session`]: which run it is, and which processes worked on it.
//! * [`Coverage`]: which tasks are recorded; [`Shard`]: a part of a divided run; [`Division`]: which tasks
//!   each part counts.
//! * [`HostShare`]: what each host did; [`CountedWith`]: with which kernel and how many workers.
//! * [`Status`], [`merge()`]: what the commands of these names do. [`Signature`]: what names all counts.
//! * [`FirstCounts`], [`Recounts`]: a run that counts recorded tasks again.
//!   [`Confirmation`]: how often tasks were counted, and where; [`differences()`]: which tasks of several
//!   runs differ.
//! * `draft`: a ledger before it has its name.
//! * `files`: which files of a directory are opened at all, and whether they are still there;
//!   `file_system`: which journal SQLite keeps where.
//! * [`Entry`]: a recorded task with its digest; `digest`: what each digest covers.

mod account;
mod amend;
mod confirmation;
mod correction_rows;
mod correction_text;
mod counted_with;
mod coverage;
mod differences;
mod digest;
mod division;
mod draft;
mod entry;
mod error;
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux says what a file system is")
)]
mod file_system;
mod files;
mod format;
mod hex;
mod host;
mod host_share;
mod index_list;
mod info;
mod lock;
mod merge;
mod merge_source;
mod meta;
mod origin_columns;
mod origin_filter;
mod parts;
mod plan_hash;
mod recording;
mod recount_choice;
mod recounting;
mod request;
mod row;
mod session_rows;
mod shard;
mod sidecar_files;
mod signature;
mod status;
mod store;

pub(crate) use confirmation::Sessions;
pub use confirmation::{Confirmation, parts_once};
pub use correction_rows::LoggedCorrection;
pub use counted_with::CountedWith;
pub use coverage::{Coverage, Missing};
pub use differences::{CountedWhere, Differences, differences};
pub use digest::Digest;
pub use division::Division;
pub use entry::{Column, Entry};
pub use error::FILE_LIMIT;
pub use error::LedgerError;
pub use files::belongs_to_run;
pub(crate) use files::{expect_outside, is_there};
pub use format::FORMAT;
pub use hex::{hex, unhex};
pub use host::{host_name, unix_time};
pub use host_share::HostShare;
pub use index_list::IndexList;
pub use info::{Facts, RunInfo, Session, WorkTime};
pub use lock::{DirLock, holder_of, is_held, is_held_by};

pub use merge::{LeftOut, Merged, TakenOut, kept_sessions, merge, take_out};
pub use merge_source::MergeSource;
pub(crate) use origin_columns::OriginColumns;
pub use origin_filter::{DoneBy, OriginName};
pub(crate) use parts::Parts;
pub use plan_hash::{PlanInfo, plan_hash};
pub use recording::{COMMIT_EVERY, Recording};
pub use recount_choice::{RecountChoice, chance_missed};
pub(crate) use recounting::decided;
pub use recounting::{ChosenTasks, FirstCounts, Recounts};
pub use request::{Asked, Asker, Request, put_request, take_request, withdraw_request};
pub use shard::{Shard, ShardError};
pub(crate) use sidecar_files::read_text;
pub use sidecar_files::{open_history, read_history, read_live, write_live};
pub use signature::Signature;
pub use status::{Latest, Speed, Status};
pub use store::{LedgerSums, RecordedTask, Store};

/// The name of the database file in a run directory.
pub const FILE: &str = "ledger.db";

/// Name and version of this program, as ledgers keep it.
pub fn program() -> String {
    format!("queenfold {}", env!("CARGO_PKG_VERSION"))
}
