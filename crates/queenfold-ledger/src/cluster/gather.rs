//! How far the shards of an array are, and their records in one ledger.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::directory::unfit;
use super::{ArrayDirectory, IndexList, Lacking};
use crate::ledger::{
    Division, LedgerError, LedgerSums, Merged, OfArray, Store, is_held, is_there, merge,
};
use queenfold::engine::Plan;

/// How far a shard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardState {
    /// Nobody has recorded anything.
    NotBegun,
    /// A process works on it.
    Running,
    /// It was begun, and no process works on it.
    Stopped,
    /// All its tasks are recorded.
    Finished,
}

impl ArrayDirectory {
    /// How far the shard at a position is, with its ledger and the sums of it if there is one that can be read. `division`
    /// is that of the array.
    ///
    /// # Errors
    /// The directory of the shard holds another run, or a damaged one.
    pub fn state_of(
        &self,
        index: u64,
        division: &Division,
    ) -> Result<(ShardState, Option<(Store, LedgerSums)>), LedgerError> {
        let directory = self.shard(index);
        // Asked first: a run that ends meanwhile has recorded what it counted.
        let held = is_held(&directory);
        let store = match Store::open_to_read(&directory) {
            // A directory without a ledger is left by a task that was killed at its start. The next task that counts
            // this shard undoes what a killed one left half done. To do it here could disturb a writer on another
            // host, where locks do not reach from host to host.
            Err(error @ (LedgerError::NoRun(_) | LedgerError::Interrupted(_))) => {
                let state = match error {
                    _ if held => ShardState::Running,
                    LedgerError::NoRun(_) => ShardState::NotBegun,
                    _ => ShardState::Stopped,
                };
                return Ok((state, None));
            }
            opened => opened?,
        };
        self.check_shard(index, store.info())?;
        let sums = store.sums()?;
        let shard = store.info().shard;
        // Until its process ends, a last canary may still take back what is recorded.
        let state = match sums.coverage.is_whole_for(shard, division) {
            _ if held => ShardState::Running,
            true => ShardState::Finished,
            false => ShardState::Stopped,
        };
        Ok((state, Some((store, sums))))
    }

    /// Checks that what has this name, if anything has, is a directory.
    fn expect_own(&self, dir: &Path) -> Result<(), LedgerError> {
        match dir.symlink_metadata() {
            Ok(found) if !found.is_dir() => Err(unfit(
                dir,
                "no directory of this array: a link leads elsewhere",
            )),
            _ => Ok(()),
        }
    }

    /// How the array is divided.
    pub fn division(&self, plans: &[Arc<dyn Plan>]) -> Division {
        let first = self.array().shard(0);
        first.map_or_else(Division::none, |first| Division::new(first.shard, plans))
    }

    /// The ledger of all, if there is one, what it adds up to, and what is to be counted by that.
    ///
    /// # Errors
    /// The ledger of all is damaged, or that of another run.
    pub fn so_far(
        &self,
        division: &Division,
    ) -> Result<(Option<(Store, LedgerSums)>, Lacking), LedgerError> {
        let store = match Store::open_to_glance(&self.whole()) {
            Err(LedgerError::NoRun { .. }) => {
                return Ok((None, Lacking::all(self.array().parts())));
            }
            opened => opened?,
        };
        self.check_whole(store.info())?;
        let sums = store.sums()?;
        let lacking = Lacking::of(&sums, division);
        Ok((Some((store, sums)), lacking))
    }
}

impl Lacking {
    /// All of so many parts, none of which is counted.
    fn all(parts: u64) -> Self {
        Self {
            first: (0..parts).collect(),
            second: BTreeMap::new(),
        }
    }

    /// What the ledger of all lacks, whose records add up to this.
    fn of(sums: &LedgerSums, division: &Division) -> Self {
        Self {
            first: sums.coverage.parts_lacking(division),
            second: sums.who.parts_once(division),
        }
    }
}

/// What was gathered.
#[derive(Debug)]
pub struct Gathered {
    /// The ledger of all that is recorded; `None` if nothing is.
    pub merged: Option<Merged>,
    /// Shards that somebody works on. They were left out.
    pub running: IndexList,
    /// Shards that were begun and lack tasks.
    pub stopped: IndexList,
    /// Shards of which nothing is recorded.
    pub not_begun: IndexList,
    /// What is still to be counted.
    pub lacking: Lacking,
    /// Why files were refused. They were left out.
    pub refused: Vec<LedgerError>,
}

impl Gathered {
    /// The shards that are to be submitted again.
    pub fn to_submit(&self) -> IndexList {
        self.stopped.iter().chain(self.not_begun.iter()).collect()
    }
}

/// Puts what the shards of an array have recorded into the ledger in [`ArrayDirectory::whole`]. Shards that
/// somebody works on are left out. Files of shards that lie beside them (`shards/*.cert`), and those in the folders or of the
/// names `from`, are gathered as well, and `open` opens them. If hosts share nothing, the `key` of the array has signed them.
///
/// Tasks of another shard are left out: whoever may write to one shard alone has no say in the others.
///
/// # Errors
/// A shard is damaged, belongs to another array, or contradicts another one; there is another run in place of the
/// ledger of all; another process gathers; the
/// ledger of all cannot be written. Nothing is gathered then.
pub fn gather(
    directory: &ArrayDirectory,
    from: &[PathBuf],
    key: Option<String>,
    open: impl Fn(&Path) -> Result<Store, LedgerError>,
) -> Result<Gathered, LedgerError> {
    let array = directory.array();
    let plans = array.plans();
    let division = &directory.division(&plans);
    let whole = directory.whole();
    directory.expect_own(&whole)?;
    // Otherwise the merge makes it, mends it, or says what is wrong with it.
    if let Ok(store) = Store::open_to_read(&whole) {
        directory.check_whole(store.info())?;
    }
    let mut states: [Vec<u64>; 4] = Default::default();
    let of_shard = |index: u64| {
        let path = directory.shard(index);
        directory.expect_own(&path)?;
        let helps = |error| match error {
            LedgerError::Damaged { .. } => LedgerError::Other(format!(
                "{error}: remove {} and submit {index} again",
                path.display()
            )),
            _ => error,
        };
        let (state, found) = directory.state_of(index, division).map_err(helps)?;
        states[state as usize].push(index);
        let found = found.filter(|_| state != ShardState::Running);
        Ok::<_, LedgerError>(found.map(|(store, _)| store))
    };
    let mut refused = Vec::new();
    let of_file = |path: PathBuf| {
        let opened = is_there(&path).and_then(|_| open(&path));
        let opened = opened.and_then(|store| {
            let signer = store.signer().unwrap_or_default();
            if key.as_ref().is_some_and(|key| key != signer) {
                let what = format!("it is signed by {signer}, and not by the key of this array");
                return Err(unfit(&path, &what));
            }
            directory.check_file(&path, store.info())?;
            Ok(store)
        });
        Ok(opened.map_err(|error| refused.push(error)).ok())
    };
    let files = directory.files(from)?;
    let sources = (0..array.shards()).map(of_shard);
    let sources = sources.chain(files.into_iter().map(of_file));
    let mut sources = sources.filter_map(Result::transpose).peekable();
    let shards = OfArray {
        division,
        key: key.clone(),
    };
    let merged = match sources.peek() {
        Some(_) => Some(merge(sources, Some(&shards), &whole)?),
        // What was gathered before counts, even if its shards were removed to save space.
        None if fs::exists(&whole).unwrap_or(false) => {
            Some(merge([Store::open_to_read(&whole)], None, &whole)?)
        }
        None => None,
    };
    let lacking = match &merged {
        Some(merged) => Lacking::of(&merged.sums, division),
        None => Lacking::all(array.parts()),
    };
    let list = |state: ShardState| {
        let indices = states[state as usize].iter().copied();
        indices
            .filter(|index| array.lacks(*index, &lacking))
            .collect()
    };
    Ok(Gathered {
        running: list(ShardState::Running),
        stopped: list(ShardState::Stopped),
        not_begun: list(ShardState::NotBegun),
        merged,
        lacking,
        refused,
    })
}
