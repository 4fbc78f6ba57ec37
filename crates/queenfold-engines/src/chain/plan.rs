//! The plan of the chain engine: how its partitions are cut into tasks, and what counts them.

use super::NAME;
use std::ops::Range;
use std::sync::Arc;

use super::counter::ChainCounter;
use super::launches::ChainLauncher;
use super::partition::{prefix_rows, radix, ranks_per_border};
use super::program::BOARDS;
use super::{Borders, ChainOracle, Subtrees, canary};
use crate::board::{GivenBoard, Size};
use crate::engine::{
    Canary, Counter, CounterSettings, Engine, Launcher, NoLauncher, Plan, PlanName, Task,
    core_seconds, task_bits,
};
use crate::simd::Isa;

/// The partitions of the chain engine in order, cut into tasks.
/// `partition.rs` defines the order.
///
/// Version `chain-1`. Task `i` holds the ranks `i · s .. (i + 1) · s` (the last task may hold
/// fewer), where `s` depends only on the board.
#[derive(Debug)]
pub struct ChainPlan {
    n: Size,
    borders: Arc<Borders>,
    /// The work, as a share of that for the free board.
    work: f64,
    ranks_per_task: u64,
    /// Whether the vector kernel takes lanes of 32 bits: half as many, for boards that need them.
    wide_lanes: bool,
}

impl ChainPlan {
    /// The plan for a board: its size, or a board on which queens and holes are given. The memory it takes
    /// grows with the number of borders, at most 1e5 on each of up to eight images of the given board; the
    /// time with the number of border placements that it checks, at most n⁴/16.
    pub fn new(board: impl Into<GivenBoard>) -> Self {
        let given = board.into();
        let n = given.size();
        let work = Self::work_for(&given);
        let mut plan = Self {
            n,
            borders: Arc::new(Borders::new(given)),
            work,
            ranks_per_task: 1,
            wide_lanes: n.get() > WIDEST_NARROW,
        };
        let tasks = 1 << task_bits(free_task_bits(n), work);
        plan.ranks_per_task = plan.ranks().div_ceil(tasks).max(1);
        plan
    }

    /// The work that a plan for this board takes, as a share of that for the free board: the share of the
    /// solutions that complete it, times the number of its images, which are counted one by one.
    pub fn work_for(given: &GivenBoard) -> f64 {
        given.share() * 8.0 / f64::from(given.symmetries().order())
    }

    /// The number of ranks, empty ones included.
    pub fn ranks(&self) -> u64 {
        self.borders.list().len() as u64 * ranks_per_border(self.n)
    }

    /// The borders.
    pub fn borders(&self) -> &Borders {
        &self.borders
    }

    /// The columns of the queens in the first free rows at `rank`, whether they attack each other or not.
    pub fn prefix_columns(&self, rank: u64) -> Vec<u8> {
        let rows = prefix_rows(self.n);
        let column = |row| rank / radix(self.n).pow(rows - 1 - row) % radix(self.n) + 1;
        (0..rows).map(|row| column(row) as u8).collect()
    }

    /// The subtrees that hold exactly the partitions of `ranks`.
    pub fn subtrees(&self, ranks: Range<u64>) -> Subtrees {
        Subtrees::new(Arc::clone(&self.borders), ranks)
    }
}

/// The largest board whose inner columns fit a lane of 16 bits.
const WIDEST_NARROW: u32 = 18;

/// Binary logarithm of the intended number of tasks for the free board. The tree grows about eightfold with
/// each row. Up to n = 24, tasks grow too: from milliseconds at n = 16 to seconds. On larger boards the
/// number of tasks grows as fast as the tree, so tasks stay at seconds if the plan has enough ranks.
const fn free_task_bits(n: Size) -> u32 {
    match n.get() {
        0..12 => 0,
        n @ 12..25 => 3 * (n - 12) / 2 + 1,
        n => 19 + 3 * (n - 24),
    }
}

impl Plan for ChainPlan {
    fn name(&self) -> PlanName {
        NAME
    }

    fn given(&self) -> GivenBoard {
        self.borders.given()
    }

    fn tasks(&self) -> u64 {
        self.ranks().div_ceil(self.ranks_per_task).max(1)
    }

    fn task(&self, index: u64) -> Task {
        assert!(index < self.tasks(), "task {index} of {}", self.tasks());
        let start = index * self.ranks_per_task;
        let ranks = start..(start + self.ranks_per_task).min(self.ranks());
        Task {
            key: self.key(index),
            // Partitions of one plan differ little in cost, so counting them is good enough.
            cost: self.total_cost() * (ranks.end - ranks.start) as f64 / self.ranks().max(1) as f64,
            ranks,
        }
    }

    fn total_cost(&self) -> f64 {
        self.work * core_seconds(Engine::Chain, self.n, Isa::Avx512)
    }

    fn kernel(&self, isa: Isa) -> &'static str {
        if self.n.get() < 2 {
            "scalar"
        } else {
            isa.name()
        }
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        let borders = Arc::clone(&self.borders);
        if self.n.get() < 2 {
            Box::new(ChainOracle::new(borders))
        } else if self.wide_lanes {
            Box::new(ChainCounter::<u32>::new(borders, settings.isa))
        } else {
            Box::new(ChainCounter::<u16>::new(borders, settings.isa))
        }
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(ChainOracle::new(Arc::clone(&self.borders)))
    }

    fn canary(&self) -> Option<Canary> {
        Some(canary::canary())
    }

    fn canary_counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        let small = Self {
            wide_lanes: self.wide_lanes,
            ..Self::new(canary::canary().size())
        };
        small.counter(settings)
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        match ChainLauncher::new(Arc::clone(&self.borders), self.work) {
            Some(launcher) => Ok(Arc::new(launcher)),
            None => Err(NoLauncher::Board(BOARDS)),
        }
    }
}
