//! Workers that are gone and have not taken leave: who watches the run still sees them.

use std::collections::VecDeque;
use std::time::Duration;

use super::bars::{Bar, Bars};
use super::member::Member;
use crate::actors::{Gone, HostProgress};
use crate::ledger::party;

/// The most that are kept. The oldest go first.
const MOST: usize = 64;

/// Such workers, the latest last.
#[derive(Default)]
pub struct Absent(VecDeque<AbsentWorker>);

struct AbsentWorker {
    worker: String,
    /// When it was last heard.
    seen: Duration,
    /// What it did until then.
    did: HostProgress,
}

impl AbsentWorker {
    /// Whether it is gone in this way, and the same party has called its host so.
    fn is_like(&self, gone: Gone, worker: &str, host: &str) -> bool {
        self.did.gone == Some(gone)
            && self.did.host == host
            && party(&self.worker, host) == party(worker, host)
    }
}

impl Absent {
    /// Keeps a worker that is gone.
    pub fn add(&mut self, worker: &str, member: &Member, gone: Gone) {
        let host = member.facts.host.as_str();
        // Programs that are refused are often started again, each time under another name.
        let takes_place = |absent: &AbsentWorker| {
            absent.worker == worker || gone != Gone::Lost && absent.is_like(gone, worker, host)
        };
        self.0.retain(|absent| !takes_place(absent));
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(AbsentWorker {
            worker: worker.to_owned(),
            seen: member.seen,
            did: HostProgress {
                gone: Some(gone),
                ..member.progress(member.seen, 0)
            },
        });
    }

    /// Forgets a worker that is here again, or one that was lost on its host: it was started in the place of that one.
    pub fn forget(&mut self, worker: &str, host: &str) {
        let itself = self.0.iter().position(|absent| absent.worker == worker);
        let lost = |absent: &AbsentWorker| absent.is_like(Gone::Lost, worker, host);
        let at = itself.or_else(|| self.0.iter().position(lost));
        if let Some(at) = at {
            self.0.remove(at);
        }
    }

    /// Forgets those that are no longer banned.
    pub fn allow(&mut self, bars: &Bars) {
        self.0.retain(|absent| {
            absent.did.gone != Some(Gone::Banned)
                || bars.of(&absent.worker, &absent.did.host) == Some(Bar::Banned)
        });
    }

    /// What they did, and for how long they have been silent.
    pub fn hosts(&self, now: Duration) -> Vec<HostProgress> {
        let host = |absent: &AbsentWorker| HostProgress {
            silent: now.saturating_sub(absent.seen),
            ..absent.did.clone()
        };
        self.0.iter().map(host).collect()
    }
}
