//! A plan from a function, for engines that callers of the library bring.

use super::{Counter, CounterSettings, Engine, Mismatch, Plan, Tally, Task};
use crate::board::Size;

/// A plan made of one function that counts a task: the shortest way to run an engine of your own.
///
/// Its tasks are named `chain-0`, which no engine of this library is. There is no second method
/// to check it: tasks are not audited, and `verify` calls the function again.
#[derive(Clone)]
pub struct FunctionPlan<F> {
    n: Size,
    tasks: u64,
    count: F,
}

impl<F: Fn(u64) -> Tally + Clone + Send + Sync + 'static> FunctionPlan<F> {
    /// `count` counts the task of an index below `tasks`, of equal work. The tallies of all tasks must
    /// add up to all solutions of the board of size `n`.
    pub const fn new(n: Size, tasks: u64, count: F) -> Self {
        Self { n, tasks, count }
    }
}

impl<F: Fn(u64) -> Tally + Clone + Send + Sync + 'static> Plan for FunctionPlan<F> {
    fn engine(&self) -> Engine {
        Engine::Chain
    }

    fn version(&self) -> u32 {
        0
    }

    fn size(&self) -> Size {
        self.n
    }

    fn tasks(&self) -> u64 {
        self.tasks
    }

    fn task(&self, index: u64) -> Task {
        Task {
            key: self.key(index),
            ranks: index..index + 1,
            cost: 1.0,
        }
    }

    fn total_cost(&self) -> f64 {
        self.tasks as f64
    }

    fn counter(&self, _: &CounterSettings) -> Box<dyn Counter> {
        self.oracle()
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(FunctionCounter(self.count.clone()))
    }
}

struct FunctionCounter<F>(F);

impl<F: Fn(u64) -> Tally + Send> Counter for FunctionCounter<F> {
    fn backend(&self) -> &'static str {
        "function"
    }

    fn count(&mut self, task: &Task) -> Result<Tally, Mismatch> {
        Ok((self.0)(task.key.index))
    }
}
