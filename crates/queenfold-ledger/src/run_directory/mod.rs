//! Run directories: a [`Job`](queenfold::job::Job) whose finished tasks are kept on disk, so that the run can be
//! continued after a stop or a crash, divided, and counted a second time.
//!
//! ```
//! use queenfold::{Job, Size};
//! use queenfold_ledger::RunDirectory;
//!
//! let folder = tempfile::tempdir()?;
//! let directory = folder.path().join("n9");
//! RunDirectory::create(&directory, &Job::new(Size::new(9)?)).run()?;
//! // A finished run gives its result again.
//! let again = RunDirectory::resume(directory)?.run()?;
//! assert_eq!(again.result.outcome.unique(), Some(46));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`RunDirectory::create`]: begins a run, or a [shard](RunDirectory::shard) of one.
//! * [`RunDirectory::resume`]: continues it. [`RunDirectory::count_again_on`]: a second count (`run_again`).
//! * [`Verification`]: a second count of a share that keeps nothing; [`ToCheck`]: one of whatever is said of tasks.
//! * [`RunResult`], [`RunDirectoryError`]: what comes of it.

mod count_again;
mod counting;
mod directory;
mod error;
mod run_again;
#[cfg(test)]
mod tests;
mod verify;

pub use count_again::{Compared, Said, Tell, ToCheck, WrongTask};
pub use counting::RunResult;
pub use directory::RunDirectory;
pub use error::RunDirectoryError;
pub use run_again::AgainResult;
pub use verify::{Findings, Verification};
