use super::Partition;
use super::kernel::JoinKernel;
use super::leaf_audit::LeafAudit;
use super::list_maker::ListMaker;
use super::memory_budget::MemoryBudget;
use super::pairs::{Countable, Lists, Pairs};
use super::ties::Ties;
use crate::board::Size;
use crate::engine::{Counter, CounterSettings, Mismatch, Tally, Task};
use crate::simd::{Algorithm, Simd};

/// Counts join tasks with one instruction set.
pub struct JoinCounter<K> {
    n: Size,
    maker: ListMaker<K>,
    pairs: Pairs<K>,
    /// The ties of the top half and of the bottom half.
    ties: [Ties; 2],
    /// The lists of both halves if their keys fit 32 bits once sorted.
    narrow: Lists<u32>,
    /// The lists of both halves otherwise.
    wide: Lists<u64>,
}

/// A counter for the instruction set that `settings` ask for.
///
/// # Panics
/// If this machine does not have it.
pub fn counter(n: Size, settings: &CounterSettings) -> Box<dyn Counter> {
    settings.isa.run(NewCounter {
        n,
        memory: settings.memory,
    })
}

/// Makes a counter for an instruction set.
struct NewCounter {
    n: Size,
    memory: u64,
}

impl Algorithm for NewCounter {
    type Output = Box<dyn Counter>;

    fn run<S: Simd>(self, simd: S) -> Box<dyn Counter> {
        Box::new(JoinCounter::new(self.n, simd, self.memory))
    }
}

impl<K: JoinKernel> JoinCounter<K> {
    /// A counter that may hold `memory` bytes.
    pub fn new(n: Size, kernel: K, memory: u64) -> Self {
        Self::audited(n, kernel, memory, LeafAudit::new(LeafAudit::ONE_IN))
    }

    /// A counter whose leaves are counted again as `audit` says.
    pub fn audited(n: Size, kernel: K, memory: u64, audit: LeafAudit) -> Self {
        Self {
            n,
            maker: ListMaker::new(n, kernel, MemoryBudget::new(memory)),
            pairs: Pairs::new(kernel, audit),
            ties: Default::default(),
            narrow: Lists::default(),
            wide: Lists::default(),
        }
    }

    /// The audit of the leaves.
    #[cfg(test)]
    pub fn audit(&mut self) -> &mut LeafAudit {
        self.pairs.audit()
    }

    /// The number of pairs of a top half and a bottom half that fit together, each counted as often
    /// as [`WordOrder`](super::word_order::WordOrder) says. Adds the half boards listed to `nodes`.
    fn completions(&mut self, partition: &Partition, nodes: &mut u64) -> u64 {
        let Self {
            maker, pairs, ties, ..
        } = self;
        maker.prepare(partition);
        if maker.layout().rest() <= u32::BITS {
            weighted_pairs(maker, pairs, ties, &mut self.narrow, partition, nodes)
        } else {
            weighted_pairs(maker, pairs, ties, &mut self.wide, partition, nodes)
        }
    }
}

/// The number of pairs of a top half and a bottom half that fit together, each counted as often as
/// [`WordOrder`](super::word_order::WordOrder) says. Each list of the bottom half is compared with
/// each list of the top half. Adds the half boards listed to `nodes`.
fn weighted_pairs<K: JoinKernel, T: Countable>(
    maker: &mut ListMaker<K>,
    pairs: &mut Pairs<K>,
    ties: &mut [Ties; 2],
    lists: &mut Lists<T>,
    partition: &Partition,
    nodes: &mut u64,
) -> u64 {
    let kernel = pairs.kernel();
    let bounds = maker.bounds();
    // The boards of the top half come first: they serve all lists of the bottom half.
    for (side, (ties, half)) in ties
        .iter_mut()
        .zip([&partition.top, &partition.bottom])
        .enumerate()
    {
        ties.clear();
        maker.each_tie(side, half, |keys| ties.add(keys));
        *nodes += ties.patterns().low.len() as u64;
        ties.make(kernel, maker.layout().common_high());
    }
    let [top_ties, bottom_ties] = ties;
    let mut found = 0;
    if bounds.larger == bounds.smaller {
        found += top_ties.count(kernel, bottom_ties.patterns(), pairs.audit());
    }
    if bounds.larger == 0 {
        return found;
    }
    let mut bottoms = maker.parts(&partition.bottom);
    let mut first = true;
    while maker.next_list(1, &mut bottoms, &mut lists.bottom, |keys, weight| {
        found += weight * top_ties.count(kernel, keys, pairs.audit());
    }) {
        *nodes += lists.bottom.len() as u64;
        let mut tops = maker.parts(&partition.top);
        while maker.next_list(0, &mut tops, &mut lists.top, |keys, weight| {
            if first {
                found += weight * bottom_ties.count(kernel, keys, pairs.audit());
            }
        }) {
            *nodes += lists.top.len() as u64;
            found += 2 * pairs.count(lists, maker.layout().sorted());
        }
        first = false;
    }
    found
}

impl<K: JoinKernel> Counter for JoinCounter<K> {
    fn backend(&self) -> &'static str {
        K::ISA.name()
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
