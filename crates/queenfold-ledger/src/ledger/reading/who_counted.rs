//! Who counted the tasks of a run, and how often: what one walk through its records shows besides their sums.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::{
    Confirmation, Coverage, Division, Entry, HostShare, LedgerError, RecordedTask, RunInfo,
    Session, Sessions, Store,
};
use queenfold::engine::WorkerId;

/// Who counted the recorded tasks of a run, and how often.
#[derive(Clone, Debug, Default)]
pub struct WhoCounted {
    /// How often they were counted.
    pub confirmation: Confirmation,
    /// What each host recorded, by its name.
    pub hosts: BTreeMap<String, HostShare>,
    /// With what; `None` if nobody has worked on the run.
    pub with: Option<CountedWith>,
    /// The tasks that were not counted on two hosts, by the host that recorded them.
    pub once: BTreeMap<String, Coverage>,
}

/// With what a run was counted, as its directory says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedWith {
    /// The kernel of the CPU workers, or `mixed` if there were several.
    pub kernel: String,
    /// The CPU workers of the last process that worked on it.
    pub workers: u64,
}

impl WhoCounted {
    /// The parts of a run with a recorded task that was not counted on two hosts, each with the first of the hosts that
    /// counted such a task, by name.
    pub fn parts_once(&self, division: &Division) -> BTreeMap<u64, String> {
        let mut parts = BTreeMap::new();
        for (host, tasks) in &self.once {
            for task in tasks.iter() {
                parts
                    .entry(division.part_of(task))
                    .or_insert_with(|| host.clone());
            }
        }
        parts
    }
}

/// Who counted, while tasks are read.
pub(crate) struct Counting<'a> {
    who: WhoCounted,
    info: &'a RunInfo,
    sessions: Sessions,
    counted_on: BTreeSet<String>,
    kernels: BTreeSet<String>,
}

impl<'a> Counting<'a> {
    /// Before the first task of `store`, in a moment of it.
    pub(crate) fn begin(store: &'a Store) -> Result<Self, LedgerError> {
        let sessions = store.sessions()?;
        let again = Session::time(&sessions, true);
        let last = sessions.iter().max_by_key(|session| session.facts.number);
        let with = last.map(|last| CountedWith {
            kernel: last.facts.isa.clone(),
            workers: last.facts.workers,
        });
        Ok(Self {
            who: WhoCounted {
                confirmation: Confirmation {
                    again_seconds: again.elapsed.unwrap_or_default(),
                    again_cpu_seconds: again.cpu,
                    corrections: store.corrections()?.len() as u64,
                    contested: store.contested()?.len() as u64,
                    ..Confirmation::default()
                },
                hosts: HostShare::of_sessions(&sessions),
                with,
                once: BTreeMap::new(),
            },
            info: store.info(),
            sessions: Sessions::of(sessions),
            counted_on: BTreeSet::new(),
            kernels: BTreeSet::new(),
        })
    }

    /// Takes in a task.
    pub(crate) fn add(&mut self, task: &RecordedTask) {
        let (record, second) = (&task.record, task.second.as_ref());
        let (result, is_audited) = (&record.result, record.result.audited_by.is_some());
        let sessions = &self.sessions;
        let host = |entry: &Entry| sessions.host(&entry.session);
        let (first_host, second_host) = (host(record), second.and_then(host));
        let is_claim = |again: &Entry| sessions.claim(&record.session, &again.session);
        let all = &mut self.who.confirmation;
        all.tasks += 1;
        let again = second.or(is_audited.then_some(record));
        all.claimed += u64::from(again.is_some_and(is_claim));
        let signer = |entry: &Entry| sessions.signer(&entry.session);
        let is_by_two = |second| signer(record).is_some() && signer(second).is_some();
        all.by_two_keys += u64::from(second.is_some_and(is_by_two));
        match second {
            Some(second) => all.add_second((record, first_host), (second, second_host)),
            None => all.audited += u64::from(is_audited),
        }
        for host in first_host.into_iter().chain(second_host) {
            insert(&mut self.counted_on, host);
        }
        let origin = &result.origin;
        if matches!(origin.worker, WorkerId::Cpu(_)) && result.key.engine.counts_all() {
            insert(&mut self.kernels, origin.counted_by.backend());
        }
        let Some(host) = first_host else { return };
        for (entry, host) in [(Some(record), first_host), (second, second_host)] {
            let share = host.and_then(|host| self.who.hosts.get_mut(host));
            if let (Some(entry), Some(share)) = (entry, share) {
                share.add(entry);
            }
        }
        let is_elsewhere = |again| second_host != first_host && !is_claim(again);
        if !second.is_some_and(is_elsewhere) {
            let once = match self.who.once.get_mut(host) {
                Some(once) => once,
                None => {
                    let none = Coverage::none_of(self.info.n(), &self.info.plans);
                    self.who.once.entry(host.clone()).or_insert(none)
                }
            };
            once.add(result.key);
        }
    }

    /// After the last task.
    pub(crate) fn end(mut self) -> WhoCounted {
        self.who.confirmation.hosts = self.counted_on.len() as u64;
        if let Some(with) = &mut self.who.with {
            match self.kernels.len() {
                // Devices counted everything.
                0 => {}
                1 => with.kernel = self.kernels.into_iter().collect(),
                _ => "mixed".clone_into(&mut with.kernel),
            }
        }
        self.who
    }
}

/// There are few names and millions of records: one is copied only once.
fn insert(names: &mut BTreeSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_owned());
    }
}
