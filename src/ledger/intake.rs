//! Records what other processes counted: the ledger of a run over many hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tracing::warn;

use super::digest::Digest;
use super::home::Home;
use super::host::unix_time;
use super::open_ledger::OpenLedger;
use super::party::party;
use super::plausible::objection;
use super::quorum::{Quorum, Standings};
use super::session_rows::{MOST_SESSIONS, REUSED_FROM};
use super::{Column, Coverage, DirLock, Entry, Facts, LedgerError, RunInfo, Session, Shard, Store};
use crate::actors::{Finding, Recorded};
use crate::engine::{Correction, Decision, Method, Plan, TaskKey, TaskResult};

/// How often the row of a session that records is written. It only tells when its process was last seen.
const SEEN_EVERY: Duration = Duration::from_secs(5);

/// A ledger to which one process writes what many counted, each in a session of its own.
///
/// It holds the lock of the directory. Nothing is recorded before [`write`](Self::write) returns, and then it
/// is on the disk.
pub struct Intake {
    store: Store,
    home: Home,
    plans: Vec<Arc<dyn Plan>>,
    recorded: Coverage,
    before: Duration,
    open: BTreeMap<String, OpenSession>,
    /// The ids in the ledger.
    known: BTreeSet<String>,
    /// A session of each machine and configuration.
    like: BTreeMap<Digest, String>,
    /// Of the latest session.
    number: u64,
    /// Where tasks are counted by two: what is known of each party.
    twice: Option<Standings>,
    _lock: DirLock,
}

/// The session of a process that takes part.
struct OpenSession {
    session: Session,
    since: Instant,
    /// When its row was written, if it was.
    written: Option<Instant>,
    /// Time of this process before the coordinator was started again.
    before: Duration,
    /// Whether its last canary speaks for all that the row stands for: not, if an earlier process of the row did not
    /// leave in order.
    vouches: bool,
}

/// The longest reason of a fault that is kept, in bytes: the ledger has those of each session.
const MOST_REASON: usize = 1 << 10;

/// A task that another party is to count, and who has counted it.
pub type Wanted = (TaskKey, BTreeSet<String>);

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Tasks that are recorded now and were not before, or were withdrawn.
    pub recorded: Vec<Recorded>,
    /// Tasks that are not recorded any more, or only since they were withdrawn: this comes first.
    pub withdrawn: Vec<TaskKey>,
    /// Tasks that were recorded already, with an equal count.
    pub again: u64,
    /// Where tasks are counted by two: tasks that another party is to count, and who has counted them.
    pub wanted: Vec<Wanted>,
    /// Where tasks are counted by two: tasks that two parties have counted, and which count is right.
    pub agreed: Vec<TaskKey>,
    /// If a party is trusted now that was not, or no longer: all tasks that another party is to count.
    pub all_wanted: Option<Vec<Wanted>>,
    /// Processes that delivered what no count of this run gives, and what. The rest of what they delivered was
    /// left out.
    pub refused: Vec<(String, String)>,
}

impl Written {
    /// Whether tasks are to be counted because of what was written.
    pub fn leaves_tasks(&self) -> bool {
        let all_wanted = self.all_wanted.iter().flatten();
        !self.withdrawn.is_empty() || !self.wanted.is_empty() || all_wanted.count() > 0
    }

    /// Notes that a task is withdrawn.
    fn withdraw(&mut self, task: TaskKey) {
        let before = self.recorded.len();
        self.recorded.retain(|recorded| recorded.key != task);
        self.wanted.retain(|(wanted, _)| *wanted != task);
        self.agreed.retain(|agreed| *agreed != task);
        if self.recorded.len() == before {
            self.withdrawn.push(task);
        }
    }
}

/// Why something delivered was not recorded.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// A task has two counts that differ. Both are in the log of the ledger, as an open correction, so that
    /// `run --again` decides.
    #[error("task {task} was counted as {} by {}, and as {} by {}", counts[0].1, counts[0].0, counts[1].1, counts[1].0)]
    Disagreement {
        /// The task.
        task: TaskKey,
        /// Who counted, and what: the record first.
        counts: Box<[(String, String); 2]>,
    },
    /// The ledger cannot be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl Intake {
    /// Makes the directory, unless it exists, and in it the ledger of a new run of `plans`, which `info` describes.
    ///
    /// # Errors
    /// There is a run in the directory, another process works on it, or it cannot be written.
    pub fn create(
        dir: &Path,
        info: &RunInfo,
        plans: &[Arc<dyn Plan>],
    ) -> Result<Self, LedgerError> {
        Self::begin(OpenLedger::create(dir, info, plans)?, plans)
    }

    /// Opens the ledger in `dir` to go on with its run, whose plans `plans` makes. It is opened once: to look through a
    /// ledger of millions of tasks takes seconds.
    ///
    /// # Errors
    /// There is none, it is damaged or of other plans or of a shard, another process works on the directory,
    /// or it cannot be written.
    pub fn resume(
        dir: &Path,
        plans: impl FnOnce(&RunInfo) -> Vec<Arc<dyn Plan>>,
    ) -> Result<Self, LedgerError> {
        let ledger = OpenLedger::resume(dir)?;
        let info = ledger.store.info();
        let plans = plans(info);
        info.check_plans(ledger.store.file(), &plans)?;
        Self::begin(ledger, &plans)
    }

    fn begin(ledger: OpenLedger, plans: &[Arc<dyn Plan>]) -> Result<Self, LedgerError> {
        let OpenLedger { store, home, lock } = ledger;
        let shard = store.info().shard;
        if shard != Shard::WHOLE {
            return Err(LedgerError::OtherPlan {
                file: store.file().to_owned(),
                reason: format!("it counts shard {shard} alone, not the whole run"),
            });
        }
        let sessions = store.sessions()?;
        let numbers = sessions.iter().map(|session| session.facts.number);
        Ok(Self {
            home,
            plans: plans.to_vec(),
            recorded: store.covered()?,
            before: Session::time(&sessions, false).elapsed,
            open: BTreeMap::new(),
            number: numbers.max().unwrap_or(0),
            twice: None,
            like: sessions
                .iter()
                .filter_map(|session| Some((session.facts.likeness()?, session.id.clone())))
                .collect(),
            known: sessions.into_iter().map(|session| session.id).collect(),
            store,
            _lock: lock,
        })
    }

    /// From now on, tasks are to be counted by two [parties](super::party). Returns the recorded tasks that lack the
    /// count of another one, and who has counted them.
    ///
    /// # Errors
    /// The ledger is damaged.
    pub fn count_twice(&mut self, quorum: Quorum) -> Result<Vec<Wanted>, LedgerError> {
        self.twice = Some(Standings::new(quorum));
        self.all_wanted()
    }

    /// How long processes worked on the run before.
    pub const fn before(&self) -> Duration {
        self.before
    }

    /// Which tasks were recorded when the ledger was opened.
    pub const fn recorded(&self) -> &Coverage {
        &self.recorded
    }

    /// What the run counts.
    pub const fn info(&self) -> &RunInfo {
        self.store.info()
    }

    /// Notes that a process takes part: the session with this id, which is not written before it delivers
    /// something. Its number is chosen here.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub fn join(&mut self, id: &str, facts: Facts) -> Result<(), LedgerError> {
        if self.open.contains_key(id) {
            return Ok(());
        }
        let likeness = facts.likeness();
        let before = match self.known.contains(id) {
            true => self.store.session(id)?,
            false => match self.like(id, likeness.as_ref()) {
                Some(like) => self.store.session(&like)?,
                None => None,
            },
        };
        let (session, vouches) = match before {
            // A worker that outlived its coordinator or delivers its journal, or one like it.
            Some(mut session) => {
                let left = std::mem::take(&mut session.facts.took_leave);
                let vouches = session.id == id || left;
                (session, vouches)
            }
            None => {
                self.number += 1;
                let session = Session {
                    id: id.to_owned(),
                    facts: Facts {
                        number: self.number,
                        took_leave: false,
                        merged: String::new(),
                        ..facts
                    },
                    elapsed: Duration::ZERO,
                    cpu: None,
                    committed: unix_time(),
                };
                (session, true)
            }
        };
        if let Some(likeness) = likeness {
            self.like.insert(likeness, session.id.clone());
        }
        self.open.insert(
            id.to_owned(),
            OpenSession {
                before: session.elapsed,
                session,
                since: Instant::now(),
                written: None,
                vouches,
            },
        );
        Ok(())
    }

    /// The session that a process of this likeness goes on with, if there are so many that it should, and nobody
    /// does so now.
    fn like(&self, id: &str, likeness: Option<&Digest>) -> Option<String> {
        if self.known.len() < REUSED_FROM {
            return None;
        }
        let like = self.like.get(likeness?)?;
        // Of another user, it would be counts of another party.
        let user = |session: &str| party(session, "");
        if user(like) != user(id) {
            return None;
        }
        let mut open = self.open.values();
        (!open.any(|open| open.session.id == *like)).then(|| like.clone())
    }

    /// Notes that processes take part no longer, and in the ledger which of them left in order.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn leave(&mut self, left: &[(String, bool)]) -> Result<(), LedgerError> {
        self.patiently(Store::begin)?;
        for (id, in_order) in left {
            if let Some(open) = self.open.get_mut(id) {
                // Who outlived an earlier coordinator may have delivered to that one alone.
                let is_own = open.session.id == *id && self.known.contains(id);
                if open.written.is_some() || (*in_order && is_own) {
                    open.session.facts.took_leave = *in_order && open.vouches;
                    self.put_session(id, true)?;
                }
            }
            self.open.remove(id);
        }
        self.patiently(Store::commit)
    }

    /// Records what processes delivered, in one transaction. Those that did not [join](Self::join) deliver
    /// nothing.
    ///
    /// # Errors
    /// Counts differ: then everything else is recorded, and the two are in the log. Or nothing is recorded.
    pub fn write(&mut self, delivered: &[(String, Vec<Finding>)]) -> Result<Written, IntakeError> {
        self.patiently(Store::begin)?;
        let mut written = Written::default();
        let mut differ = None;
        for (id, items) in delivered {
            let Some(session) = self.open.get(id).map(|open| open.session.id.clone()) else {
                continue;
            };
            if !self.known.contains(&session) && self.known.len() >= MOST_SESSIONS {
                let what = "the ledger takes no more sessions".to_owned();
                written.refused.push((id.clone(), what));
                continue;
            }
            self.put_session(id, false)?;
            self.known.insert(session.clone());
            for item in items {
                if let Some(what) = self.implausible(item) {
                    written.refused.push((id.clone(), what));
                    break;
                }
                match self.take((id, &session), item, &mut written) {
                    Err(error @ IntakeError::Disagreement { .. }) => {
                        differ.get_or_insert(error);
                    }
                    Err(other) => {
                        let _ = self.store.roll_back();
                        return Err(other);
                    }
                    Ok(()) => {}
                }
            }
        }
        if self.twice.as_mut().is_some_and(Standings::take_changed) {
            written.all_wanted = Some(self.all_wanted()?);
        }
        if let Err(error) = self.patiently(Store::commit) {
            let _ = self.store.roll_back();
            return Err(error.into());
        }
        self.home.check(&self.store)?;
        differ.map_or(Ok(written), Err)
    }

    /// Writes the rows of all sessions that recorded something, so that they say when each was last seen.
    ///
    /// # Errors
    /// The ledger cannot be written.
    pub fn close(&mut self) -> Result<(), LedgerError> {
        self.patiently(Store::begin)?;
        let ids: Vec<_> = self.open.keys().cloned().collect();
        for id in ids {
            if self.open[&id].written.is_some() {
                self.put_session(&id, true)?;
            }
        }
        self.patiently(Store::commit)
    }

    fn put_session(&mut self, id: &str, always: bool) -> Result<(), LedgerError> {
        let Some(open) = self.open.get_mut(id) else {
            return Ok(());
        };
        let due = |written: Instant| written.elapsed() >= SEEN_EVERY;
        if always || open.written.is_none_or(due) {
            open.session.elapsed = open.before + open.since.elapsed();
            open.session.committed = unix_time();
            self.store.put_session(&open.session)?;
            open.written = Some(Instant::now());
        }
        Ok(())
    }

    fn take(
        &mut self,
        (id, session): (&str, &str),
        item: &Finding,
        written: &mut Written,
    ) -> Result<(), IntakeError> {
        match item {
            Finding::Result(result) => self.take_result(session, result, written),
            Finding::Correction(correction) => self.take_correction(session, correction, written),
            Finding::Withdrawal(task) => {
                // Only what the process recorded itself, and not while others decide about it.
                let there = self.store.get(*task)?;
                let Some(record) = there.filter(|entry| entry.session == session) else {
                    return Ok(());
                };
                if self.twice.is_some() {
                    // What others have counted, they decide.
                    if self.is_counted_by_others(&record)? {
                        return Ok(());
                    }
                    self.note_doubt(id, &record)?;
                }
                self.store.withdraw(*task)?;
                written.withdraw(*task);
                Ok(())
            }
            Finding::TakenOut(sick) => {
                self.refute(session);
                if let Some(open) = self.open.get_mut(id)
                    && sick.reason.len() <= MOST_REASON
                    && !open.session.facts.sick.contains(sick)
                    && open.session.facts.sick.len() < super::recording::MOST_SICK
                {
                    open.session.facts.sick.push(sick.clone());
                }
                Ok(self.put_session(id, true)?)
            }
        }
    }

    fn take_result(
        &mut self,
        id: &str,
        result: &TaskResult,
        written: &mut Written,
    ) -> Result<(), IntakeError> {
        let entry = self.entry(id, result.clone());
        if self.store.put(Column::Record, &entry)? {
            written.recorded.push(result.into());
            let party = self.party(id);
            let standings = self.twice.as_ref();
            if standings.is_some_and(|of| of.wants_another(&party, result.key)) {
                let counted_by = BTreeSet::from([party]);
                written.wanted.push((result.key, counted_by));
            }
            return Ok(());
        }
        if self.twice.is_some() {
            return self.take_second(&entry, written);
        }
        written.again += 1;
        let Some(record) = self.store.get(result.key)? else {
            return Ok(());
        };
        if !record.result.tally.agrees_with(&result.tally) {
            // A journal may bring once more what was found wrong long ago.
            if self.is_refuted(id, result)? {
                return Ok(());
            }
            self.store.confirm(&entry, id, unix_time())?;
            return Err(self.disagreement(&record, &entry));
        }
        // What was delivered twice says nothing new.
        if record.session != entry.session {
            self.store.put(Column::Second, &entry)?;
        }
        Ok(())
    }

    /// A process may correct what it recorded itself. Whoever corrects the count of another process contradicts it,
    /// and does not decide.
    fn take_correction(
        &mut self,
        id: &str,
        correction: &Correction,
        written: &mut Written,
    ) -> Result<(), IntakeError> {
        let key = correction.recorded.key;
        let Some(record) = self.store.get(key)? else {
            return Ok(());
        };
        let differs = |result: &TaskResult| !result.tally.agrees_with(&correction.recorded.tally);
        if !correction.results().any(differs) {
            return Ok(());
        }
        let is_recorded = |result: &TaskResult| record.result.tally.agrees_with(&result.tally);
        let decision = correction.decision.as_ref();
        let is_of_record = is_recorded(&correction.recorded);
        if is_of_record && self.is_logged(correction)? {
            return Ok(());
        }
        if decision.is_some_and(|decision| is_recorded(&decision.result)) && !is_of_record {
            return Ok(());
        }
        let entries = correction.clone().map(|result| self.entry(id, result));
        let decides = decision.is_some_and(|decision| is_elsewhere(decision, &record.result));
        if is_of_record && decides && record.session == id && !self.is_confirmed(key, id)? {
            self.store.correct(&entries, id, unix_time())?;
            self.refute(id);
            written.wanted.extend(self.still_wanted(key)?);
            return Ok(());
        }
        let differing = entries
            .results()
            .filter(|entry| !is_recorded(&entry.result));
        let Some(last) = differing.last() else {
            return Ok(());
        };
        if self.twice.is_some() {
            return self.take_second(last, written);
        }
        self.store.confirm(last, id, unix_time())?;
        Err(self.disagreement(&record, last))
    }

    /// Whether the log has a correction of the same results: it was delivered before.
    fn is_logged(&self, correction: &Correction) -> Result<bool, LedgerError> {
        let log = self.store.corrections_of(correction.recorded.key)?;
        Ok(log.iter().any(|logged| {
            let results = logged.correction.results().map(|entry| &entry.result);
            results.eq(correction.results())
        }))
    }

    /// Whether another process than `id` has counted a task as it is recorded.
    fn is_confirmed(&self, task: TaskKey, id: &str) -> Result<bool, LedgerError> {
        let second = self.store.get_from(Column::Second, task)?;
        Ok(second.is_some_and(|second| second.session != id))
    }

    /// Whether a correction in the log has this result of this session, and decided against it.
    fn is_refuted(&self, id: &str, result: &TaskResult) -> Result<bool, LedgerError> {
        let log = self.store.corrections_of(result.key)?;
        Ok(log.iter().any(|logged| {
            let mut counts = logged.correction.results();
            logged.correction.decision.is_some()
                && counts.any(|entry| entry.session == id && entry.result == *result)
        }))
    }

    /// What is wrong with an item, if no process of this run can deliver it.
    fn implausible(&self, item: &Finding) -> Option<String> {
        let results: Vec<&TaskResult> = match item {
            Finding::Result(result) => vec![result],
            Finding::Correction(correction) => correction.results().collect(),
            Finding::Withdrawal(_) | Finding::TakenOut(_) => Vec::new(),
        };
        objection(&self.plans, &self.recorded, &results)
    }

    fn entry(&self, session: impl Into<String>, result: TaskResult) -> Entry {
        Entry {
            result,
            session: session.into(),
            recorded_at: unix_time(),
        }
    }

    fn host(&self, id: &str) -> String {
        let open = self.open.get(id);
        let host = open.map(|open| open.session.facts.host.clone());
        // A session of an earlier coordinator.
        let stored = || Some(self.store.session(id).ok()??.facts.host);
        host.or_else(stored).unwrap_or_else(|| id.to_owned())
    }

    fn disagreement(&self, record: &Entry, other: &Entry) -> IntakeError {
        let count = |entry: &Entry| {
            let origin = &entry.result.origin;
            let who = format!(
                "{} of {} ({}, session {})",
                origin.worker,
                self.host(&entry.session),
                origin.counted_by,
                entry.session
            );
            (who, entry.result.tally.exact())
        };
        IntakeError::Disagreement {
            task: record.result.key,
            counts: Box::new([count(record), count(other)]),
        }
    }

    /// The plans.
    pub fn plans(&self) -> &[Arc<dyn Plan>] {
        &self.plans
    }

    /// Begins or ends a transaction. While another program keeps the file locked, results wait.
    fn patiently(&self, step: fn(&Store) -> Result<(), LedgerError>) -> Result<(), LedgerError> {
        loop {
            match step(&self.store) {
                Err(error @ LedgerError::Busy { .. }) => {
                    warn!("{error}; results wait until it is free")
                }
                done => return done,
            }
        }
    }
}

/// Whether what decides was counted by another worker than the record, or by another kernel.
fn is_elsewhere(decision: &Decision, recorded: &TaskResult) -> bool {
    decision.method != Method::SameKernel || decision.result.origin.worker != recorded.origin.worker
}

mod twice;

#[cfg(test)]
mod tests;
