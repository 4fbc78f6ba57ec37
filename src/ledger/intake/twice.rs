//! Where tasks are counted by two parties: what a further count of a task says.

use std::collections::{BTreeSet, HashMap};

use super::super::{Column, Entry, LedgerError, LoggedCorrection, RecordedTask, party, unix_time};
use super::{Intake, IntakeError, Wanted, Written};
use crate::actors::SickWorker;
use crate::engine::{Correction, Decision, Method, TaskKey, TaskResult};

impl Intake {
    /// Takes a count of a task that is recorded. Two parties that agree are right: until there are, a task is wanted.
    pub(super) fn take_second(
        &mut self,
        entry: &Entry,
        written: &mut Written,
    ) -> Result<(), IntakeError> {
        let key = entry.result.key;
        written.again += 1;
        let Some(record) = self.store.get(key)? else {
            return Ok(());
        };
        let counted_by = self.counted_by(&record)?;
        let agrees = record.result.tally.agrees_with(&entry.result.tally);
        let party = self.party(&entry.session);
        if counted_by.contains(&party) {
            // It has said already what it counted. If that is the record, it contradicts itself.
            if agrees || self.party(&record.session) != party {
                return Ok(());
            }
            self.store.confirm(entry, &entry.session, unix_time())?;
            self.refute(&entry.session);
        } else if self.is_open(key)? {
            let method = method(&record, entry);
            self.store
                .decide(entry, method, &entry.session, unix_time())?;
        } else if counted_by.len() == 1 {
            // What is there is of the same party.
            self.store.confirm(entry, &entry.session, unix_time())?;
            if agrees {
                self.note_agreement(&record.session, &entry.session);
            }
        } else if agrees {
            return Ok(());
        } else if let Some(second) = self.store.get_from(Column::Second, key)? {
            // Two agreed before it came.
            let refuted = Correction {
                recorded: record,
                others: vec![entry.clone()],
                decision: Some(Decision {
                    method: method(entry, &second),
                    result: second,
                }),
            };
            self.store.correct(&refuted, &entry.session, unix_time())?;
        }
        match self.still_wanted(key)? {
            Some(wanted) => written.wanted.push(wanted),
            None => {
                written.agreed.push(key);
                self.name_refuted(key, written)?;
            }
        }
        Ok(())
    }

    /// All recorded tasks that another party is still to count. What is known of the parties is found out anew.
    pub(super) fn all_wanted(&mut self) -> Result<Vec<Wanted>, LedgerError> {
        let log = self.store.corrections()?;
        let contested: BTreeSet<TaskKey> = log.iter().map(LoggedCorrection::task).collect();
        // The number of the party of each session: there may be millions of tasks.
        let mut parties: Vec<String> = Vec::new();
        let mut party_of: HashMap<String, usize> = HashMap::new();
        let mut sick = Vec::new();
        for session in self.store.sessions()? {
            let party = party(&session.id, &session.facts.host);
            let number = parties.iter().position(|other| *other == party);
            let number = number.unwrap_or_else(|| {
                parties.push(party);
                parties.len() - 1
            });
            if !session.facts.sick.is_empty() {
                sick.push(number);
            }
            party_of.insert(session.id, number);
        }
        let Some(mut standings) = self.twice.take() else {
            return Ok(Vec::new());
        };
        standings.clear();
        for party in sick {
            standings.refute(&parties[party]);
        }
        let mut counted_once: Vec<(TaskKey, Option<usize>)> = Vec::new();
        self.store
            .for_each_task(|RecordedTask { record, second }| {
                let key = record.result.key;
                if contested.contains(&key) {
                    return Ok(());
                }
                let party = |entry: &Entry| party_of.get(&entry.session).copied();
                match (party(&record), second.as_ref().map(party)) {
                    (Some(first), Some(Some(second))) if first != second => {
                        standings.confirm(&parties[first]);
                        standings.confirm(&parties[second]);
                    }
                    (first, _) => counted_once.push((key, first)),
                }
                Ok(())
            })?;
        self.twice = Some(standings);
        for key in &contested {
            // Until somebody decides, nobody is wrong.
            if self.is_open(*key)? {
                continue;
            }
            for session in self.refuted(*key)? {
                self.refute(&session);
            }
        }
        let mut wanted = Vec::new();
        if let Some(standings) = &mut self.twice {
            standings.take_changed();
            for (key, party) in counted_once {
                let party = party.map_or("", |party| &parties[party]);
                if standings.wants_another(party, key) {
                    wanted.push((key, BTreeSet::from([party.to_owned()])));
                }
            }
        }
        for key in contested {
            wanted.extend(self.still_wanted(key)?);
        }
        Ok(wanted)
    }

    /// Who has counted a recorded task, if another party is still to do so.
    pub(super) fn still_wanted(&self, key: TaskKey) -> Result<Option<Wanted>, LedgerError> {
        let Some(standings) = &self.twice else {
            return Ok(None);
        };
        let Some(record) = self.store.get(key)? else {
            return Ok(None);
        };
        let counted_by = self.counted_by(&record)?;
        let wants_another = |party: &String| standings.wants_another(party, key);
        let is_alone = counted_by.len() == 1 && counted_by.iter().all(wants_another);
        let is_wanted = is_alone || self.is_open(key)?;
        Ok(is_wanted.then_some((key, counted_by)))
    }

    /// The party of the record and of its second count; of a contested task, of all that have counted it.
    fn counted_by(&self, record: &Entry) -> Result<BTreeSet<String>, LedgerError> {
        let key = record.result.key;
        let second = self.store.get_from(Column::Second, key)?;
        let mut sessions: BTreeSet<String> = [Some(record), second.as_ref()]
            .into_iter()
            .flatten()
            .map(|entry| entry.session.clone())
            .collect();
        if self.is_open(key)? {
            let log = self.store.corrections_of(key)?;
            sessions.extend(log.iter().flat_map(|logged| {
                logged
                    .correction
                    .results()
                    .map(|entry| entry.session.clone())
            }));
        }
        Ok(sessions.iter().map(|session| self.party(session)).collect())
    }

    /// Whether counts of a task differ, and nothing has decided.
    pub(super) fn is_open(&self, key: TaskKey) -> Result<bool, LedgerError> {
        let log = self.store.corrections_of(key)?;
        Ok(log.last().is_some_and(LoggedCorrection::is_open))
    }

    /// Notes whose counts of a task were found wrong.
    fn name_refuted(&mut self, key: TaskKey, written: &mut Written) -> Result<(), LedgerError> {
        for session in self.refuted(key)? {
            self.refute(&session);
            let host = self.host(&session);
            let what = format!("as {host}, it counted task {key} otherwise than two others");
            written.refused.push((session, what));
        }
        Ok(())
    }

    /// The sessions that have counted a recorded task otherwise than it is recorded.
    fn refuted(&self, key: TaskKey) -> Result<BTreeSet<String>, LedgerError> {
        let Some(record) = self.store.get(key)? else {
            return Ok(BTreeSet::new());
        };
        let log = self.store.corrections_of(key)?;
        let results = log.iter().flat_map(|logged| logged.correction.results());
        let wrong = results.filter(|entry| !entry.result.tally.agrees_with(&record.result.tally));
        Ok(wrong.map(|entry| entry.session.clone()).collect())
    }

    /// Whether another party has counted a task as well, or counts of it differed.
    pub(super) fn is_counted_by_others(&self, record: &Entry) -> Result<bool, LedgerError> {
        let log = self.store.corrections_of(record.result.key)?;
        Ok(!log.is_empty() || self.counted_by(record)?.len() > 1)
    }

    /// Notes in the ledger that a process takes back what it counted, so that it is not trusted any more.
    pub(super) fn note_doubt(&mut self, id: &str, record: &Entry) -> Result<(), LedgerError> {
        self.refute(&record.session);
        let Some(open) = self.open.get_mut(id) else {
            return Ok(());
        };
        if open.session.facts.sick.is_empty() {
            let TaskResult { key, origin, .. } = &record.result;
            open.session.facts.sick.push(SickWorker {
                worker: origin.worker,
                counted_by: Some(origin.counted_by.clone()),
                reason: format!("its count of task {key} was taken back"),
                suspects: 0,
            });
        }
        self.put_session(id, true)
    }

    /// Notes that two parties have counted a task alike.
    fn note_agreement(&mut self, one: &str, other: &str) {
        for session in [one, other] {
            let party = self.party(session);
            if let Some(standings) = &mut self.twice {
                standings.confirm(&party);
            }
        }
    }

    /// Notes that a count of this session is wrong.
    pub(super) fn refute(&mut self, session: &str) {
        let party = self.party(session);
        if let Some(standings) = &mut self.twice {
            standings.refute(&party);
        }
    }

    pub(super) fn party(&self, session: &str) -> String {
        party(session, &self.host(session))
    }
}

/// How the second of two counts was made, compared with the first.
fn method(first: &Entry, second: &Entry) -> Method {
    let [first, second] = [first, second].map(|entry| entry.result.origin.counted_by.backend());
    match first == second {
        true => Method::SameKernel,
        false => Method::OtherKernel,
    }
}
