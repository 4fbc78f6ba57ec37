//! How often the tasks of a run were counted, and where.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::ledger::database::account::Account;
use crate::ledger::{Division, Entry, LedgerError, RecordedTask, Session, Store};
use queenfold::engine::seconds;
use queenfold::outcome::{Checked, Outcome};
use queenfold::words::{measured, percent, several};

/// How often the recorded tasks of a run were counted, and by whom the second time. Audits are not second
/// counts: they have no record of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Confirmation {
    /// Recorded tasks.
    pub tasks: u64,
    /// Those with a second count that agrees.
    pub twice: u64,
    /// Of these: on another host than the first time,
    pub on_other_host: u64,
    /// on the same host, on another device, or on the CPU in place of a device,
    pub on_other_device: u64,
    /// on the same host, by another CPU worker,
    pub on_other_worker: u64,
    /// and by a worker or device of the same name.
    pub on_same_worker: u64,
    /// Of those that were counted twice: by another kernel.
    pub by_other_kernel: u64,
    /// Wall time of the processes that counted tasks a second time.
    #[serde(with = "seconds")]
    pub again_seconds: Duration,
    /// CPU time of these; `None` if it is not known.
    #[serde(with = "seconds::optional")]
    pub again_cpu_seconds: Option<Duration>,
    /// Of those without a second count: audited before they were recorded.
    pub audited: u64,
    /// Of those that were counted twice or audited: only merged directories say so.
    pub claimed: u64,
    /// Of these: counted by two owners, as files say that two keys signed.
    pub by_two_keys: u64,
    /// The hosts that counted, the first or the second time.
    pub hosts: u64,
    /// Corrections in the log.
    pub corrections: u64,
    /// Tasks that are contested.
    pub contested: u64,
}

impl Confirmation {
    /// Reads it from a ledger. The records are believed: [`Store::sums`] checks them.
    ///
    /// # Errors
    /// The ledger cannot be read, or holds what is not of its run.
    pub fn read(store: &Store) -> Result<Self, LedgerError> {
        let _moment = store.moment()?;
        let mut confirming = Confirming::begin(store)?;
        store.for_each_account(|record, second| confirming.add(record, second))?;
        Ok(confirming.end())
    }

    fn add_second(
        &mut self,
        (one, host): (&Account<'_>, Option<&String>),
        (other, second_host): (&Account<'_>, Option<&String>),
    ) {
        self.twice += 1;
        let is_device = |worker| matches!(worker, queenfold::engine::WorkerId::Device(_));
        let place = match (host == second_host, one.worker == other.worker) {
            (false, _) => &mut self.on_other_host,
            (true, true) => &mut self.on_same_worker,
            (true, false) if is_device(one.worker) || is_device(other.worker) => {
                &mut self.on_other_device
            }
            (true, false) => &mut self.on_other_worker,
        };
        *place += 1;
        self.by_other_kernel += u64::from(one.backend != other.backend);
    }

    /// How an outcome of these tasks was checked.
    pub const fn checked(&self, outcome: &Outcome) -> Checked {
        let all = self.twice + self.audited;
        match Checked::new(outcome.is_known, all - self.claimed, self.tasks) {
            Checked::Sampled(_) | Checked::Once if all >= self.tasks => Checked::Claimed,
            checked => checked,
        }
    }
}

/// In words: how often the tasks were counted, and by how many hosts.
impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hosts = several(self.hosts, "host");
        let tasks = several(self.tasks, "task");
        let audited = match self.audited {
            0 => String::new(),
            audited => format!(" ({audited} of them audited)"),
        };
        let claimed = match self.claimed {
            0 => String::new(),
            claimed => format!("; {claimed} only as merged directories say"),
        };
        let claimed = match self.by_two_keys {
            0 => claimed,
            tasks => format!("{claimed}, {tasks} of them by two owners, whose keys signed"),
        };
        if self.twice == 0 {
            return write!(f, "{tasks} once{audited}, on {hosts}{claimed}");
        }
        let places = [
            (self.on_other_host, "on another host"),
            (self.on_other_device, "on another device"),
            (self.on_other_worker, "by another worker of the same host"),
            (self.on_same_worker, "by another process on the same host"),
        ];
        let places = places.iter().filter(|(tasks, _)| *tasks > 0);
        let places: Vec<_> = places
            .map(|(tasks, place)| format!("{tasks} {place}"))
            .collect();
        let time = match self.again_seconds {
            // A record of another run, as a second count.
            Duration::ZERO => String::new(),
            time => format!(", in {}", measured(time)),
        };
        write!(
            f,
            "{} of {tasks} twice ({}), {} once{audited}, on {hosts}; the second time {}{time}; {} by another kernel{claimed}",
            self.twice,
            percent(self.twice as f64 / self.tasks as f64),
            self.tasks - self.twice,
            places.join(", "),
            self.by_other_kernel
        )
    }
}

/// The parts of a run with a recorded task that was not counted on two hosts, each with the first of the hosts that counted
/// such a task, by name.
///
/// # Errors
/// The ledger cannot be read, or holds what is not of its run.
pub fn parts_once(
    store: &Store,
    division: &Division,
) -> Result<BTreeMap<u64, String>, LedgerError> {
    let sessions = Sessions::of(store.sessions()?);
    let mut parts: BTreeMap<u64, String> = BTreeMap::new();
    store.for_each_account(|record, second| {
        let host = sessions.host(record.session);
        let is_told = |second: &&Account<'_>| !sessions.claim(record.session, second.session);
        let other = second
            .filter(is_told)
            .map(|second| sessions.host(second.session));
        if let Some(host) = host.filter(|host| other.is_none_or(|other| other == Some(*host))) {
            let first = parts
                .entry(division.part_of(record.key))
                .or_insert_with(|| host.clone());
            if host < first {
                first.clone_from(host);
            }
        }
    })?;
    Ok(parts)
}

/// The confirmation of a ledger, while its tasks are read.
pub(crate) struct Confirming {
    all: Confirmation,
    sessions: Sessions,
    counted_on: BTreeSet<String>,
}

impl Confirming {
    /// Before the first task of `store`, in a moment of it.
    pub(crate) fn begin(store: &Store) -> Result<Self, LedgerError> {
        let sessions = store.sessions()?;
        let again = Session::time(&sessions, true);
        Ok(Self {
            all: Confirmation {
                again_seconds: again.elapsed,
                again_cpu_seconds: again.cpu,
                corrections: store.corrections()?.len() as u64,
                contested: store.contested()?.len() as u64,
                ..Confirmation::default()
            },
            sessions: Sessions::of(sessions),
            counted_on: BTreeSet::new(),
        })
    }

    /// Takes in a task.
    pub(crate) fn add(&mut self, record: &Account<'_>, second: Option<&Account<'_>>) {
        self.all.tasks += 1;
        let host = |account: &Account<'_>| self.sessions.host(account.session);
        let mut note = |host: Option<&String>| {
            if let Some(host) = host.filter(|host| !self.counted_on.contains(*host)) {
                self.counted_on.insert(host.clone());
            }
        };
        note(host(record));
        let again = second.or(record.is_audited.then_some(record));
        let is_claim = |again: &Account<'_>| self.sessions.claim(record.session, again.session);
        self.all.claimed += u64::from(again.is_some_and(is_claim));
        let signer = |account: &Account<'_>| self.sessions.signer(account.session);
        let is_by_two = |second| signer(record).is_some() && signer(second).is_some();
        self.all.by_two_keys += u64::from(second.is_some_and(is_by_two));
        if let Some(second) = second {
            note(host(second));
            self.all
                .add_second((record, host(record)), (second, host(second)));
        } else {
            self.all.audited += u64::from(record.is_audited);
        }
    }

    /// After the last task.
    pub(crate) fn end(self) -> Confirmation {
        Confirmation {
            hosts: self.counted_on.len() as u64,
            ..self.all
        }
    }
}

/// The sessions of a run, by id.
pub(crate) struct Sessions(pub(crate) BTreeMap<String, Session>);

impl Sessions {
    pub fn of(sessions: Vec<Session>) -> Self {
        let of = |session: Session| (session.id.clone(), session);
        Self(sessions.into_iter().map(of).collect())
    }

    pub fn get(&self, id: &str) -> Option<&Session> {
        self.0.get(id)
    }

    pub fn host(&self, id: &str) -> Option<&String> {
        self.get(id).map(|session| &session.facts.host)
    }

    /// The key that signed the file in which a session came.
    pub fn signer(&self, id: &str) -> Option<&str> {
        self.get(id)?.signer()
    }

    /// Whether it counted in this directory, and did not come by a merge.
    pub fn is_here(&self, id: &str) -> bool {
        self.get(id).is_some_and(Session::is_here)
    }

    /// Whether nobody but merged directories says what these two sessions counted.
    pub fn claim(&self, one: &str, other: &str) -> bool {
        !self.is_here(one) && !self.is_here(other)
    }

    /// The second count of a task, unless the directory that the first one came from alone says that it was made.
    pub fn told<'a>(&self, task: &'a RecordedTask) -> Option<&'a Entry> {
        let mark = |entry: &Entry| self.get(&entry.session).map(|of| &of.facts.merged);
        let is_of_one = |second: &&Entry| mark(second) == mark(&task.record);
        let second = task.second.as_ref();
        second.filter(|second| self.is_here(&second.session) || !is_of_one(second))
    }

    /// The second count of a task, unless it is a claim.
    pub fn confirmed<'a>(&self, task: &'a RecordedTask) -> Option<&'a Entry> {
        let second = task.second.as_ref();
        second.filter(|second| !self.claim(&task.record.session, &second.session))
    }
}
