//! Puts the records of several run directories into one.

use std::path::Path;
use std::time::Duration;

use super::{DirLock, FILE, Inserted, LedgerError, LedgerSums, RunInfo, Shard, Store};
use crate::engine::Plan;

/// What a merge did.
#[derive(Clone, Debug)]
pub struct Merged {
    /// What the ledger holds now.
    pub sums: LedgerSums,
    /// How the run is divided, if the sources agree on that. It gives missing shards their names.
    pub division: Shard,
    /// From the start of each process that worked on it to its last commit, added up.
    pub elapsed: Duration,
    /// Records copied.
    pub copied: u64,
    /// Records that were there already, with the same result.
    pub there: u64,
}

/// Copies the records of all `sources` into the ledger in `into`, which is made if there is none.
///
/// The sources are only read. Each is copied completely or not at all.
///
/// # Errors
/// [`LedgerError::Unlike`] if two of the directories are of different boards or engines. A source is of
/// plans of another version, damaged, or counted a task differently; `into` cannot be written, or
/// another process works on it.
pub fn merge<P: AsRef<Path>>(
    sources: &[P],
    into: &Path,
    plans: &[std::sync::Arc<dyn Plan>],
) -> Result<Merged, LedgerError> {
    let sources = sources
        .iter()
        .map(|dir| Store::open_to_read(dir.as_ref()))
        .collect::<Result<Vec<_>, _>>()?;
    let Some(first) = sources.first() else {
        return Err(LedgerError::NoRun {
            dir: into.to_owned(),
        });
    };
    for source in &sources {
        check_alike(first, source)?;
        source.info().check_plans(source.file(), plans)?;
    }
    std::fs::create_dir_all(into).map_err(|source| LedgerError::io(into, source))?;
    let _lock = DirLock::take(into)?;
    let target = if into.join(FILE).exists() {
        Store::open_to_write(into)?
    } else {
        let info = RunInfo {
            shard: Shard::WHOLE,
            program: super::program(),
            ..first.info().clone()
        };
        Store::create(into, &info)?
    };
    check_alike(first, &target)?;
    target.info().check_plans(target.file(), plans)?;
    let (mut copied, mut there) = (0, 0);
    for source in &sources {
        target.begin()?;
        for session in source.sessions()? {
            target.put_session(&session)?;
        }
        source.for_each(|entry| {
            let ranks = || {
                let key = entry.result.key;
                let mut plans = plans.iter();
                plans
                    .find(|plan| plan.engine() == key.engine)
                    .map_or(0..0, |plan| plan.task(key.index).ranks)
            };
            match target.insert(&entry, ranks)? {
                Inserted::New => copied += 1,
                Inserted::There => there += 1,
            }
            Ok(())
        })?;
        target.commit()?;
    }
    let count = first.info().shard.count();
    let alike = sources
        .iter()
        .all(|source| source.info().shard.count() == count);
    let sessions = target.sessions()?;
    Ok(Merged {
        elapsed: sessions.iter().map(|session| session.elapsed).sum(),
        sums: target.sums()?,
        division: if alike {
            first.info().shard
        } else {
            Shard::WHOLE
        },
        copied,
        there,
    })
}

/// Checks that two ledgers are of one board and the same engines.
fn check_alike(one: &Store, other: &Store) -> Result<(), LedgerError> {
    let [first, second] = [one, other].map(|store| store.info().subject());
    if first == second {
        return Ok(());
    }
    let directory = |store: &Store| store.file().parent().unwrap_or(Path::new(".")).to_owned();
    Err(LedgerError::Unlike {
        one: directory(one),
        first,
        other: directory(other),
        second,
    })
}
