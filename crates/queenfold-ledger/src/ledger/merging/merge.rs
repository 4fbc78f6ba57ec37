//! Puts the records of several run directories into one, and takes them out again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::ledger::directory::lock::LOCK_FILE;
use crate::ledger::merging::copy_run::{Copied, OfArray};
use crate::ledger::{
    DirLock, Division, FILE, LedgerError, LedgerSums, RunInfo, Session, Sessions, Shard, Store,
    copy_run, files,
};
use queenfold::engine::TaskKey;
use queenfold::job::outcome;
use queenfold::outcome::Outcome;
use queenfold::words::several;

/// What a merge did.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The result, if every task is there and none is contested.
    pub outcome: Option<Outcome>,
    /// What the ledger holds now.
    pub sums: LedgerSums,
    /// How the run is divided, if the sources agree on that. It gives missing shards their names.
    pub division: Division,
    /// From the start of each process that counted it for the first time to its last commit, added up. `None`: certificates
    /// alone tell of some.
    pub elapsed: Option<Duration>,
    /// Records copied.
    pub copied: u64,
    /// Records that were there already, with the same result.
    pub there: u64,
    /// Second counts added: those of the sources, and records of tasks that another process had counted.
    pub seconds: u64,
    /// Corrections added to the log.
    pub corrections: u64,
    /// What was not taken, of each source.
    pub left_out: Vec<LeftOut>,
}

/// What was taken out of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenOut {
    /// Records.
    pub records: u64,
    /// The sessions that recorded them.
    pub sessions: u64,
    /// The ids of those that stay, because they did not come by a merge.
    pub kept: Vec<String>,
}

/// Tasks of a source that were left out.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// Its directory.
    pub dir: PathBuf,
    /// How many.
    pub tasks: u64,
    /// The first of them.
    pub first: TaskKey,
    /// The shard of a job array that it counts, and none of these.
    pub shard: Option<Shard>,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tasks = several(self.tasks, "task");
        write!(
            f,
            "{}: {tasks} left out, from {} on: ",
            self.dir.display(),
            self.first
        )?;
        match self.shard {
            Some(shard) => write!(f, "not of shard {shard}"),
            None => f.write_str("counts in the name of sessions of this run or of another source; `resume` counts these tasks"),
        }
    }
}

/// Copies the records of all `sources` into the ledger in `into`, which is made if there is none. Each source is opened when
/// its turn comes, and closed before the next one: the system limits the number of open files.
///
/// A task that two runs counted with the same result keeps the record that is there, and the other one
/// becomes its second count; what a key has signed is counted once by its owner, in however many files. Where the results
/// differ, and a correction in one of the logs names both, the task is counted here, and that decides.
///
/// The sources are only read; they are the shards of `array`, if there is one. Either all of them are copied, or `into` stays as it was.
///
/// # Errors
/// A source cannot be opened, or there is none; the sources or `into` are of different boards or engines; one of them is of
/// another program's plans of another version, damaged, or counted a task differently; the whole contradicts itself or a
/// known count; `into` cannot be written, or another process works on it.
pub fn merge<E: From<LedgerError>>(
    sources: impl IntoIterator<Item = Result<Store, E>>,
    array: Option<&OfArray<'_>>,
    into: &Path,
) -> Result<Merged, E> {
    let mut sources = sources.into_iter();
    let Some(first) = sources.next().transpose()? else {
        return Err(LedgerError::NoRun(into.to_owned()).into());
    };
    let (first_path, info) = (first.place().to_owned(), first.info().clone());
    let plans = first.plans()?;
    let mut target = Target::open(into, &info)?;
    check_alike((&first_path, &info), (into, target.store.info()))?;
    target.store.check_plans(&plans)?;
    let mut copied = Copied::default();
    let mut sessions = Sessions::of(target.store.sessions()?);
    target.store.begin()?;
    let mut left_out = Vec::new();
    let mut files = BTreeMap::new();
    let divided = |shard: Shard| (shard.count(), shard.is_by_cost());
    let mut is_one_division = true;
    for source in std::iter::once(Ok(first)).chain(sources) {
        let store = source?;
        let (path, shard) = (store.place(), array.map(|_| store.info().shard));
        check_alike((&first_path, &info), (path, store.info()))?;
        store.check_plans(&plans)?;
        is_one_division &= divided(store.info().shard) == divided(info.shard);
        let theirs = store.sessions()?;
        let is_of_array = |key| array.is_some_and(|array| array.key.as_deref() == Some(key));
        let merged = match (store.signer(), shard) {
            (Some(key), _) if !is_of_array(key) => Session::mark_of_key(key),
            (_, Some(shard)) => Session::mark_of(shard),
            (_, None) => came_with(&theirs, &sessions),
        };
        let mut own = BTreeSet::new();
        for mut session in theirs {
            // What came into a shard by a merge keeps its mark.
            if shard.is_none() || session.facts.merged.is_empty() {
                session.facts.merged.clone_from(&merged);
            }
            let there = sessions.get(&session.id);
            // Nobody counts in the name of a session that counted here, or that came from another directory or shard. One
            // that others say came from there may come from there.
            let is_alike = there.is_none_or(|there| {
                there.facts.merged == session.facts.merged && (shard.is_some() || !there.is_here())
            });
            let is_gathered = there.is_some_and(Session::is_gathered);
            let is_own = is_alike || shard.is_some() && session.is_here() && !is_gathered;
            if let Some(there) = there {
                let is_on = there.facts.is_on(&session.facts);
                if is_on && session.facts.is_of_certificate() {
                    session.facts = there.facts.clone();
                }
                session.facts.merged.clone_from(&there.facts.merged);
                // It changes where first counts are taken out.
                session.facts.again = there.facts.again;
                let is_less = is_on && there.facts.is_of_certificate();
                if !is_less && there.facts != session.facts {
                    let what = format!(
                        "its session {} is not the session of this id in {}; one of the two is forged",
                        session.id,
                        path.display()
                    );
                    let other = files.get(&session.id).map(PathBuf::as_path);
                    return Err(LedgerError::other(other.unwrap_or(into), what).into());
                }
            }
            if !is_own {
                continue;
            }
            own.insert(session.id.clone());
            files
                .entry(session.id.clone())
                .or_insert_with(|| path.to_owned());
            if is_alike && there.is_none_or(|there| there.elapsed < session.elapsed) {
                target.store.put_session(&session)?;
                sessions.0.insert(session.id.clone(), session);
            }
        }
        let known = (&sessions, &files);
        let division = array.map(|array| array.division);
        let from = (&store, division);
        copy_run::copy(from, &own, &target.store, known, &plans, &mut copied)?;
        let tasks = std::mem::take(&mut copied.left_out);
        left_out.extend(tasks.first().map(|&first| LeftOut {
            dir: path.to_owned(),
            tasks: tasks.len() as u64,
            first,
            shard: shard.filter(|shard| division.is_some_and(|of| !of.holds(*shard, first))),
        }));
    }
    let sums = target.store.sums()?;
    let is_result = sums.coverage.is_whole() && sums.contested.is_empty();
    let counting = plans.first().filter(|_| is_result);
    let outcome = counting.map(|plan| outcome(plan.as_ref(), |engine| sums.tallies.get(&engine)));
    let outcome = outcome.transpose().map_err(LedgerError::from)?;
    target.commit()?;
    Ok(Merged {
        elapsed: sessions
            .0
            .values()
            .filter(|session| !session.facts.again)
            .map(|session| (!session.facts.is_of_certificate()).then_some(session.elapsed))
            .sum(),
        sums,
        division: match is_one_division {
            true => Division::new(info.shard, &plans),
            false => Division::none(),
        },
        copied: copied.records,
        there: copied.there,
        seconds: copied.seconds,
        corrections: copied.corrections,
        left_out,
        outcome,
    })
}

/// Removes from the run in `from` what the sessions of the run in `source`, which `open` opens, recorded: `source` was merged
/// into it and is not trusted any more. In the place of a path, `source` may be the id of a session. What is removed
/// is counted again when the run is resumed.
///
/// # Errors
/// `source` cannot be opened; they are of different boards or engines; no session of `source` came by a merge; one of them is
/// damaged; `from` cannot be written, or another process works on it.
pub fn take_out(
    source: &Path,
    from: &Path,
    open: impl FnOnce(&Path) -> Result<Store, LedgerError>,
) -> Result<TakenOut, LedgerError> {
    let _lock = DirLock::take(from)?;
    let target = Store::open_to_write(from)?;
    let is_named = |session: &Session| Path::new(&session.id) == source;
    let mut sessions = target.sessions()?;
    let mut kept = Vec::new();
    if source.exists() || !sessions.iter().any(is_named) {
        let source_store = open(source)?;
        check_alike((source, source_store.info()), (from, target.info()))?;
        let theirs = source_store.sessions()?.into_iter();
        let theirs: BTreeSet<String> = theirs.map(|session| session.id).collect();
        let shard = Session::mark_of(source_store.info().shard);
        let key = source_store.signer().map(Session::mark_of_key);
        let is_of_other = |session: &Session| match &key {
            Some(key) => ![key, &shard].contains(&&session.facts.merged),
            None => session.is_gathered() && session.facts.merged != shard,
        };
        sessions.retain(|session| theirs.contains(&session.id) && !is_of_other(session));
        let own = sessions.extract_if(.., |session| session.facts.merged.is_empty());
        kept = own.map(|session| session.id).collect();
        if sessions.is_empty() && !kept.is_empty() {
            return Err(LedgerError::Unfit(kept_sessions(from, &kept)));
        }
    } else {
        sessions.retain(is_named);
    }
    let mut taken = TakenOut {
        records: 0,
        sessions: sessions.len() as u64,
        kept,
    };
    target.begin()?;
    for session in sessions {
        taken.records += target.remove_session(&session.id)?;
    }
    target.commit()?;
    Ok(taken)
}

/// Which sessions of the run in `dir` are not taken out.
pub fn kept_sessions(dir: &Path, sessions: &[String]) -> String {
    format!(
        "{}: not taken out: {} that counted here or came by `gather`: give an id in the place of the directory to \
         take one out: {}",
        dir.display(),
        several(sessions.len() as u64, "session"),
        sessions.join(", ")
    )
}

/// Which merged directory the sessions of a source are said to come from: the one that some of them came from before, or a new
/// one.
fn came_with(theirs: &[Session], known: &Sessions) -> String {
    let before = theirs.iter().filter_map(|session| known.get(&session.id));
    let before = before.map(|session| &session.facts.merged);
    let new = theirs
        .iter()
        .filter(|session| known.get(&session.id).is_none());
    let first = new.min_by_key(|session| (session.facts.number, &session.id));
    // Whoever knows a session that was gathered or signed does not count in the name of its shard or key.
    let is_of_directory = |mark: &&String| !mark.is_empty() && !mark.contains(' ');
    let mark = before.filter(is_of_directory).min();
    let mark = mark.or(first.map(|session| &session.id).filter(is_of_directory));
    mark.cloned().unwrap_or_else(|| "directory".to_owned())
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
        if !into.join(crate::ledger::FILE).exists() {
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
            program: crate::ledger::program(),
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
pub(crate) fn check_alike(
    one: (&Path, &RunInfo),
    other: (&Path, &RunInfo),
) -> Result<(), LedgerError> {
    let [first, second] = [one, other].map(|(_, info)| info.subject());
    if first == second {
        return Ok(());
    }
    Err(LedgerError::Unfit(format!(
        "{} holds {first}, and {} holds {second}: only runs of the same board by the same engines can be gathered \
         or compared",
        one.0.display(),
        other.0.display()
    )))
}
