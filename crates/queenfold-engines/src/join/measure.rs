use super::Partition;
use super::kernel::{JoinKernel, LEAF, Tables};
use super::leaf_audit::LeafAudit;
use super::list_maker::{ListMaker, WithTies};
use super::memory_budget::MemoryBudget;
use super::pairs::{Lists, Pairs};
use crate::board::Size;
use crate::engine::TaskWatch;
use crate::simd::{Algorithm, Isa, Simd};

/// The parts of the join, each to be measured alone: generation of the lists, the recursion, and a
/// leaf, of one partition.
pub struct MeasuredParts(Box<dyn Measured>);

impl MeasuredParts {
    /// The largest board: the lists of larger ones may not fit [`MEMORY`] as a whole.
    const MAX: u32 = 23;

    /// The parts of the partition of `rank`, with the instruction set `isa`. `None` if the rank is
    /// empty or n is above 23.
    ///
    /// # Panics
    /// If this machine lacks the instruction set.
    pub fn new(n: Size, rank: u64, isa: Isa) -> Option<Self> {
        let partition = Partition::of_rank(n, rank).filter(|_| n.get() <= Self::MAX)?;
        Some(isa.run(NewParts { n, partition }))
    }

    /// Makes both lists. Returns the number of half boards.
    pub fn generate(&mut self) -> u64 {
        self.0.generate()
    }

    /// Counts the disjoint pairs of the lists: recursion and leaves. Returns the number of keys.
    pub fn split(&mut self) -> u64 {
        self.0.split()
    }

    /// Counts one full leaf against up to 4096 items. Returns the number of pairs tested.
    pub fn leaf(&mut self) -> u64 {
        self.0.leaf()
    }
}

/// Bytes that the lists may take: enough for whole lists.
const MEMORY: u64 = 1 << 30;

/// Items of the measured leaf: about four times those of a typical one (1,110 at n = 20,
/// docs/PERFORMANCE.md, Join, "What limits it"), so that the tables hardly matter.
const ITEMS: usize = 4096;

/// Makes the parts for an instruction set.
struct NewParts {
    n: Size,
    partition: Partition,
}

impl Algorithm for NewParts {
    type Output = MeasuredParts;

    fn run<S: Simd>(self, simd: S) -> MeasuredParts {
        MeasuredParts(Box::new(One::new(self.n, simd, self.partition)))
    }
}

trait Measured {
    fn generate(&mut self) -> u64;
    fn split(&mut self) -> u64;
    fn leaf(&mut self) -> u64;
}

struct One<K> {
    kernel: K,
    maker: ListMaker<K>,
    pairs: Pairs<K>,
    partition: Partition,
    lists: Lists<u32>,
    items: Vec<u32>,
    patterns: Vec<u32>,
    tables: Tables,
}

impl<K: JoinKernel> One<K> {
    fn new(n: Size, kernel: K, partition: Partition) -> Self {
        let mut one = Self {
            kernel,
            maker: ListMaker::new(n, kernel, MemoryBudget::new(MEMORY)),
            pairs: Pairs::new(kernel, LeafAudit::new(LeafAudit::ONE_IN)),
            partition,
            lists: Lists::default(),
            items: Vec::new(),
            patterns: Vec::new(),
            tables: Tables::new(),
        };
        one.generate();
        for value in 0..1 << one.maker.layout().sorted() {
            kernel.gather(&one.lists.top, value, 0, &mut one.items);
            kernel.gather(&one.lists.bottom, value, 0, &mut one.patterns);
        }
        one.items.truncate(ITEMS);
        one.patterns.truncate(LEAF);
        one
    }
}

#[expect(
    clippy::expect_used,
    reason = "nobody else has the watch, so nobody gives up"
)]
impl<K: JoinKernel> Measured for One<K> {
    fn generate(&mut self) -> u64 {
        let Self {
            maker,
            partition,
            lists,
            ..
        } = self;
        maker.prepare(partition);
        let halves = [
            (&partition.top, &mut lists.top),
            (&partition.bottom, &mut lists.bottom),
        ];
        let watch = TaskWatch::default();
        for (side, (half, to)) in halves.into_iter().enumerate() {
            let mut parts = maker.parts(half);
            let listed =
                maker.next_list(side, &mut parts, to, WithTies::default(), &watch, |_, _| ());
            listed.expect("nobody asks to give up");
            assert!(parts.is_empty(), "there is memory for whole lists");
        }
        lists.len()
    }

    fn split(&mut self) -> u64 {
        let sorted = self.maker.layout().sorted();
        let watch = TaskWatch::default();
        let counted = self.pairs.count(&mut self.lists, sorted, watch.whole());
        counted.expect("nobody asks to give up");
        self.lists.len()
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
