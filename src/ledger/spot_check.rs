//! What a coordinator counts again itself before it prints a total: it has counted nothing, and believes nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::verify::{Findings, VerifySettings, WrongRecord, count_again};
use super::{Coverage, FILE, LedgerError, ProcessFacts, Recording, SecondCounts, Session, Store};
use crate::actors::{Finding, Flushed, RecordError, Recorder};
use crate::engine::{Plan, TaskKey};

/// Of so many tasks of a session, one is counted again.
const ONE_OF: u64 = 1000;

/// What is counted again without being asked for takes no longer: sessions without a last canary, those with the least
/// work first, and what others decided of a run that is merged.
pub(super) const CHEAP: Duration = Duration::from_secs(60);

/// What counting a sample again showed.
#[derive(Clone, Debug)]
pub struct SpotCheck {
    /// The tasks that were counted again.
    pub findings: Findings,
    /// The hosts of sessions without a last canary of which only the sample was counted again.
    pub unseen: BTreeSet<String>,
}

/// Counts again a random task of each session and of each thousand tasks of a session, and each task whose record was
/// corrected. Of the sessions that did not leave in order, so that their last canaries were not seen, all tasks are
/// counted again, as far as that is a minute of work; otherwise the sample has to do. `seconds`: what it takes to count
/// a task, by the plan: what the sessions themselves say is not believed.
///
/// # Errors
/// The ledger is damaged or of other plans. A wrong count is not an error but a finding.
pub fn spot_check(
    store: &Store,
    how: &VerifySettings<'_>,
    seconds: &dyn Fn(TaskKey) -> f64,
) -> Result<SpotCheck, LedgerError> {
    let all = store.sessions()?.into_iter();
    let facts = all.map(|Session { id, facts, .. }| (id, (facts.host, facts.took_leave)));
    let facts: BTreeMap<String, (String, bool)> = facts.collect();
    // One without a row has shown nothing.
    let is_sound = |session: &str| {
        facts
            .get(session)
            .is_some_and(|(_, took_leave)| *took_leave)
    };
    let mut sessions: BTreeMap<String, Sample> = BTreeMap::new();
    store.for_each(|entry| {
        let is_sound = is_sound(&entry.session);
        let sample = sessions.entry(entry.session).or_default();
        sample.add(entry.result.key);
        if !is_sound {
            sample.add_whole(entry.result.key, seconds);
        }
        Ok(())
    })?;
    let mut chosen = Coverage::none_of(store.info().n(), &store.info().plans);
    for logged in store.corrections()? {
        chosen.add(logged.task());
    }
    for sample in sessions.values() {
        for task in sample.drawn.iter().chain(&sample.candidate) {
            chosen.add(*task);
        }
    }
    let unsound = sessions
        .into_iter()
        .filter(|(session, _)| !is_sound(session));
    let mut unsound: Vec<(String, Sample)> = unsound.collect();
    unsound.sort_by(|(_, a), (_, b)| a.work.total_cmp(&b.work));
    let mut work = 0.0;
    let mut unseen = BTreeSet::new();
    for (session, sample) in unsound {
        work += sample.work;
        if work > CHEAP.as_secs_f64() {
            unseen.insert(
                facts
                    .get(&session)
                    .map_or(session, |(host, _)| host.clone()),
            );
            continue;
        }
        for task in sample.whole {
            chosen.add(task);
        }
    }
    let findings = count_again(store, how, &chosen)?;
    Ok(SpotCheck { findings, unseen })
}

/// Puts counts that contradict their records into the log: the tasks are contested from now on, and no command prints
/// a total before something has decided.
///
/// # Errors
/// Another process works on the directory, or the ledger cannot be written.
pub fn contest(
    dir: &Path,
    plans: &[Arc<dyn Plan>],
    process: &ProcessFacts,
    wrong: &[WrongRecord],
) -> Result<(), LedgerError> {
    let recording = Recording::resume(dir, plans, process)?;
    let counts = SecondCounts(Arc::new(recording));
    let file = dir.join(FILE);
    let failed = |error: RecordError| LedgerError::Database {
        file: file.clone(),
        reason: error.to_string(),
    };
    for counted in wrong.iter().filter_map(|wrong| wrong.counted.clone()) {
        counts.take(Finding::Result(counted)).map_err(&failed)?;
    }
    let (tell, told) = mpsc::channel();
    counts.flush(Flushed::new(move |done| {
        // The receiver waits for it.
        let _ = tell.send(done);
    }));
    told.recv().unwrap_or(Ok(())).map_err(failed)
}

/// The tasks of a session that are counted again.
#[derive(Default)]
struct Sample {
    tasks: u64,
    /// One of each thousand tasks.
    drawn: Vec<TaskKey>,
    /// One of the tasks since then.
    candidate: Option<TaskKey>,
    /// What it takes to count all of them, in seconds, if they are to be: more than [`CHEAP`], or all of it.
    work: f64,
    /// All of them, while that is cheap.
    whole: Vec<TaskKey>,
}

impl Sample {
    fn add(&mut self, task: TaskKey) {
        let place = self.tasks % ONE_OF;
        if place == 0 {
            self.drawn.extend(self.candidate.take());
        }
        // So each of the tasks since then is drawn with the same probability.
        if fastrand::u64(..=place) == 0 {
            self.candidate = Some(task);
        }
        self.tasks += 1;
    }

    fn add_whole(&mut self, task: TaskKey, seconds: &dyn Fn(TaskKey) -> f64) {
        if self.work > CHEAP.as_secs_f64() {
            return;
        }
        self.work += seconds(task);
        match self.work <= CHEAP.as_secs_f64() {
            true => self.whole.push(task),
            false => self.whole = Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
