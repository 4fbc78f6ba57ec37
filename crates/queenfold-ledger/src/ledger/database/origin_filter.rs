//! Everything that one origin did.

use std::fmt;
use std::str::FromStr;

use crate::ledger::{Coverage, LedgerError, RecordedTask, Sessions, Store};
use queenfold::engine::{CountedBy, Origin, WorkerId};

/// Names who counted: a host, a device by the name that its maker gave it, a worker of any host
/// (`worker-3`, `gpu-0`), or a worker of a host (`node7/gpu-0`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginName(String);

impl OriginName {
    /// The worker that counted on a host: the narrowest name of it.
    pub fn of(host: &str, worker: WorkerId) -> Self {
        Self(format!("{host}/{worker}"))
    }

    /// Whether it names this origin on this host.
    pub fn names(&self, host: &str, origin: &Origin) -> bool {
        let device = match &origin.counted_by {
            CountedBy::Device(device) => self.0 == device.name,
            CountedBy::Cpu(_) => false,
        };
        device
            || self.0 == host
            || self.0 == origin.worker.to_string()
            || *self == Self::of(host, origin.worker)
    }
}

impl fmt::Display for OriginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for OriginName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err("expected a host, a device or a worker such as `node7/gpu-0`".to_owned()),
            _ => Ok(Self(text.to_owned())),
        }
    }
}

/// What one origin did, from some time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoneBy {
    /// Who.
    pub origin: OriginName,
    /// Only what was recorded at this time or later, in seconds since 1970.
    pub since: Option<i64>,
}

impl DoneBy {
    /// Before the first task of `store`.
    pub(crate) fn begin(&self, store: &Store) -> Result<Doing<'_>, LedgerError> {
        Ok(Doing {
            by: self,
            sessions: Sessions::of(store.sessions()?),
            tasks: Coverage::none_of(store.info().n(), &store.info().plans),
            is_known: false,
        })
    }
}

/// The tasks that one origin counted, the first or the second time, while they are read.
pub(crate) struct Doing<'a> {
    by: &'a DoneBy,
    sessions: Sessions,
    tasks: Coverage,
    is_known: bool,
}

impl Doing<'_> {
    /// Takes in a task.
    pub fn add(&mut self, task: &RecordedTask) {
        for entry in std::iter::once(&task.record).chain(&task.second) {
            let host = self.sessions.host(&entry.session);
            let host = host.map_or("", String::as_str);
            if self.by.origin.names(host, &entry.result.origin) {
                self.is_known = true;
                if self.by.since.is_none_or(|since| entry.recorded_at >= since) {
                    self.tasks.add(entry.result.key);
                }
            }
        }
    }

    /// After the last task.
    ///
    /// # Errors
    /// Nobody of that name counted.
    pub fn end(self, store: &Store) -> Result<Coverage, LedgerError> {
        if self.is_known {
            return Ok(self.tasks);
        }
        let what = format!(
            "`{}` names no host, device or worker that counted; `queenfold report` shows who did",
            self.by.origin
        );
        Err(LedgerError::other(store.file(), what))
    }
}
