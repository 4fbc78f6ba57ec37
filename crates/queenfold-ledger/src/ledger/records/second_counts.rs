//! Changes of what is recorded: second counts, corrections, and sessions that are taken out.

use crate::ledger::database::correction_rows::LoggedCorrection;
use crate::ledger::{Column, Entry, LedgerError, Sessions, Store};
use queenfold::engine::{Correction, Decision, Method, TaskKey, Verdict, verdict};

impl Store {
    /// Removes the record of a task, its second count and its corrections: it is doubted, and is to be counted again. What
    /// was decided about the count that is removed says nothing about the next one.
    pub(crate) fn withdraw(&self, task: TaskKey) -> Result<(), LedgerError> {
        self.remove_corrections(task)?;
        self.remove(Column::Second, task)?;
        self.remove(Column::Record, task)
    }

    /// Records a second count in the place of one that is there, within the transaction that is open. If it differs from
    /// the record, both are logged as an open correction. Who logs, and when, is as in [`correct`](Self::correct).
    ///
    /// # Errors
    /// There is no record; the file cannot be written.
    pub fn confirm(&self, entry: &Entry, session: &str, at: i64) -> Result<(), LedgerError> {
        let record = self.recorded(entry.result.key)?;
        if stands(&[&record, entry]).is_some() {
            self.remove(Column::Second, entry.result.key)?;
            return self.put(Column::Second, entry).map(|_| ());
        }
        let correction = Correction {
            recorded: record,
            others: vec![entry.clone()],
            decision: None,
        };
        self.correct(&correction, session, at)
    }

    /// Records a further count of a task whose results differ, within the transaction that is open. If it
    /// agrees with one of them, it decides; otherwise the correction stays open. If another count has decided
    /// meanwhile, it is [a second count](Self::confirm).
    ///
    /// # Errors
    /// There is no record; the file cannot be written.
    pub fn decide(
        &self,
        entry: &Entry,
        method: Method,
        session: &str,
        at: i64,
    ) -> Result<(), LedgerError> {
        let key = entry.result.key;
        let last = self.log_of(Some(key))?.pop();
        let Some(mut correction) = last.filter(LoggedCorrection::is_open).map(|l| l.correction)
        else {
            return self.confirm(entry, session, at);
        };
        let counts: Vec<&Entry> = correction.results().chain([entry]).collect();
        match stands(&counts).filter(|right| agree(right, entry)) {
            Some(_) => {
                let result = entry.clone();
                correction.decision = Some(Decision { result, method });
            }
            None => correction.others.push(entry.clone()),
        }
        self.correct(&correction, session, at)
    }

    /// Logs results of a task that differ, within the transaction that is open, and makes the record and
    /// the second count follow the decision: the record becomes the deciding result if it differs from
    /// it, and a result that agrees becomes the second count if there is none. Whatever is replaced is in
    /// the log. `session` is the id of the process that logs, `recorded_at` the time of day.
    ///
    /// # Errors
    /// The task has no record, or another one than the correction says; the file cannot be written.
    pub fn correct(
        &self,
        correction: &Correction<Entry>,
        session: &str,
        recorded_at: i64,
    ) -> Result<(), LedgerError> {
        self.wholly(|| self.follow(correction, session, recorded_at))
    }

    fn follow(
        &self,
        correction: &Correction<Entry>,
        session: &str,
        recorded_at: i64,
    ) -> Result<(), LedgerError> {
        let key = correction.recorded.result.key;
        let record = self.recorded(key)?;
        if !agree(&record, &correction.recorded) {
            return Err(self.database(format!("task {key} was corrected meanwhile")));
        }
        let mut correction = Correction {
            recorded: record,
            ..correction.clone()
        };
        let Some(decision) = correction.decision.clone() else {
            return self.append(correction, session, recorded_at);
        };
        let right = decision.result;
        let second = self.get_from(Column::Second, key)?;
        if let Some(second) = second.filter(|second| !agree(second, &right)) {
            self.remove(Column::Second, key)?;
            if !correction.others.contains(&second) {
                correction.others.insert(0, second);
            }
        }
        let stays = agree(&correction.recorded, &right);
        if !stays {
            self.remove(Column::Record, key)?;
            self.put(Column::Record, &right)?;
        }
        let mut others = correction
            .others
            .iter()
            .filter(|other| agree(other, &right));
        if let Some(again) = others.next().or(stays.then_some(&right)) {
            self.put(Column::Second, again)?;
        }
        self.append(correction, session, recorded_at)
    }

    /// Removes the records and second counts of a session, and the session. A second count by another one
    /// takes the place of the record that is removed, and its session has counted for the first time. A task with a correction that names the session
    /// loses everything. Returns the number of records that were removed or replaced.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remove_session(&self, id: &str) -> Result<u64, LedgerError> {
        let mut removed = 0;
        let mut sessions = Sessions::of(self.sessions()?);
        for logged in self.corrections()? {
            let mut results = logged.correction.results();
            if logged.session == id || results.any(|entry| entry.session == id) {
                let task = logged.task();
                removed += u64::from(self.get(task)?.is_some());
                self.remove(Column::Record, task)?;
                self.remove(Column::Second, task)?;
                self.remove_corrections(task)?;
            }
        }
        for second in self.seconds_to(id)? {
            let task = second.result.key;
            self.remove(Column::Second, task)?;
            self.remove(Column::Record, task)?;
            self.put(Column::Record, &second)?;
            removed += 1;
            if let Some(mut session) = sessions.0.remove(&second.session) {
                session.facts.again = false;
                self.put_session(&session)?;
            }
        }
        self.remove_of_session(Column::Second, id)?;
        Ok(removed + self.remove_of_session(Column::Record, id)?)
    }

    /// Adds a correction to the end of the log of its task.
    fn append(
        &self,
        correction: Correction<Entry>,
        session: &str,
        recorded_at: i64,
    ) -> Result<(), LedgerError> {
        let key = correction.recorded.result.key;
        self.log(&LoggedCorrection {
            number: self.log_of(Some(key))?.len() as u64,
            correction,
            session: session.to_owned(),
            recorded_at,
        })
    }

    pub(crate) fn recorded(&self, task: TaskKey) -> Result<Entry, LedgerError> {
        let record = self.get(task)?;
        record.ok_or_else(|| self.database(format!("task {task} has no record")))
    }
}

/// The count that stands among these, if one does.
fn stands<'a>(counts: &[&'a Entry]) -> Option<&'a Entry> {
    let made = counts.iter().map(|count| {
        let maker = (count.session.as_str(), count.result.origin.worker);
        (Some(maker), &count.result.tally)
    });
    match verdict(&made.collect::<Vec<_>>()) {
        Verdict::Stands(at) => Some(counts[at]),
        Verdict::Open | Verdict::Contradicts(_) => None,
    }
}

/// Whether two counts are the same.
pub(crate) fn agree(one: &Entry, other: &Entry) -> bool {
    one.result.tally.agrees_with(&other.result.tally)
}
