//! The plan of the colour engine: how its partitions are cut into tasks, and what counts them.

use super::NAME;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::cost::Costs;
use super::counter::{NewCounter, by_last_row, kernel_name};
use super::launches::ColourLauncher;
use super::lines::Parity;
use super::program::BOARDS;
use super::{ColourBoard, ColourOracle, Partition, canary};
use crate::board::{GivenBoard, Size};
use crate::engine::{
    Canary, Counter, CounterSettings, Engine, Launcher, NoLauncher, Plan, PlanName, Task,
    core_seconds, task_bits,
};
use crate::simd::Isa;

/// The partitions of the colour engine in order, with random access.
///
/// A partition is a [`RowSet`](super::RowSet). A rank is *empty*, without a partition, if another one
/// represents its set; on the free board none is.
///
/// The completions of a partition are not all of its solutions, each once. A solution whose columns have a
/// smaller class than its rows counts for its transposed one, too; one whose columns have a larger class
/// does not count. So only the sum over all partitions is a number of solutions.
///
/// Version `colour-1`. Task `i` holds the ranks `i · s .. (i + 1) · s` (the last task may hold fewer), where
/// `s` depends on the board alone: many sets for small boards, from 26 queens on some.
#[derive(Debug)]
pub struct ColourPlan {
    board: ColourBoard,
    /// The work, as a share of that for the free board.
    work: f64,
    ranks_per_task: u64,
    costs: OnceLock<Costs>,
}

impl ColourPlan {
    /// The plan for a board: its size, or a board on which queens and holes are given. Takes less than a
    /// millisecond and less than a megabyte.
    pub fn new(board: impl Into<GivenBoard>) -> Self {
        let board = ColourBoard::from(board.into());
        let work = board.work();
        let tasks = 1 << task_bits(free_task_bits(board.size()), work);
        Self {
            ranks_per_task: board.ranks().div_ceil(tasks).max(1),
            costs: OnceLock::new(),
            work,
            board,
        }
    }

    /// The work that a plan for this board takes, as a share of that for the free board.
    pub fn work_for(given: &GivenBoard) -> f64 {
        ColourBoard::from(*given).work()
    }

    /// The number of ranks, empty ones included.
    pub fn ranks(&self) -> u64 {
        self.board.ranks()
    }

    /// What makes launches of units of columns of a parity.
    fn launcher_of(&self, columns: Parity) -> Result<Arc<dyn Launcher>, NoLauncher> {
        match ColourLauncher::new(self.board.clone(), columns, self.work) {
            Some(launcher) => Ok(Arc::new(launcher)),
            None => Err(NoLauncher::Board(BOARDS)),
        }
    }

    /// What counting the partitions of `ranks` is expected to cost, as a share of the cost of all.
    fn share(&self, ranks: Range<u64>) -> f64 {
        let costs = self.costs.get_or_init(|| Costs::new(&self.board));
        let all = ranks.end - ranks.start;
        let looked_at = if self.board.given().is_free() {
            all
        } else {
            all.min(SAMPLE)
        };
        let sample = (0..looked_at).map(|i| ranks.start + i * all / looked_at);
        let partitions = sample.filter_map(|rank| self.board.partition(rank));
        let share: f64 = partitions.map(|partition| costs.share(&partition)).sum();
        share * all as f64 / looked_at.max(1) as f64
    }
}

/// How many ranks of a task of a given board its cost is estimated from. Such a task may hold thousands of ranks, each
/// of them takes a quarter of a microsecond, and a plan is divided into shards by the costs of all of its tasks.
const SAMPLE: u64 = 16;

/// Binary logarithm of the target number of tasks for the free board: a millisecond of a core each at n = 16,
/// a second at n = 24, a few seconds at n = 28. Above that no more of them, so that ledgers do not grow: some minutes at
/// n = 30.
const fn free_task_bits(n: Size) -> u32 {
    match n.get() {
        0..=12 => 0,
        13..=15 => 3,
        16 => 5,
        17 => 6,
        18 => 7,
        19 => 8,
        20 => 10,
        21 => 11,
        22 => 12,
        23 => 13,
        24 => 14,
        25 => 15,
        26 => 17,
        27 => 19,
        _ => 21,
    }
}

impl Plan for ColourPlan {
    fn name(&self) -> PlanName {
        NAME
    }

    fn given(&self) -> GivenBoard {
        self.board.given()
    }

    fn tasks(&self) -> u64 {
        self.ranks().div_ceil(self.ranks_per_task)
    }

    fn task(&self, index: u64) -> Task {
        assert!(index < self.tasks(), "task {index} of {}", self.tasks());
        let ranks = self.ranks_of(index);
        Task {
            key: self.key(index),
            cost: self.total_cost() * self.share(ranks.clone()),
            ranks,
        }
    }

    /// They share the lists of a tile.
    fn neighbours(&self) -> u64 {
        8
    }

    fn ranks_of(&self, index: u64) -> Range<u64> {
        let start = index * self.ranks_per_task;
        start..(start + self.ranks_per_task).min(self.ranks())
    }

    /// The image of the given board, and the rows of the set with its weight.
    fn partition_words(&self, rank: u64) -> Vec<u64> {
        let partition = self.board.partition(rank);
        partition.map_or_else(Vec::new, |Partition { image, set, .. }| {
            vec![image as u64, set.rows().into(), set.weight.into()]
        })
    }

    fn total_cost(&self) -> f64 {
        self.work * core_seconds(Engine::Colour, self.size(), Isa::Avx512)
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        NewCounter::of(self.board.clone(), Parity::Even, settings)
    }

    fn kernel(&self, isa: Isa) -> &'static str {
        kernel_name(Parity::Even, isa)
    }

    fn recounter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        NewCounter::of(self.board.clone(), Parity::Odd, settings)
    }

    fn kernels(&self, isa: Isa) -> [&'static str; 2] {
        [Parity::Even, Parity::Odd].map(|columns| kernel_name(columns, isa))
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(ColourOracle::new(self.board.clone()))
    }

    fn canary(&self) -> Option<Canary> {
        Some(canary::canary(self.size()))
    }

    fn canary_counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        settings.isa.run(NewCounter {
            board: canary::canary(self.size()).size().into(),
            by_last_row: by_last_row(&self.board),
            columns: Parity::Even,
        })
    }

    /// Single sets at least.
    fn in_parts(&self, parts: u64) -> Option<Arc<dyn Plan>> {
        let mut plan = Self::new(self.board.given());
        plan.ranks_per_task = plan.ranks_per_task.div_ceil(parts);
        Some(Arc::new(plan))
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        self.launcher_of(Parity::Even)
    }

    fn relauncher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        self.launcher_of(Parity::Odd)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_add_up() {
        for n in (14..=20).map(|n| Size::new(n).unwrap()) {
            let plan = ColourPlan::new(n);
            let sum: f64 = (0..plan.tasks()).map(|i| plan.task(i).cost).sum();
            let ratio = sum / plan.total_cost();
            assert!((ratio - 1.0).abs() < 0.05, "n = {n}: {ratio}");
        }
    }

    /// Tasks of given boards hold up to thousands of ranks, and their costs are estimated from a few.
    #[test]
    fn costs_of_a_sample_add_up() {
        let given = |n, queens| GivenBoard::parse(Size::new(n).unwrap(), queens, "").unwrap();
        for board in [
            given(20, "c3"),
            given(20, "c3,e10"),
            given(22, "k1,a12,v10"),
        ] {
            let plan = ColourPlan::new(board);
            assert!(plan.ranks_per_task > 4 * SAMPLE, "{board:?}");
            let sum: f64 = (0..plan.tasks()).map(|i| plan.task(i).cost).sum();
            let ratio = sum / plan.total_cost();
            assert!((ratio - 1.0).abs() < 0.1, "{board:?}: {ratio}");
        }
    }

    #[test]
    fn tasks_tile_the_ranks() {
        for n in Size::all() {
            let plan = ColourPlan::new(n);
            let tasks = plan.tasks();
            // More than 28 queens have no more tasks: a ledger holds each of them.
            assert!((1..=1 << 21).contains(&tasks), "n = {n}: {tasks}");
            assert_eq!(plan.task(0).ranks.start, 0);
            assert_eq!(plan.task(tasks - 1).ranks.end, plan.ranks());
            for index in (0..tasks - 1).step_by((tasks / 100).max(1) as usize) {
                let (this, next) = (plan.task(index), plan.task(index + 1));
                assert_eq!(this.ranks.end, next.ranks.start, "n = {n}");
                assert!(this.ranks.start < this.ranks.end);
            }
        }
    }
}
