use std::sync::{Arc, OnceLock};

use super::cost::Costs;
use super::device::{BOARDS, JoinLauncher};
use super::{JoinBoard, JoinOracle, canary, counter::counter};
use crate::board::{GivenBoard, Size};
use crate::engine::{
    Canary, Counter, CounterSettings, Engine, Launcher, NoLauncher, Plan, Task, task_bits,
};

/// The partitions of the join engine in order, with random access.
///
/// A partition is a [`ColumnSet`](super::ColumnSet), from n = 30 on with its outermost queens;
/// [`Partition`](super::Partition) describes the rank. A rank is *empty*, without a partition, if another set
/// represents its set or if its queens attack each other.
///
/// The completions of a partition are not all of its solutions, each once. A solution whose rows
/// rank below its columns counts for its quarter turn, too; one whose rows rank above them does not
/// count. So only the sum over all partitions is a number of solutions.
///
/// Version `join-4`. Task `i` holds the ranks `i · s .. (i + 1) · s` (the last task may hold
/// fewer), where `s` depends on the board alone: many sets for small boards, a few up to n = 28, one set or
/// one slice above that.
#[derive(Debug)]
pub struct JoinPlan {
    board: JoinBoard,
    ranks_per_task: u64,
    costs: Costs,
    total_cost: OnceLock<f64>,
}

impl JoinPlan {
    /// The plan for a board: its size, or a board on which queens and holes are given. Takes hardly any
    /// time and memory.
    pub fn new(board: impl Into<GivenBoard>) -> Self {
        let given = board.into();
        let n = given.size();
        let board = JoinBoard::from(given);
        let work = board.work();
        Self {
            ranks_per_task: board
                .ranks()
                .div_ceil(1 << task_bits(free_task_bits(n), work)),
            costs: Costs::new(n),
            total_cost: OnceLock::new(),
            board,
        }
    }

    /// The work that a plan for this board takes, as a share of that for the free board, and what the board
    /// costs besides, in core-seconds of the machine of [`core_seconds`](crate::engine::core_seconds).
    pub fn work_for(given: &GivenBoard) -> (f64, f64) {
        let board = JoinBoard::from(*given);
        (board.work(), board.overhead())
    }

    /// The number of ranks, empty ones included.
    pub fn ranks(&self) -> u64 {
        self.board.ranks()
    }
}

/// Binary logarithm of the target number of tasks for the free board. A task takes a core half a millisecond at n =
/// 16, a second at n = 24, and ten to a hundred seconds from n = 26 on. Above n = 28 each rank is a
/// task. Up to n = 22 tasks are so long that most of the sets that share boards of quadrants are in
/// the same task: docs/PERFORMANCE.md, Join, "What was tried" has the times for n = 17 to 22 (tasks of
/// so many times as many sets).
const fn free_task_bits(n: Size) -> u32 {
    match n.get() {
        0..=12 => 0,
        13..=15 => 3,
        16 => 6,
        17 => 5,
        18 => 7,
        19 => 8,
        20 => 10,
        21 => 13,
        22 => 12,
        23..=25 => n.get() - 8,
        26 => 18,
        27 => 21,
        28 => 23,
        _ => 63,
    }
}

impl Plan for JoinPlan {
    fn engine(&self) -> Engine {
        Engine::Join
    }

    fn version(&self) -> u32 {
        4
    }

    fn size(&self) -> Size {
        self.board.size()
    }

    fn given(&self) -> GivenBoard {
        self.board.given()
    }

    fn tasks(&self) -> u64 {
        self.ranks().div_ceil(self.ranks_per_task)
    }

    fn task(&self, index: u64) -> Task {
        assert!(index < self.tasks(), "task {index} of {}", self.tasks());
        let start = index * self.ranks_per_task;
        let ranks = start..(start + self.ranks_per_task).min(self.ranks());
        Task {
            key: self.key(index),
            cost: self.costs.of_ranks(&self.board, ranks.clone()),
            ranks,
        }
    }

    fn total_cost(&self) -> f64 {
        *self
            .total_cost
            .get_or_init(|| self.costs.total(&self.board))
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        counter(self.board.clone(), settings)
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(JoinOracle::new(self.board.clone()))
    }

    fn canary(&self) -> Option<Canary> {
        Some(canary::canary(self.size()))
    }

    fn canary_counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        counter(canary::canary(self.size()).size().into(), settings)
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        match JoinLauncher::new(self.board.clone()) {
            Some(launcher) => Ok(Arc::new(launcher)),
            None => Err(NoLauncher::Board(BOARDS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_tile_the_ranks() {
        for n in Size::all() {
            let plan = JoinPlan::new(n);
            let tasks = plan.tasks();
            assert!(tasks >= 1);
            assert_eq!(plan.task(0).ranks.start, 0);
            assert_eq!(plan.task(tasks - 1).ranks.end, plan.ranks());
            for index in (0..tasks - 1).step_by((tasks / 100).max(1) as usize) {
                let (this, next) = (plan.task(index), plan.task(index + 1));
                assert_eq!(this.ranks.end, next.ranks.start, "n = {n}");
                assert!(this.ranks.start < this.ranks.end);
            }
        }
    }

    #[test]
    fn costs_add_up() {
        for n in (1..=20).map(|n| Size::new(n).unwrap()) {
            let plan = JoinPlan::new(n);
            let sum: f64 = (0..plan.tasks()).map(|i| plan.task(i).cost).sum();
            let ratio = sum / plan.total_cost();
            assert!((ratio - 1.0).abs() < 0.01, "n = {n}: {ratio}");
        }
    }

    #[test]
    fn the_total_cost_of_a_large_plan_is_known_at_once() {
        for n in [24, 28, 32] {
            let plan = JoinPlan::new(Size::new(n).unwrap());
            assert!(plan.total_cost().is_finite() && plan.total_cost() > 0.0);
        }
    }
}
