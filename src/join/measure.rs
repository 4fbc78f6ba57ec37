use super::Partition;
use super::counter::{JoinCounter, with_kernel};
use super::kernel::{Kernel, LEAF, Tables};
use super::pairs::Lists;
use crate::board::Size;
use crate::simd::Isa;

/// The phases of the join on their own, to be measured: one partition of a board of at most 23
/// queens.
pub struct MeasuredParts(Box<dyn Measured>);

impl MeasuredParts {
    /// The phases of the partition of `rank`, with one instruction set (that of this machine which
    /// is nearest, if it has not got it). `None` if the rank is empty or the board too large.
    pub fn new(n: Size, rank: u64, isa: Isa) -> Option<Self> {
        let partition = Partition::of_rank(n, rank).filter(|_| n.get() <= 23)?;
        Some(Self(with_kernel!(isa, |kernel| Box::new(One::new(
            n, kernel, partition
        )))))
    }

    /// Makes both lists. Returns the number of placements.
    pub fn generate(&mut self) -> u64 {
        self.0.generate()
    }

    /// Counts the disjoint pairs of the lists: recursion and leaves. Returns the number of keys.
    pub fn split(&mut self) -> u64 {
        self.0.split()
    }

    /// Counts one full leaf against as many items as there are, up to 4096. Returns the number of
    /// pairs tested.
    pub fn leaf(&mut self) -> u64 {
        self.0.leaf()
    }
}

trait Measured {
    fn generate(&mut self) -> u64;
    fn split(&mut self) -> u64;
    fn leaf(&mut self) -> u64;
}

struct One<K> {
    kernel: K,
    counter: JoinCounter<K>,
    partition: Partition,
    lists: Lists<u32>,
    items: Vec<u32>,
    patterns: Vec<u32>,
    tables: Tables,
}

impl<K: Kernel> One<K> {
    fn new(n: Size, kernel: K, partition: Partition) -> Self {
        let mut one = Self {
            kernel,
            counter: JoinCounter::new(n, kernel, 1 << 30),
            partition,
            lists: Lists::default(),
            items: Vec::new(),
            patterns: Vec::new(),
            tables: Tables::new(),
        };
        one.generate();
        for value in 0..1 << one.counter.sorted() {
            kernel.gather(&one.lists.top, value, 0, &mut one.items);
            kernel.gather(&one.lists.bottom, value, 0, &mut one.patterns);
        }
        one.items.truncate(4096);
        one.patterns.truncate(LEAF);
        one
    }
}

impl<K: Kernel> Measured for One<K> {
    fn generate(&mut self) -> u64 {
        self.counter.both_lists(&self.partition, &mut self.lists);
        (self.lists.top.len() + self.lists.bottom.len()) as u64
    }

    fn split(&mut self) -> u64 {
        self.counter.disjoint_pairs(&mut self.lists);
        (self.lists.top.len() + self.lists.bottom.len()) as u64
    }

    fn leaf(&mut self) -> u64 {
        // 28 diagonals, as a leaf of 20 queens has: four tables.
        let used = u32::MAX >> 4;
        std::hint::black_box(
            self.kernel
                .leaf(&self.items, &self.patterns, used, &mut self.tables),
        );
        (self.items.len() * self.patterns.len()) as u64
    }
}
