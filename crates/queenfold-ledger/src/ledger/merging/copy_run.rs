//! Copies one run into another: records, second counts, corrections.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::ledger::records::second_counts::agree;
use crate::ledger::{
    Column, Division, Entry, LedgerError, LoggedCorrection, RecordedTask, Sessions, Store,
};
use queenfold::engine::{CheckedBy, Mismatch, Plan, Tally, TaskKey, Verdict, verdict};

/// What others decided of a run that is merged is counted again here for so long.
const CHEAP: Duration = Duration::from_secs(60);

/// What was copied.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copied {
    /// Records.
    pub records: u64,
    /// Tasks that had a record with the same result.
    pub there: u64,
    /// Second counts, and records that became one.
    pub seconds: u64,
    /// Corrections.
    pub corrections: u64,
    /// Tasks of the source that were left out.
    pub left_out: BTreeSet<TaskKey>,
    /// How long tasks were counted here.
    counting: Duration,
}

/// The job array whose shards are merged. Of each, its own tasks alone are taken. Its hosts are those of the array, so what
/// they say of second counts is believed.
pub struct OfArray<'a> {
    /// How it is divided.
    pub division: &'a Division,
    /// The key that signs what its hosts send, in hexadecimal digits, if they share nothing.
    pub key: Option<String>,
}

/// Copies what `source` holds into `target`, within its open transaction, of a shard of an array with this `division` its own
/// tasks. `own` are the sessions that came from there, and
/// `files` tells where those of this merge came from. The `sessions` are there.
pub(crate) fn copy(
    (source, division): (&Store, Option<&Division>),
    own: &BTreeSet<String>,
    target: &Store,
    (sessions, files): (&Sessions, &BTreeMap<String, PathBuf>),
    plans: &[Arc<dyn Plan>],
    copied: &mut Copied,
) -> Result<(), LedgerError> {
    let mut merge = Merge {
        target,
        own: by_task(target.corrections()?),
        theirs: by_task(source.corrections()?),
        sessions,
        settled: BTreeSet::new(),
        plans,
        copied,
        source,
        division,
        own_sessions: own,
        files,
    };
    source.walk(true, |task| merge.add(&task))?;
    merge.add_corrections()
}

fn by_task(log: Vec<LoggedCorrection>) -> Log {
    let mut tasks = Log::new();
    for logged in log {
        tasks.entry(logged.task()).or_default().push(logged);
    }
    tasks
}

type Log = BTreeMap<TaskKey, Vec<LoggedCorrection>>;

fn is_open(log: &Log, task: TaskKey) -> Option<bool> {
    Some(log.get(&task)?.last()?.is_open())
}

/// The process that decided for `right`, and against the result `wrong`.
fn decided<'a>(log: &'a Log, right: &Entry, wrong: &Entry) -> Option<&'a str> {
    let mut log = log.get(&right.result.key).into_iter().flatten();
    let decides = |logged: &&LoggedCorrection| {
        let correction = &logged.correction;
        let decision = correction.decision.as_ref();
        decision.is_some_and(|decision| agree(&decision.result, right))
            && correction.results().any(|result| agree(result, wrong))
    };
    log.find(decides).map(|logged| logged.session.as_str())
}

struct Merge<'a> {
    source: &'a Store,
    /// Of a job array, how it is divided.
    division: Option<&'a Division>,
    /// The sessions that came from there. Nobody else's counts are taken: whoever holds a copy of a run could count in the
    /// name of its sessions.
    own_sessions: &'a BTreeSet<String>,
    /// Where the sessions of this merge came from.
    files: &'a BTreeMap<String, PathBuf>,
    target: &'a Store,
    /// The log of the target, and that of the source.
    own: Log,
    theirs: Log,
    /// The sessions of both.
    sessions: &'a Sessions,
    /// What the log of the source decides, and a count here has confirmed.
    settled: BTreeSet<TaskKey>,
    plans: &'a [Arc<dyn Plan>],
    copied: &'a mut Copied,
}

impl Merge<'_> {
    fn add(&mut self, task: &RecordedTask) -> Result<(), LedgerError> {
        let theirs = &task.record;
        let key = theirs.result.key;
        if !self.is_of_shard(key) {
            self.copied.left_out.insert(key);
            return Ok(());
        }
        let Some(there) = self.target.get(key)? else {
            if !self.is_of_source(theirs) || !self.is_log_of_source(key) {
                self.copied.left_out.insert(key);
                return Ok(());
            }
            return self.insert(task);
        };
        if agree(&there, theirs) {
            self.copied.there += 1;
            let [own, their] = [&self.own, &self.theirs].map(|log| is_open(log, key));
            let decides = (own, their) == (Some(true), Some(false));
            if decides || their == Some(true) && own != their && !self.takes_log(&there) {
                self.settle(&there, None, &[theirs, &there])?;
                if decides {
                    self.settled.insert(key);
                }
            }
            // A count of another process confirms the one that is there; the same count, recorded in two places, does not.
            // A file does not tell all of a count, and its owner counts once.
            let signer = self.sessions.signer(&there.session);
            let is_told = signer.is_some() || self.source.signer().is_some();
            let is_other = |entry: &&Entry| match entry.session != there.session {
                true => signer.is_none() || self.sessions.signer(&entry.session) != signer,
                false => !is_told && entry.result.origin != there.result.origin,
            };
            let mut other = task.second.iter().chain([theirs]);
            return self.add_second(&there, other.find(is_other));
        }
        let own = decided(&self.own, &there, theirs);
        if own.is_some_and(|session| self.sessions.is_here(session)) {
            self.copied.there += 1;
            return Ok(());
        }
        let is_own = own.is_some();
        let is_theirs = decided(&self.theirs, theirs, &there).is_some();
        let second = self.target.get_from(Column::Second, key)?;
        let mut counts = vec![theirs, &there];
        counts.extend(&second);
        let is_here = |entry: &&Entry| self.sessions.is_here(&entry.session);
        let is_twice_here = second.is_some() && counts[1..].iter().all(is_here);
        if is_twice_here || !(is_own || is_theirs) {
            return Err(self.refused(key, &counts, None));
        }
        if is_theirs {
            self.settle(theirs, None, &counts)?;
        } else if self.settle(&there, Some(theirs), &counts)? == 0 {
            self.copied.there += 1;
            return Ok(());
        }
        self.target.withdraw(key)?;
        self.own.remove(&key);
        self.settled.insert(key);
        self.insert(task)
    }

    fn insert(&mut self, task: &RecordedTask) -> Result<(), LedgerError> {
        self.target.put(Column::Record, &task.record)?;
        self.copied.records += 1;
        self.add_second(&task.record, task.second.as_ref())
    }

    /// Adds a second count to a record, in the place of one that confirms nothing, or less because it was made on the same
    /// host.
    fn add_second(&mut self, record: &Entry, second: Option<&Entry>) -> Result<(), LedgerError> {
        let Some(second) = second else {
            return Ok(());
        };
        let key = second.result.key;
        let there = self.target.get_from(Column::Second, key)?;
        if there.as_ref() == Some(second) {
            return Ok(());
        }
        if !self.is_of_source(second) {
            self.copied.left_out.insert(key);
            return Ok(());
        }
        let host = |entry: &Entry| self.sessions.host(&entry.session);
        let is_claim = |entry: &Entry| self.sessions.claim(&record.session, &entry.session);
        let worth = |entry: &Entry| (!is_claim(entry), host(entry) != host(record));
        if there.is_some_and(|there| worth(&there) < worth(second)) {
            self.target.remove(Column::Second, key)?;
        }
        self.copied.seconds += u64::from(self.target.put(Column::Second, second)?);
        Ok(())
    }

    /// Appends what the log of the target does not hold yet, of the tasks that were taken from the source.
    fn add_corrections(&mut self) -> Result<(), LedgerError> {
        let tasks: Vec<TaskKey> = self.theirs.keys().copied().collect();
        for task in tasks {
            let records = (self.target.get(task)?, self.source.get(task)?);
            let (Some(record), Some(recorded)) = records else {
                continue;
            };
            let takes = self.takes_log(&record) && self.is_of_shard(task);
            let takes = takes && agree(&record, &recorded);
            let theirs = self.theirs.remove(&task).unwrap_or_default();
            if !takes && !self.settled.contains(&task) {
                continue;
            }
            let own = self.own.entry(task).or_default();
            for logged in theirs {
                if own.iter().any(|own| own.repeats(&logged)) {
                    continue;
                }
                let logged = LoggedCorrection {
                    number: own.len() as u64,
                    ..logged
                };
                self.target.log(&logged)?;
                own.push(logged);
                self.copied.corrections += 1;
            }
        }
        Ok(())
    }

    fn is_of_shard(&self, task: TaskKey) -> bool {
        let shard = self.source.info().shard;
        self.division
            .is_none_or(|division| division.holds(shard, task))
    }

    fn is_of_source(&self, entry: &Entry) -> bool {
        self.own_sessions.contains(&entry.session)
    }

    /// Whether the source has no log of a task, or one that tells of its own sessions alone.
    fn is_log_of_source(&self, task: TaskKey) -> bool {
        let log = self.theirs.get(&task).into_iter().flatten();
        log.map(|logged| (&logged.correction, &logged.session))
            .all(|(correction, session)| {
                self.own_sessions.contains(session)
                    && correction.results().all(|entry| self.is_of_source(entry))
            })
    }

    /// Whether the log of a task comes from the source: it does with its record.
    fn takes_log(&self, record: &Entry) -> bool {
        self.is_of_source(record) && self.is_log_of_source(record.result.key)
    }

    /// Counts a task here, by another kernel than `one` was counted by, and tells whether `one` stands (0) or `other` (1). If
    /// neither does, the source is refused: `counts` are all that are known.
    fn settle(
        &mut self,
        one: &Entry,
        other: Option<&Entry>,
        counts: &[&Entry],
    ) -> Result<usize, LedgerError> {
        let key = one.result.key;
        if self.copied.counting > CHEAP {
            return Err(LedgerError::other(
                self.source.place(),
                "its log decides more tasks than are checked in a minute; nothing is gathered: gather it into a new \
                 directory, or remove that of what was gathered and gather again",
            ));
        }
        let mut plans = self.plans.iter();
        let plan = plans.find(|plan| plan.engine() == key.engine);
        let begun = Instant::now();
        let here = plan.map(|plan| {
            let first = &one.result.origin.counted_by;
            let other = CheckedBy::OtherKernel.against(plan.as_ref(), first);
            let mut counter = other.counter(plan.as_ref());
            let counted = counter.count(&plan.task(key.index));
            (counter.backend(), counted)
        });
        self.copied.counting += begun.elapsed();
        if let Some((_, Ok(tally))) = &here {
            let said = [one].into_iter().chain(other);
            let said = said.map(|entry| (Some(entry.session.as_str()), &entry.result.tally));
            let all: Vec<_> = said.chain([(None, tally)]).collect();
            match verdict(&all) {
                Verdict::Stands(at) => return Ok(at),
                Verdict::Open | Verdict::Contradicts(_) => {}
            }
        }
        Err(self.refused(key, counts, here))
    }

    /// Counts of a task, each with who made it, that differ from each other or from the one made here.
    fn refused(
        &self,
        task: TaskKey,
        counts: &[&Entry],
        here: Option<(&'static str, Result<Tally, Mismatch>)>,
    ) -> LedgerError {
        let words = |(at, entry): (usize, &&Entry)| {
            let (result, host) = (&entry.result, self.sessions.host(&entry.session));
            // What the source says is the first count, in whosever name.
            let (file, signer) = match at {
                0 => (Some(self.source.place()), self.source.signer()),
                _ => (
                    self.files.get(&entry.session).map(PathBuf::as_path),
                    self.sessions.signer(&entry.session),
                ),
            };
            let file = file.map(|file| format!(", {}", file.display()));
            let signer = signer.map(|key| format!(", signed by {key}"));
            format!(
                "{} by {} ({} of {}, session {}{}{})",
                result.tally.exact(),
                result.origin.counted_by,
                result.origin.worker,
                host.map_or("an unknown host", String::as_str),
                entry.session,
                file.unwrap_or_default(),
                signer.unwrap_or_default()
            )
        };
        let here = here.map(|(kernel, counted)| match counted {
            Ok(tally) => format!("{} by {kernel}, counted here", tally.exact()),
            Err(error) => format!("{kernel} failed here: {error}"),
        });
        let counts: Vec<_> = counts.iter().enumerate().map(words).chain(here).collect();
        LedgerError::Counts(format!(
            "{}: task {task} was counted as {}; nothing is gathered",
            self.source.place().display(),
            counts.join(", and as ")
        ))
    }
}
