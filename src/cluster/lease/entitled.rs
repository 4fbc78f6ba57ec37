//! From whom results are taken: from those who were asked for them.

use std::collections::{BTreeMap, HashMap};

use crate::engine::TaskSet;

/// Who was asked to count which tasks: those of the leases that each worker has or had, for each pool.
#[derive(Default)]
pub struct Entitled(HashMap<String, BTreeMap<usize, TaskSet>>);

impl Entitled {
    /// Notes that a worker is asked to count tasks of a pool.
    pub fn give(&mut self, worker: &str, pool: usize, tasks: impl IntoIterator<Item = u64>) {
        let pools = self.0.entry(worker.to_owned()).or_default();
        let given = pools.entry(pool).or_default();
        for task in tasks {
            given.insert(task);
        }
    }

    /// Whether a result of the task is taken from the worker.
    pub fn may_deliver(&self, worker: &str, pool: usize, task: u64) -> bool {
        let given = || self.0.get(worker)?.get(&pool);
        given().is_some_and(|tasks| tasks.contains(task))
    }
}
