//! The tasks of a run that nobody holds.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::{Engine, Plan, PlanName, TaskSet};

/// The tasks of one plan: recorded, held by somebody, or free.
pub struct Pool {
    plan: Arc<dyn Plan>,
    done: TaskSet,
    /// Tasks below the next one that are free again: their leases ended.
    back: BTreeSet<u64>,
    /// All tasks from here on are free, except those that are recorded or held.
    next: u64,
    /// How many tasks are held, that are not recorded.
    held: u64,
}

impl Pool {
    /// The tasks of `plan`, of which `done` are recorded.
    pub fn new(plan: Arc<dyn Plan>, done: TaskSet) -> Self {
        Self {
            plan,
            done,
            back: BTreeSet::new(),
            next: 0,
            held: 0,
        }
    }

    /// Whose tasks they are.
    pub fn engine(&self) -> Engine {
        self.plan.engine()
    }

    /// The plan by name.
    pub fn name(&self) -> PlanName {
        self.plan.name()
    }

    /// Tasks of the plan.
    pub fn tasks(&self) -> u64 {
        self.plan.tasks()
    }

    /// Recorded tasks.
    pub fn recorded(&self) -> u64 {
        self.done.len()
    }

    /// Whether the task is recorded.
    pub fn is_done(&self, task: u64) -> bool {
        self.done.contains(task)
    }

    /// Whether every task is recorded.
    pub fn is_whole(&self) -> bool {
        self.done.len() == self.plan.tasks()
    }

    /// Tasks that nobody holds and that are not recorded.
    pub fn free(&self) -> u64 {
        self.plan.tasks() - self.done.len() - self.held
    }

    /// The share of the tasks that is recorded or held.
    pub fn issued(&self) -> f64 {
        1.0 - self.free() as f64 / self.plan.tasks() as f64
    }

    /// Takes up to `count` free tasks, or all there are. `is_held`: whether somebody holds a task.
    pub fn take(&mut self, count: u64, is_held: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut taken = Vec::new();
        while (taken.len() as u64) < count
            && let Some(task) = self.first_free(&is_held)
        {
            if !self.back.remove(&task) {
                self.next = task + 1;
            }
            self.held += 1;
            taken.push(task);
        }
        taken
    }

    /// The first free task.
    fn first_free(&mut self, is_held: impl Fn(u64) -> bool) -> Option<u64> {
        if let Some(task) = self.back.first() {
            return Some(*task);
        }
        while self.next < self.plan.tasks() {
            if !self.done.contains(self.next) && !is_held(self.next) {
                return Some(self.next);
            }
            self.next += 1;
        }
        None
    }

    /// Notes that somebody holds a task that nobody held: a worker that was there before the coordinator.
    /// Returns whether the task was free.
    pub fn adopt(&mut self, task: u64) -> bool {
        let is_free = task < self.plan.tasks() && !self.done.contains(task);
        if is_free {
            self.back.remove(&task);
            self.held += 1;
        }
        is_free
    }

    /// Notes that nobody holds a task any more.
    pub fn put_back(&mut self, task: u64) {
        if !self.done.contains(task) {
            self.held -= 1;
            self.free_again(task);
        }
    }

    /// Notes that a task is recorded. `was_held`: whether somebody held it.
    pub fn record(&mut self, task: u64, was_held: bool) {
        if self.done.insert(task) {
            self.held -= u64::from(was_held);
            self.back.remove(&task);
        }
    }

    /// Notes that a task is recorded no longer: it is to be counted again.
    pub fn withdraw(&mut self, task: u64) {
        if self.done.remove(task) {
            self.free_again(task);
        }
    }

    fn free_again(&mut self, task: u64) {
        // Those further on are found when they come.
        if task < self.next {
            self.back.insert(task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::chain::ChainPlan;

    fn pool(done: &[u64]) -> Pool {
        let mut set = TaskSet::default();
        for task in done {
            set.insert(*task);
        }
        Pool::new(Arc::new(ChainPlan::new(Size::new(15).unwrap())), set)
    }

    #[test]
    fn every_task_is_taken_once_and_those_that_came_back_come_first() {
        let mut pool = pool(&[0, 3]);
        let all = pool.tasks();
        assert_eq!(pool.take(3, |_| false), [1, 2, 4]);
        pool.put_back(2);
        pool.record(1, true);
        assert_eq!(pool.take(2, |task| task == 5), [2, 6]);
        assert_eq!(pool.free(), all - 3 - 3);
        let mut rest = 0;
        loop {
            let taken = pool.take(100, |_| false).len() as u64;
            if taken == 0 {
                break;
            }
            rest += taken;
        }
        assert_eq!((rest, pool.free()), (all - 7, 1), "5 is held elsewhere");
    }

    #[test]
    fn a_task_that_is_withdrawn_is_free_again() {
        let mut pool = pool(&[0, 1]);
        let free = pool.free();
        assert!(pool.adopt(2) && !pool.adopt(1));
        pool.record(2, true);
        // A result that nobody was asked for.
        pool.record(7, false);
        pool.withdraw(1);
        assert_eq!(pool.free(), free - 2 + 1);
        assert_eq!(pool.take(2, |_| false), [1, 3]);
    }
}
