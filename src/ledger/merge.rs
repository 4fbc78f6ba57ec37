//! Puts the records of several run directories into one, and takes them out again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::lock::LOCK_FILE;
use super::merge_source::Copied;
use super::{
    DirLock, Division, FILE, LedgerError, LedgerSums, RunInfo, Session, Shard, Store, files,
    merge_source,
};
use crate::engine::{Engine, Plan, TaskKey};
use crate::outcome::Outcome;

/// What a merge did.
#[derive(Clone, Debug)]
pub struct Merged {
    /// What the ledger holds now.
    pub sums: LedgerSums,
    /// How the run is divided, if the sources agree on that. It gives missing shards their names.
    pub division: Division,
    /// From the start of each process that counted it for the first time to its last commit, added up.
    pub elapsed: Duration,
    /// Records copied.
    pub copied: u64,
    /// Records that were there already, with the same result.
    pub there: u64,
    /// Second counts added: those of the sources, and records of tasks that another process had counted.
    pub seconds: u64,
    /// Corrections added to the log.
    pub corrections: u64,
}

/// What was taken out of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TakenOut {
    /// Records.
    pub records: u64,
    /// The sessions that recorded them.
    pub sessions: u64,
}

/// Copies the records of all `sources` into the ledger in `into`, which is made if there is none.
///
/// A task that two runs counted with the same result keeps the record that is there, and the other one
/// becomes its second count. Where the results differ, a correction in one of the logs that names both
/// decides.
///
/// The sources are only read. Either all of them are copied, or `into` stays as it was.
///
/// # Errors
/// The sources or `into` are of different boards or engines; one of them is of another program's
/// plans of another version, damaged, or counted a task differently; the whole contradicts itself or a
/// known count; `into` cannot be written, or another process works on it.
pub fn merge<P: AsRef<Path>>(
    sources: &[P],
    into: &Path,
    plans: &[Arc<dyn Plan>],
) -> Result<Merged, LedgerError> {
    let mut infos: Vec<(&Path, RunInfo)> = Vec::new();
    // One source is open at a time: the system limits the number of open files.
    for dir in sources {
        let source = Store::open_to_read(dir.as_ref())?;
        let (first, first_info) = infos
            .first()
            .map_or((dir.as_ref(), source.info()), |(dir, info)| (*dir, info));
        check_alike((first, first_info), (dir.as_ref(), source.info()))?;
        source.info().check_plans(source.file(), plans)?;
        infos.push((dir.as_ref(), source.info().clone()));
    }
    let Some((first, info)) = infos.first() else {
        return Err(LedgerError::NoRun {
            dir: into.to_owned(),
        });
    };
    let mut target = Target::open(into, info)?;
    check_alike((first, info), (into, target.store.info()))?;
    target
        .store
        .info()
        .check_plans(target.store.file(), plans)?;
    let mut copied = Copied::default();
    let ranks = |task: TaskKey| {
        let mut plans = plans.iter();
        plans
            .find(|plan| plan.engine() == task.engine)
            .map_or(0..0, |plan| plan.ranks_of(task.index))
    };
    let sessions = target.store.sessions()?;
    let mut sessions: BTreeMap<_, _> = sessions.into_iter().map(|s| (s.id.clone(), s)).collect();
    target.store.begin()?;
    for (dir, _) in &infos {
        let source = Store::open_to_read(dir)?;
        for session in source.sessions()? {
            if let Some(session) = later(&target.store, sessions.get(&session.id), session)? {
                target.store.put_session(&session)?;
                sessions.insert(session.id.clone(), session);
            }
        }
        merge_source::copy(&source, &target.store, &ranks, &mut copied)?;
    }
    let sums = target.store.sums()?;
    if sums.coverage.is_whole()
        && sums.contested.is_empty()
        && let Some(counting) = plans.first()
    {
        let tally = |engine| sums.tallies.get(&engine);
        let all = tally(counting.engine()).copied().unwrap_or_default();
        Outcome::new(counting.given(), &all, tally(Engine::Census))?;
    }
    target.commit()?;
    let division = |shard: Shard| (shard.count(), shard.is_by_cost());
    let of_first = division(info.shard);
    let alike = infos
        .iter()
        .all(|(_, info)| division(info.shard) == of_first);
    Ok(Merged {
        elapsed: sessions
            .values()
            .filter(|session| !session.facts.again)
            .map(|session| session.elapsed)
            .sum(),
        sums,
        division: if alike {
            Division::new(info.shard, plans)
        } else {
            Division::none()
        },
        copied: copied.records,
        there: copied.there,
        seconds: copied.seconds,
        corrections: copied.corrections,
    })
}

/// Removes from the run in `from` what the sessions of the run in `source` recorded: `source` was merged
/// into it and is not trusted any more. What is removed is counted again when the run is resumed.
///
/// # Errors
/// They are of different boards or engines; one of them is damaged; `from` cannot be written, or another
/// process works on it.
pub fn take_out(source: &Path, from: &Path) -> Result<TakenOut, LedgerError> {
    let source_store = Store::open_to_read(source)?;
    let _lock = DirLock::take(from)?;
    let target = Store::open_to_write(from)?;
    check_alike((source, source_store.info()), (from, target.info()))?;
    let theirs = source_store.sessions()?.into_iter();
    let theirs: BTreeSet<String> = theirs.map(|session| session.id).collect();
    let mut taken = TakenOut {
        records: 0,
        sessions: 0,
    };
    target.begin()?;
    for session in target.sessions()? {
        if theirs.contains(&session.id) {
            taken.records += target.remove_session(&session.id)?;
            taken.sessions += 1;
        }
    }
    target.commit()?;
    Ok(taken)
}

/// The session of a source as it is to be stored; `None` if `there`, the stored one of that id, is as
/// late or later.
fn later(
    target: &Store,
    there: Option<&Session>,
    theirs: Session,
) -> Result<Option<Session>, LedgerError> {
    match there {
        Some(there) if there.facts != theirs.facts => Err(LedgerError::OtherSession {
            file: target.file().to_owned(),
            id: theirs.id,
        }),
        Some(there) if there.elapsed >= theirs.elapsed => Ok(None),
        _ => Ok(Some(theirs)),
    }
}

/// The run that receives. What this made is removed again, unless it is committed.
struct Target {
    store: Store,
    made: Option<Made>,
    _lock: DirLock,
}

/// A run that was made, in a directory that was perhaps there already.
struct Made {
    dir: PathBuf,
    with_directory: bool,
    keep: bool,
}

impl Target {
    fn open(into: &Path, info: &RunInfo) -> Result<Self, LedgerError> {
        let with_directory = !into.exists();
        if !into.join(super::FILE).exists() {
            files::expect_outside(into)?;
        }
        files::make_directory(into)?;
        if !files::has_ledger(into)? {
            files::expect_no_others(into)?;
        }
        let lock = DirLock::take(into)?;
        if files::has_ledger(into)? {
            return Ok(Self {
                store: Store::open_to_write(into)?,
                made: None,
                _lock: lock,
            });
        }
        let info = RunInfo {
            shard: Shard::WHOLE,
            program: super::program(),
            ..info.clone()
        };
        // From here on, what is made is removed if something fails.
        let made = Made {
            dir: into.to_owned(),
            with_directory,
            keep: false,
        };
        Ok(Self {
            store: Store::create(into, &info)?,
            made: Some(made),
            _lock: lock,
        })
    }

    fn commit(&mut self) -> Result<(), LedgerError> {
        self.store.commit()?;
        if let Some(made) = &mut self.made {
            made.keep = true;
        }
        Ok(())
    }
}

impl Drop for Made {
    /// Nothing but what this process made is removed: the directory only if it is empty.
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        let file = self.dir.join(FILE);
        for suffix in files::BESIDE {
            let _ = fs::remove_file(files::beside(&file, suffix));
        }
        let _ = fs::remove_file(file);
        let _ = fs::remove_file(self.dir.join(LOCK_FILE));
        if self.with_directory {
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// Checks that two ledgers are of one board and the same engines.
fn check_alike(one: (&Path, &RunInfo), other: (&Path, &RunInfo)) -> Result<(), LedgerError> {
    let [first, second] = [one, other].map(|(_, info)| info.subject());
    if first == second {
        return Ok(());
    }
    Err(LedgerError::Unlike {
        one: one.0.to_owned(),
        first,
        other: other.0.to_owned(),
        second,
    })
}
