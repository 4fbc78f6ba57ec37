//! A ledger that a process writes to.

use std::path::Path;
use std::sync::Arc;

use super::home::Home;
use super::{DirLock, LedgerError, RunInfo, Store, files};
use crate::engine::Plan;

/// The most tasks a plan may have. To find what is missing, each is looked at; so many take minutes.
const MOST_TASKS: u64 = 1 << 34;

/// A ledger that is open to be written, in a directory that this process has locked.
pub(super) struct OpenLedger {
    pub store: Store,
    pub home: Home,
    pub lock: DirLock,
}

impl OpenLedger {
    /// Makes the directory, unless it exists, and in it the ledger of a new run of `plans`, which `info` describes.
    ///
    /// # Errors
    /// A plan has more tasks than a ledger keeps, there is a run or something else in the directory, another process works on it, or it
    /// cannot be written.
    pub fn create(
        dir: &Path,
        info: &RunInfo,
        plans: &[Arc<dyn Plan>],
    ) -> Result<Self, LedgerError> {
        if let Some(plan) = plans.iter().find(|plan| plan.tasks() > MOST_TASKS) {
            return Err(LedgerError::Unfit(format!(
                "{} of n = {} has {} tasks, and a ledger keeps at most {MOST_TASKS}: leave out --dir and --shard to \
                 count without one",
                plan.name(),
                plan.size(),
                plan.tasks()
            )));
        }
        files::expect_outside(dir)?;
        files::make_directory(dir)?;
        // Whether or not another process works on it.
        Store::expect_none(dir)?;
        files::expect_no_others(dir)?;
        let lock = DirLock::take(dir)?;
        let store = Store::create(dir, info)?;
        Self::of(dir, store, lock)
    }

    /// Opens the ledger in `dir` to go on with its run.
    ///
    /// # Errors
    /// There is none, it is damaged, another process works on the directory, or it cannot be written.
    pub fn resume(dir: &Path) -> Result<Self, LedgerError> {
        if !files::has_ledger(dir)? {
            return Err(LedgerError::NoRun(dir.to_owned()));
        }
        let lock = DirLock::take(dir)?;
        let store = Store::open_to_write(dir)?;
        Self::of(dir, store, lock)
    }

    fn of(dir: &Path, store: Store, lock: DirLock) -> Result<Self, LedgerError> {
        Ok(Self {
            home: Home::of(dir)?,
            store,
            lock,
        })
    }
}
