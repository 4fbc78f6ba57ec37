//! What a coordinator counts again itself before it prints a total: it has counted nothing, and believes nobody.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::verify::{Findings, VerifySettings, WrongRecord, count_again};
use super::{Coverage, FILE, LedgerError, ProcessFacts, Recording, SecondCounts, Store};
use crate::actors::{Finding, Flushed, RecordError, Recorder};
use crate::engine::{Plan, TaskKey};

/// Of so many tasks of a session, one is counted again.
const ONE_OF: u64 = 1000;

/// Sessions without a last canary are counted again whole, those with the least work first, while all of that took
/// them no longer.
const CHEAP: Duration = Duration::from_secs(60);

/// Counts again a random task of each session and of each thousand tasks of a session, and each task whose record was
/// corrected. `sound`: the sessions whose last canary was right. Of the others, all tasks are counted again, as far as
/// that is a minute of work; otherwise the sample has to do.
///
/// # Errors
/// The ledger is damaged or of other plans. A wrong count is not an error but a finding.
pub fn spot_check(
    store: &Store,
    how: &VerifySettings<'_>,
    sound: &BTreeSet<String>,
) -> Result<Findings, LedgerError> {
    let mut sessions: BTreeMap<String, Sample> = BTreeMap::new();
    store.for_each(|entry| {
        let sample = sessions.entry(entry.session).or_default();
        sample.add(entry.result.key, entry.result.duration);
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
        .filter(|(session, _)| !sound.contains(session));
    let mut unsound: Vec<Sample> = unsound.map(|(_, sample)| sample).collect();
    unsound.sort_by_key(|sample| sample.work);
    let mut work = Duration::ZERO;
    for sample in unsound {
        work = work.saturating_add(sample.work);
        if work > CHEAP {
            break;
        }
        for task in sample.all {
            chosen.add(task);
        }
    }
    count_again(store, how, &chosen)
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
    /// What the session says that all of them took.
    work: Duration,
    /// All tasks, while they are cheap.
    all: Vec<TaskKey>,
}

impl Sample {
    fn add(&mut self, task: TaskKey, took: Duration) {
        let place = self.tasks % ONE_OF;
        if place == 0 {
            self.drawn.extend(self.candidate.take());
        }
        // So each of the tasks since then is drawn with the same probability.
        if fastrand::u64(..=place) == 0 {
            self.candidate = Some(task);
        }
        self.tasks += 1;
        self.work = self.work.saturating_add(took);
        match self.work <= CHEAP {
            true => self.all.push(task),
            false => self.all = Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests;
