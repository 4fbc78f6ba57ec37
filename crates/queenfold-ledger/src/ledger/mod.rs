//! The durable record of a run: one directory, one SQLite database, one row for each finished task.
//!
//! * `database`: how is a result kept?
//! * `directory`: what lies beside the database, who may write there, and what is asked of a run?
//! * `records`: how do results become records, while a run counts and when it is counted a second time?
//! * `reading`: what does a ledger say of its run?
//! * `sharing`: which tasks belong to which shard?
//! * `merging`: how do several ledgers become one, and where do they differ?
//! * `error`: what can be wrong with a ledger? `hex`: bytes as hexadecimal digits.

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
pub(crate) use directory::files::{expect_outside, has_ledger, is_there};
pub use directory::host::{host_name, unix_time};
pub use directory::lock::{DirLock, holder_of, is_held, is_held_by};
pub use error::FILE_LIMIT;
pub use error::LedgerError;
pub use hex::{hex, unhex};
pub use merging::differences::{CountedWhere, Differences, differences};
pub use reading::confirmation::Confirmation;
pub(crate) use reading::confirmation::Sessions;
pub use reading::coverage::{Coverage, Missing};
pub use reading::host_share::HostShare;
pub use reading::run_info::{Facts, RunInfo, Session, WorkTime};
pub use sharing::division::Division;
pub use sharing::index_list::IndexList;

#[doc(hidden)]
pub use database::file_system::assume_file_system;
pub(crate) use database::origin_columns::OriginColumns;
pub use database::origin_filter::OriginName;
pub(crate) use database::parts::{Parts, own_plan};
pub use database::plan_hash::{PlanInfo, plan_hash};
pub use database::store::{LedgerSums, RecordedTask, Store};
pub use directory::request::{Asked, Asker, Request, put_request, take_request, withdraw_request};
pub(crate) use directory::sidecar_files::read_text;
pub use directory::sidecar_files::{
    EVENTS_MARK, open_history, read_history, read_live, write_live,
};
pub use merging::copy_run::OfArray;
pub use merging::merge::{LeftOut, Merged, TakenOut, kept_sessions, merge, take_out};
pub use reading::signature::Signature;
pub use reading::status::{Latest, Speed, Status};
pub use reading::who_counted::{CountedWith, WhoCounted};
pub use records::recording::{COMMIT_EVERY, Recording};
pub use records::recount_choice::{RecountChoice, chance_missed};
pub(crate) use records::recounting::decided;
pub use records::recounting::{ChosenTasks, FirstCounts, Recounts};
pub use sharing::shard::{Shard, ShardError};

use database::{draft, meta, schema};
use directory::files;
use merging::copy_run;

/// The name of the database file in a run directory.
pub const FILE: &str = "ledger.db";

/// Name and version of this program, as ledgers keep it.
pub fn program() -> String {
    format!("queenfold {}", env!("CARGO_PKG_VERSION"))
}
