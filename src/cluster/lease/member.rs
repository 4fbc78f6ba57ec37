use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::heard::Heard;
use crate::actors::Finding;
use crate::actors::HostProgress;
use crate::engine::Engine;
use crate::ledger::{Facts, party};

/// A worker of a run: a process on some host, with all its CPU workers and devices.
pub struct Member {
    /// What it runs on.
    pub facts: Facts,
    /// When it was last heard.
    pub seen: Duration,
    /// What it reported.
    pub heard: Heard,
    /// Items below this one are committed.
    pub committed: u64,
    /// Whether it has given a sign of life since it said hello. Who only delivers a journal gives none.
    pub beats: bool,
    /// Whether it wants a lease.
    pub wants: bool,
    /// Whether its owner has paused it.
    pub paused: bool,
    /// The tasks that it counts in a second, for each engine.
    pub speeds: BTreeMap<Engine, f64>,
    /// The leases that it holds.
    pub leases: BTreeSet<u64>,
    /// When it joined.
    joined: Duration,
    /// Results that it delivered, and the nodes of these.
    delivered: (u64, u64),
    sick: u64,
}

/// The highest speed that is believed, in tasks a second: a lease that is too large for a worker is not
/// renewed in time and goes to others.
const FASTEST: f64 = 1e9;

impl Member {
    /// A worker that joins, whose items below `first` have their receipt.
    pub fn new(facts: Facts, first: u64, now: Duration) -> Self {
        Self {
            facts,
            seen: now,
            heard: Heard::new(first),
            committed: first,
            beats: false,
            wants: false,
            paused: false,
            speeds: BTreeMap::new(),
            leases: BTreeSet::new(),
            joined: now,
            delivered: (0, 0),
            sick: 0,
        }
    }

    /// How many tasks it counts at once, at least 1.
    pub fn hands(&self) -> u64 {
        (self.facts.workers.min(1 << 12) + self.facts.devices.len().min(1 << 8) as u64).max(1)
    }

    /// Who answers for it; its name is `worker`.
    pub fn party(&self, worker: &str) -> String {
        party(worker, &self.facts.host)
    }

    /// Notes what it delivers.
    pub fn note(&mut self, item: &Finding) {
        match item {
            Finding::Result(result) => {
                self.delivered.0 += 1;
                self.delivered.1 += result.tally.nodes;
            }
            Finding::TakenOut(_) => self.sick += 1,
            Finding::Correction(_) | Finding::Withdrawal(_) => {}
        }
    }

    /// What it does; it holds so many tasks.
    pub fn progress(&self, now: Duration, tasks_held: u64) -> HostProgress {
        HostProgress {
            host: self.facts.host.clone(),
            cpu_workers: self.facts.workers,
            devices: self.facts.devices.len(),
            isa: self.facts.isa.clone(),
            tasks_held,
            tasks: self.delivered.0,
            nodes: self.delivered.1,
            joined: now.saturating_sub(self.joined),
            silent: now.saturating_sub(self.seen),
            paused: self.paused,
            sick: self.sick,
            gone: None,
        }
    }

    /// Notes what it says of its speed.
    pub fn note_speeds(&mut self, speeds: &[(Engine, f64)]) {
        for &(engine, speed) in speeds {
            if speed.is_finite() && speed > 0.0 {
                self.speeds.insert(engine, speed.min(FASTEST));
            }
        }
    }
}
