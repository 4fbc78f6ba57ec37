//! A plan from a function, for engines that callers of the library bring.

use super::{Counter, CounterSettings, Engine, NotCounted, Plan, PlanName, Tally, Task, TaskWatch};
use crate::board::{GivenBoard, Size};

/// A plan made of one function that counts a task: the shortest way to run an engine of your own, by
/// `queenfold::Job::of`.
///
/// Its name is `own-1`. There is no second method to check it: tasks are not audited. A task that was
/// begun is counted to its end, also if the run stops meanwhile.
///
/// ```
/// # mod queenfold { pub use queenfold_engines::{board::*, engine::*, simd::*}; }
/// use queenfold::{CounterSettings, FunctionPlan, Isa, Plan, Size, Tally};
///
/// // Task i counts the solutions of four queens whose first queen is in column i.
/// let plan = FunctionPlan::new(Size::new(4)?, 4, |column| {
///     let mut tally = Tally::default();
///     tally.completions.add(1, [0, 1, 1, 0][column as usize]);
///     tally
/// });
/// let settings = CounterSettings { isa: Isa::best() };
/// let mut counter = plan.counter(&settings);
/// let found: u128 = (0..4)
///     .map(|index| counter.count(&plan.task(index)).unwrap().found())
///     .sum();
/// assert_eq!(found, 2);
/// assert_eq!(plan.name().to_string(), "own-1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

const FUNCTION: PlanName = PlanName {
    engine: Engine::Own,
    version: 1,
};

impl<F: Fn(u64) -> Tally + Clone + Send + Sync + 'static> Plan for FunctionPlan<F> {
    fn name(&self) -> PlanName {
        FUNCTION
    }

    fn given(&self) -> GivenBoard {
        self.n.into()
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

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        watch.check()?;
        Ok((self.0)(task.key.index))
    }
}
