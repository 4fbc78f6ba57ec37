//! From whom results are taken: from those who were asked for them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::engine::TaskSet;

/// Who was asked to count which tasks.
#[derive(Default)]
pub struct Entitled {
    /// Sessions of earlier coordinators. Nobody knows any more what they were asked for.
    earlier: BTreeSet<String>,
    /// The tasks of the leases that each worker has or had, for each pool.
    given: HashMap<String, BTreeMap<usize, TaskSet>>,
}

impl Entitled {
    /// Nobody was asked for anything by this coordinator. `earlier`: the sessions that recorded results before.
    pub fn new(earlier: BTreeSet<String>) -> Self {
        Self {
            earlier,
            given: HashMap::new(),
        }
    }

    /// Notes that a worker is asked to count tasks of a pool.
    pub fn give(&mut self, worker: &str, pool: usize, tasks: &[u64]) {
        let pools = self.given.entry(worker.to_owned()).or_default();
        let given = pools.entry(pool).or_default();
        for task in tasks {
            given.insert(*task);
        }
    }

    /// Whether a result of the task is taken from the worker.
    pub fn may_deliver(&self, worker: &str, pool: usize, task: u64) -> bool {
        let given = || self.given.get(worker)?.get(&pool);
        self.earlier.contains(worker) || given().is_some_and(|tasks| tasks.contains(task))
    }
}
