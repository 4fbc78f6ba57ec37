//! Sets of tasks, in memory that grows with the tasks and not with the plan.

use std::collections::BTreeMap;

/// A set of tasks of one plan, by their indices.
///
/// Its memory grows with the tasks in it, not with the plan: the plans of the largest boards have
/// more tasks than memory has bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskSet {
    /// One bit a task, in words of 64 neighbours. Words without a task are absent.
    words: BTreeMap<u64, u64>,
    len: u64,
}

impl TaskSet {
    /// Whether the task is in the set.
    pub fn contains(&self, task: u64) -> bool {
        let word = self.words.get(&(task / 64));
        word.is_some_and(|word| word >> (task % 64) & 1 != 0)
    }

    /// Adds a task; `false` if it was there.
    pub fn insert(&mut self, task: u64) -> bool {
        let word = self.words.entry(task / 64).or_default();
        let bit = 1 << (task % 64);
        let new = *word & bit == 0;
        *word |= bit;
        self.len += u64::from(new);
        new
    }

    /// Takes a task out, if it is there.
    pub fn remove(&mut self, task: u64) {
        let word = self.words.entry(task / 64).or_default();
        let bit = 1 << (task % 64);
        self.len -= u64::from(*word & bit != 0);
        *word &= !bit;
    }

    /// The number of tasks.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The tasks, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.words.iter().flat_map(|(&at, &word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 != 0)
                .map(move |bit| 64 * at + bit)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_new_to_a_set_once() {
        let mut set = TaskSet::default();
        assert!(set.is_empty());
        assert!(set.insert(64));
        assert!(!set.insert(64));
        assert!(set.contains(64) && !set.contains(63) && !set.contains(0));
        assert_eq!(set.len(), 1);
    }

    #[test]
    fn tasks_come_in_order_however_far_apart() {
        let mut set = TaskSet::default();
        let tasks = [0, 1, 63, 64, 12_345, u64::MAX];
        for task in tasks.into_iter().rev() {
            assert!(set.insert(task));
        }
        assert!(set.iter().eq(tasks));
    }
}
