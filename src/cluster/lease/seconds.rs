//! The tasks that another party is to count, where each task is counted by two.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A task: the number of its pool, and its index.
type Task = (usize, u64);

/// Tasks that wait for a count by somebody who has not counted them.
#[derive(Default)]
pub struct Seconds {
    /// Who has counted each of them.
    counted_by: HashMap<Task, BTreeSet<String>>,
    /// Those that nobody holds, by pool and by who has counted them: there are few such groups.
    free: BTreeMap<(usize, BTreeSet<String>), BTreeSet<u64>>,
}

impl Seconds {
    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.counted_by.is_empty()
    }

    /// Whether this party may count a task, as far as that was counted by others.
    pub fn may_count(&self, task: Task, party: &str) -> bool {
        let counted_by = self.counted_by.get(&task);
        counted_by.is_none_or(|counted_by| !counted_by.contains(party))
    }

    /// Notes that a task waits, and nobody holds it; and who has counted it.
    pub fn open(&mut self, task: Task, counted_by: BTreeSet<String>) {
        self.settle(task);
        self.counted_by.insert(task, counted_by);
        self.put_back(task);
    }

    /// Notes that a task waits no longer.
    pub fn settle(&mut self, task: Task) {
        self.hold(task);
        self.counted_by.remove(&task);
    }

    /// Notes that nobody holds a task any more.
    pub fn put_back(&mut self, task: Task) {
        if let Some(counted_by) = self.counted_by.get(&task) {
            let group = (task.0, counted_by.clone());
            self.free.entry(group).or_default().insert(task.1);
        }
    }

    /// Notes that somebody holds a task.
    pub fn hold(&mut self, task: Task) {
        let Some(counted_by) = self.counted_by.get(&task) else {
            return;
        };
        let group = (task.0, counted_by.clone());
        if let Some(free) = self.free.get_mut(&group) {
            free.remove(&task.1);
            if free.is_empty() {
                self.free.remove(&group);
            }
        }
    }

    /// How many tasks of a pool this party may count that nobody holds.
    pub fn free(&self, party: &str, pool: usize) -> u64 {
        let groups = self.groups(party, pool);
        groups.map(|free| free.len() as u64).sum()
    }

    /// Takes up to `count` of them.
    pub fn take(&mut self, party: &str, pool: usize, count: u64) -> Vec<u64> {
        let tasks = self.groups(party, pool).flatten();
        let tasks: Vec<u64> = tasks.take(count as usize).copied().collect();
        tasks.iter().for_each(|task| self.hold((pool, *task)));
        tasks
    }

    fn groups(&self, party: &str, pool: usize) -> impl Iterator<Item = &BTreeSet<u64>> {
        let groups = self.free.range((pool, BTreeSet::new())..);
        groups
            .take_while(move |((of, _), _)| *of == pool)
            .filter(move |((_, counted_by), _)| !counted_by.contains(party))
            .map(|(_, free)| free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(parties: &[&str]) -> BTreeSet<String> {
        parties.iter().map(|party| (*party).to_owned()).collect()
    }

    #[test]
    fn nobody_counts_a_task_twice() {
        let mut seconds = Seconds::default();
        for index in 0..3 {
            seconds.open((0, index), by(&["a"]));
        }
        seconds.open((1, 7), by(&["a"]));
        seconds.open((0, 9), by(&["a", "b"]));
        let free = |seconds: &Seconds| ["a", "b", "c"].map(|party| seconds.free(party, 0));
        assert_eq!(free(&seconds), [0, 3, 4]);
        assert!(seconds.take("a", 0, 9).is_empty());
        assert_eq!(seconds.take("b", 0, 2), [0, 1]);
        assert_eq!(free(&seconds), [0, 1, 2]);
        assert!(!seconds.may_count((0, 0), "a") && seconds.may_count((0, 0), "c"));
        // It differs: a third one is wanted.
        seconds.open((0, 0), by(&["a", "b"]));
        seconds.put_back((0, 1));
        assert_eq!(free(&seconds), [0, 2, 4]);
        for task in [(0, 0), (0, 1), (0, 2), (0, 9)] {
            seconds.settle(task);
        }
        assert_eq!((free(&seconds), seconds.is_empty()), ([0; 3], false));
        assert_eq!(seconds.take("b", 1, 9), [7]);
        seconds.settle((1, 7));
        // Its lease ends after that.
        seconds.put_back((1, 7));
        assert!(seconds.is_empty() && seconds.free.is_empty());
    }
}
