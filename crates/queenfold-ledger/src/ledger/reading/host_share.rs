//! What each host did of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::ledger::reading::status::per_second;
use crate::ledger::{Entry, Session};

/// What one host counted, the first or the second time, in all its sessions. Names of hosts are what the hosts say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostShare {
    /// Processes that worked on the run.
    pub sessions: u64,
    /// Tasks counted.
    pub tasks: u64,
    /// Nodes in them.
    pub nodes: u64,
    /// Those of the tasks that were counted twice before they were recorded.
    pub audits: u64,
    /// From the start of each process to its last commit, added up.
    pub elapsed: Duration,
    /// The last commit, in seconds since 1970 by the clock of the host.
    pub last_seen: i64,
    /// Devices that took part, by name.
    pub devices: BTreeSet<String>,
}

impl HostShare {
    /// Nodes for each second of its processes; 0 if no time is known.
    pub fn nodes_per_second(&self) -> f64 {
        per_second(self.nodes, self.elapsed)
    }

    /// The nodes of all these hosts.
    pub fn all_nodes(hosts: &BTreeMap<String, Self>) -> u128 {
        hosts.values().map(|host| u128::from(host.nodes)).sum()
    }

    /// Its share of so many nodes, 0 to 1.
    pub fn share_of(&self, all: u128) -> f64 {
        self.nodes as f64 / all.max(1) as f64
    }

    /// What each host did of these sessions, by its name, without what they counted.
    pub(crate) fn of_sessions(sessions: &[Session]) -> BTreeMap<String, Self> {
        let mut hosts = BTreeMap::<String, Self>::new();
        for session in sessions {
            let facts = &session.facts;
            let host = hosts.entry(facts.host.clone()).or_default();
            host.sessions += 1;
            host.elapsed = host.elapsed.saturating_add(session.elapsed);
            host.last_seen = host.last_seen.max(session.committed);
            host.devices.extend(facts.devices.iter().cloned());
        }
        hosts
    }

    /// Adds a count of this host.
    pub(crate) fn add(&mut self, record: &Entry) {
        self.tasks += 1;
        self.nodes = self.nodes.saturating_add(record.result.tally.nodes);
        self.audits += u64::from(record.result.audited_by.is_some());
    }

    /// Adds what the same host did of another part of the run.
    pub fn extend(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.tasks += other.tasks;
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.audits += other.audits;
        self.elapsed = self.elapsed.saturating_add(other.elapsed);
        self.last_seen = self.last_seen.max(other.last_seen);
        self.devices.extend(other.devices);
    }
}
