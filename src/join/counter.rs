use super::Partition;
use super::kernel::Kernel;
use super::leaf_audit::LeafAudit;
use super::list_maker::ListMaker;
use super::memory::MemoryBudget;
use super::pairs::{Countable, Lists, Pairs};
use crate::board::Size;
use crate::engine::{Counter, CounterSettings, Mismatch, Tally, Task};
use crate::simd::Isa;

/// Counts join tasks with one instruction set.
pub struct JoinCounter<K> {
    n: Size,
    kernel: K,
    maker: ListMaker<K>,
    pairs: Pairs<K>,
    /// The lists of both halves if their keys fit 32 bits once sorted.
    narrow: Lists<u32>,
    /// The lists of both halves otherwise.
    wide: Lists<u64>,
}

/// Evaluates an expression with the kernel of an instruction set, or of the next narrower one that
/// this machine has.
macro_rules! with_kernel {
    ($isa:expr, |$kernel:ident| $make:expr) => {{
        use $crate::join::kernel;
        #[cfg(target_arch = "x86_64")]
        {
            let avx512 = kernel::Avx512::new().filter(|_| $isa >= Isa::Avx512);
            let avx2 = kernel::Avx2::new().filter(|_| $isa >= Isa::Avx2);
            match (avx512, avx2) {
                (Some($kernel), _) => $make,
                (None, Some($kernel)) => $make,
                (None, None) => {
                    let $kernel = kernel::Portable;
                    $make
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = $isa;
            let $kernel = kernel::Portable;
            $make
        }
    }};
}
pub(super) use with_kernel;

/// A counter for the instruction set that `settings` ask for.
pub fn counter(n: Size, settings: &CounterSettings) -> Box<dyn Counter> {
    let (isa, memory): (Isa, u64) = (settings.isa, settings.memory);
    with_kernel!(isa, |kernel| Box::new(JoinCounter::new(n, kernel, memory)))
}

impl<K: Kernel> JoinCounter<K> {
    /// A counter that may hold `memory` bytes.
    pub fn new(n: Size, kernel: K, memory: u64) -> Self {
        Self::audited(n, kernel, memory, LeafAudit::new(LeafAudit::ONE_IN))
    }

    /// A counter whose leaves are counted again as `audit` says.
    pub fn audited(n: Size, kernel: K, memory: u64, audit: LeafAudit) -> Self {
        Self {
            n,
            kernel,
            maker: ListMaker::new(n, kernel, MemoryBudget::new(memory)),
            pairs: Pairs::new(kernel, audit),
            narrow: Lists::default(),
            wide: Lists::default(),
        }
    }

    /// The audit of the leaves.
    #[cfg(test)]
    pub fn audit(&mut self) -> &mut LeafAudit {
        self.pairs.audit()
    }

    /// The number of pairs of a top half and a bottom half that fit together. Adds the half boards
    /// listed to `nodes`.
    fn completions(&mut self, partition: &Partition, nodes: &mut u64) -> u64 {
        let Self { maker, pairs, .. } = self;
        maker.prepare(partition);
        if maker.both_from_kept(partition, &mut self.narrow) {
            *nodes += self.narrow.len();
            pairs.count(&mut self.narrow, maker.layout().sorted())
        } else if maker.layout().rest() <= u32::BITS {
            pairs_in_parts(maker, pairs, &mut self.narrow, partition, nodes)
        } else {
            pairs_in_parts(maker, pairs, &mut self.wide, partition, nodes)
        }
    }
}

/// The number of pairs of a top half and a bottom half that fit together: each list of the bottom
/// half is compared with each list of the top half. Adds the half boards listed to `nodes`.
fn pairs_in_parts<K: Kernel, T: Countable>(
    maker: &mut ListMaker<K>,
    pairs: &mut Pairs<K>,
    lists: &mut Lists<T>,
    partition: &Partition,
    nodes: &mut u64,
) -> u64 {
    let mut found = 0;
    // The quarter boards of the top half come first: they serve all lists of the bottom half.
    maker.make_quarter_boards(0, &partition.top);
    let mut bottoms = maker.parts(&partition.bottom);
    while maker.next_list(1, &mut bottoms, &mut lists.bottom) {
        *nodes += lists.bottom.len() as u64;
        let mut tops = maker.parts(&partition.top);
        while maker.next_list(0, &mut tops, &mut lists.top) {
            *nodes += lists.top.len() as u64;
            found += pairs.count(lists, maker.layout().sorted());
        }
    }
    found
}

impl<K: Kernel> Counter for JoinCounter<K> {
    fn backend(&self) -> &'static str {
        self.kernel.name()
    }

    fn count(&mut self, task: &Task) -> Result<Tally, Mismatch> {
        let mut tally = Tally::default();
        self.pairs.audit().seed(task.ranks.start);
        for rank in task.ranks.clone() {
            let Some(partition) = Partition::of_rank(self.n, rank) else {
                continue;
            };
            tally.partitions += 1;
            let found = self.completions(&partition, &mut tally.nodes);
            if let Some(contradiction) = self.pairs.audit().take() {
                return Err(contradiction);
            }
            tally.completions.add(partition.set.weight, found.into());
        }
        Ok(tally)
    }
}
