//! What each host did of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::ledger::database::account::Account;
use crate::ledger::reading::status::per_second;
use crate::ledger::{LedgerError, Session, Sessions, Store};

/// What one host recorded, in all its sessions. Names of hosts are what the hosts say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostShare {
    /// Processes that worked on the run.
    pub sessions: u64,
    /// Tasks recorded.
    pub tasks: u64,
    /// Nodes in them.
    pub nodes: u64,
    /// Those of the tasks that were counted twice before they were recorded.
    pub audits: u64,
    /// From the start of each process that counted for the first time to its last commit, added up.
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

    /// Adds what `store` holds to what each host did, by its name. The records are believed: [`Store::sums`] checks
    /// them.
    ///
    /// # Errors
    /// The ledger cannot be read, or holds what is not of its run.
    pub fn add(store: &Store, hosts: &mut BTreeMap<String, Self>) -> Result<(), LedgerError> {
        let _moment = store.moment()?;
        let sessions = store.sessions()?;
        Self::add_sessions(&sessions, hosts);
        let sessions = Sessions::of(sessions);
        store.for_each_account(|record, _| Self::add_record(record, &sessions, hosts))
    }

    /// Adds sessions, without what they recorded.
    pub(crate) fn add_sessions(sessions: &[Session], hosts: &mut BTreeMap<String, Self>) {
        for Session {
            facts,
            elapsed,
            committed,
            ..
        } in sessions
        {
            let host = hosts.entry(facts.host.clone()).or_default();
            host.sessions += 1;
            // What they recorded was counted by the others.
            if !facts.again {
                host.elapsed = host.elapsed.saturating_add(*elapsed);
            }
            host.last_seen = host.last_seen.max(*committed);
            host.devices.extend(facts.devices.iter().cloned());
        }
    }

    /// Adds a record to what its host did.
    pub(crate) fn add_record(
        record: &Account<'_>,
        sessions: &Sessions,
        hosts: &mut BTreeMap<String, Self>,
    ) {
        let host = sessions.host(record.session);
        let host = host.and_then(|name| hosts.get_mut(name));
        if let Some(host) = host {
            host.tasks += 1;
            host.nodes = host.nodes.saturating_add(record.nodes);
            host.audits += u64::from(record.is_audited);
        }
    }
}
