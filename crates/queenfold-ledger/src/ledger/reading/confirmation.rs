//! How often the tasks of a run were counted, and where.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::ledger::{Entry, RecordedTask, Session};
use queenfold::engine::{WorkerId, seconds};
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
    /// Of those that were counted twice or audited: only gathered directories say so.
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
    /// Adds a task that was counted a second time: each count with its host.
    pub(crate) fn add_second(
        &mut self,
        (one, host): (&Entry, Option<&String>),
        (other, second_host): (&Entry, Option<&String>),
    ) {
        self.twice += 1;
        let [one, other] = [one, other].map(|entry| &entry.result.origin);
        let is_device = |worker| matches!(worker, WorkerId::Device(_));
        let place = match (host == second_host, one.worker == other.worker) {
            (false, _) => &mut self.on_other_host,
            (true, true) => &mut self.on_same_worker,
            (true, false) if is_device(one.worker) || is_device(other.worker) => {
                &mut self.on_other_device
            }
            (true, false) => &mut self.on_other_worker,
        };
        *place += 1;
        self.by_other_kernel += u64::from(one.counted_by.backend() != other.counted_by.backend());
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
            claimed => format!("; {claimed} only as gathered directories say"),
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

    /// The second count of a task, unless it is a claim.
    pub fn confirmed<'a>(&self, task: &'a RecordedTask) -> Option<&'a Entry> {
        let second = task.second.as_ref();
        second.filter(|second| !self.claim(&task.record.session, &second.session))
    }
}
