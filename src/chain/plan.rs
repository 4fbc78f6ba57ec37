use std::ops::Range;
use std::sync::Arc;

use super::launches::ChainLauncher;
use super::partition::{radix, ranks_per_border};
use super::program::BOARDS;
use super::vector::VectorCounter;
use super::{Border, Frame, Jobs, Partition, ScalarCounter};
use crate::board::Size;
use crate::engine::{
    Counter, CounterSettings, Engine, Launcher, NoLauncher, Plan, Task, core_seconds,
};
use crate::simd::Isa;

/// The partitions of the chain engine in order, with random access.
///
/// A **partition** is a border and the queens of the first [`prefix_rows`](Partition::prefix_rows)
/// free rows. Its **rank** is, with `w = n − 2` the number of inner columns,
///
/// ```text
/// rank = (border index · w + (column of the 1st free row − 1)) · w + (column of the 2nd − 1) …
/// ```
///
/// so ranks ascend by (bottom, left, right, top, 1st free row, 2nd free row …). A rank whose
/// prefix attacks itself or the border is *empty*: it has no partition.
///
/// Version `chain-1`. Task `i` holds the ranks `i · s .. (i + 1) · s` (the last task may hold
/// fewer), where `s` depends only on n.
#[derive(Debug)]
pub struct ChainPlan {
    n: Size,
    borders: Arc<[(Border, u8)]>,
    ranks_per_task: u64,
}

impl ChainPlan {
    /// The plan for boards of size `n`. The memory it takes grows with the number of borders, at
    /// most 1e5; the time with the number of border placements that it checks, at most n⁴/16.
    pub fn new(n: Size) -> Self {
        let borders: Arc<[_]> = Border::representatives(n).into();
        let mut plan = Self {
            n,
            borders,
            ranks_per_task: 1,
        };
        plan.ranks_per_task = plan.ranks().div_ceil(1 << task_bits(n)).max(1);
        plan
    }

    /// The number of ranks, empty ones included.
    pub fn ranks(&self) -> u64 {
        self.borders.len() as u64 * ranks_per_border(self.n)
    }

    /// The borders in order, with their weights.
    pub fn borders(&self) -> &[(Border, u8)] {
        &self.borders
    }

    /// The partition of `rank`; `None` if the rank is empty or not below [`ranks`](Self::ranks).
    pub fn partition(&self, rank: u64) -> Option<Partition> {
        let (border, weight) = *self
            .borders
            .get((rank / ranks_per_border(self.n)) as usize)?;
        let frame = Frame::new(self.n, border);
        let mut state = frame.start;
        let mut prefix = Vec::new();
        let mut below = ranks_per_border(self.n);
        for &row in &frame.rows[..Partition::prefix_rows(self.n) as usize] {
            below /= radix(self.n);
            let column = (rank / below % radix(self.n)) as u8 + 1;
            if frame.free(state, row) & 1 << column == 0 {
                return None;
            }
            state = state.enter(row).place(1 << column);
            prefix.push(column);
        }
        Some(Partition {
            border,
            weight,
            prefix,
        })
    }

    /// The rank of a partition of this plan; `None` if its border is no representative or its
    /// prefix has another length. The inverse of [`partition`](Self::partition).
    pub fn rank(&self, partition: &Partition) -> Option<u64> {
        if partition.prefix.len() != Partition::prefix_rows(self.n) as usize {
            return None;
        }
        let index = self
            .borders
            .iter()
            .position(|(border, _)| *border == partition.border)?;
        partition
            .prefix
            .iter()
            .try_fold(index as u64, |rank, &column| {
                let digit = u64::from(column)
                    .checked_sub(1)
                    .filter(|digit| *digit < radix(self.n))?;
                Some(rank * radix(self.n) + digit)
            })
    }

    /// The subtrees that hold exactly the partitions of `ranks`.
    pub fn jobs(&self, ranks: Range<u64>) -> Jobs {
        Jobs::new(self.n, Arc::clone(&self.borders), ranks)
    }
}

/// Binary logarithm of the intended number of tasks. The tree grows about eightfold with each row.
/// Up to n = 24, tasks grow too: from milliseconds at n = 16 to seconds. On larger boards the
/// number of tasks grows as fast as the tree, so tasks stay at seconds if the plan has enough
/// ranks.
const fn task_bits(n: Size) -> u32 {
    match n.get() {
        0..12 => 0,
        n @ 12..25 => 3 * (n - 12) / 2 + 1,
        n => 19 + 3 * (n - 24),
    }
}

impl Plan for ChainPlan {
    fn engine(&self) -> Engine {
        Engine::Chain
    }

    fn version(&self) -> u32 {
        1
    }

    fn size(&self) -> Size {
        self.n
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
        core_seconds(Engine::Chain, self.n, Isa::Avx512)
    }

    fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
        let borders = Arc::clone(&self.borders);
        match self.n.get() {
            0..2 => Box::new(ScalarCounter::new(self.n, borders)),
            2..=18 => Box::new(VectorCounter::<u16>::new(self.n, borders, settings.isa)),
            _ => Box::new(VectorCounter::<u32>::new(self.n, borders, settings.isa)),
        }
    }

    fn oracle(&self) -> Box<dyn Counter> {
        Box::new(ScalarCounter::new(self.n, Arc::clone(&self.borders)))
    }

    fn launcher(&self) -> Result<Arc<dyn Launcher>, NoLauncher> {
        match ChainLauncher::new(self.n, Arc::clone(&self.borders)) {
            Some(launcher) => Ok(Arc::new(launcher)),
            None => Err(NoLauncher::Board(BOARDS)),
        }
    }
}
