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

mod database;
mod directory;
mod error;
mod hex;
mod merging;
mod reading;
mod records;
mod sharing;

pub use database::correction_rows::LoggedCorrection;
pub use database::digest::Digest;
pub use database::entry::{Column, Entry};
pub use database::schema::FORMAT;
pub use directory::files::belongs_to_run;
pub(crate) use directory::files::{expect_outside, is_there};
pub use directory::host::{host_name, unix_time};
pub use directory::lock::{DirLock, holder_of, is_held, is_held_by};
pub use error::FILE_LIMIT;
pub use error::LedgerError;
pub use hex::{hex, unhex};
pub use merging::differences::{CountedWhere, Differences, differences};
pub(crate) use reading::confirmation::Sessions;
pub use reading::confirmation::{Confirmation, parts_once};
pub use reading::counted_with::CountedWith;
pub use reading::coverage::{Coverage, Missing};
pub use reading::host_share::HostShare;
pub use reading::run_info::{Facts, RunInfo, Session, WorkTime};
pub use sharing::division::Division;
pub use sharing::index_list::IndexList;

pub(crate) use database::origin_columns::OriginColumns;
pub use database::origin_filter::{DoneBy, OriginName};
pub(crate) use database::parts::Parts;
pub use database::plan_hash::{PlanInfo, plan_hash};
pub use database::store::{LedgerSums, RecordedTask, Store};
pub use directory::request::{Asked, Asker, Request, put_request, take_request, withdraw_request};
pub(crate) use directory::sidecar_files::read_text;
pub use directory::sidecar_files::{
    EVENTS_MARK, open_history, read_history, read_live, write_live,
};
pub use merging::merge::{LeftOut, Merged, TakenOut, kept_sessions, merge, take_out};
pub use merging::merge_source::MergeSource;
pub use reading::signature::Signature;
pub use reading::status::{Latest, Speed, Status};
pub use records::recording::{COMMIT_EVERY, Recording};
pub use records::recount_choice::{RecountChoice, chance_missed};
pub(crate) use records::recounting::decided;
pub use records::recounting::{ChosenTasks, FirstCounts, Recounts};
pub use sharing::shard::{Shard, ShardError};

use database::{draft, meta, row, schema, session_rows};
use directory::files;
use merging::merge_source;

/// The name of the database file in a run directory.
pub const FILE: &str = "ledger.db";

/// Name and version of this program, as ledgers keep it.
pub fn program() -> String {
    format!("queenfold {}", env!("CARGO_PKG_VERSION"))
}
