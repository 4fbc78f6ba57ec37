use super::kernel::JoinKernel;
use super::leaf_audit::LeafAudit;
use super::list_maker::{ListMaker, WithTies};
use super::memory_budget::MemoryBudget;
use super::pairs::{Countable, Lists, Pairs};
use super::ties::Ties;
use super::{JoinBoard, Partition};
use crate::engine::{
    Counter, CounterSettings, GivenUp, NotCounted, Stretch, Tally, Task, TaskWatch,
};
use crate::simd::{Algorithm, Simd};

/// Counts join tasks with one instruction set.
pub struct JoinCounter<K> {
    board: JoinBoard,
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
pub fn counter(board: JoinBoard, settings: &CounterSettings) -> Box<dyn Counter> {
    settings.isa.run(NewCounter {
        board,
        memory: settings.memory,
    })
}

/// Makes a counter for an instruction set.
struct NewCounter {
    board: JoinBoard,
    memory: u64,
}

impl Algorithm for NewCounter {
    type Output = Box<dyn Counter>;

    fn run<S: Simd>(self, simd: S) -> Box<dyn Counter> {
        Box::new(JoinCounter::new(self.board, simd, self.memory))
    }
}

impl<K: JoinKernel> JoinCounter<K> {
    /// A counter that may hold `memory` bytes.
    pub fn new(board: JoinBoard, kernel: K, memory: u64) -> Self {
        Self::audited(board, kernel, memory, LeafAudit::new(LeafAudit::ONE_IN))
    }

    /// A counter whose leaves are counted again as `audit` says.
    pub fn audited(board: impl Into<JoinBoard>, kernel: K, memory: u64, audit: LeafAudit) -> Self {
        let board = board.into();
        Self {
            maker: ListMaker::new(board.size(), kernel, MemoryBudget::new(memory)),
            board,
            pairs: Pairs::new(kernel, audit),
            ties: Default::default(),
            narrow: Lists::default(),
            wide: Lists::default(),
        }
    }

    /// The same, but lists may hold their ties on any board.
    #[cfg(test)]
    pub fn weighing_ties(mut self) -> Self {
        self.maker.weighs_ties = true;
        self
    }

    /// The audit of the leaves.
    #[cfg(test)]
    pub fn audit(&mut self) -> &mut LeafAudit {
        self.pairs.audit()
    }

    /// The number of pairs of a top half and a bottom half that fit together, each counted as often
    /// as [`WordOrder`](super::word_order::WordOrder) says. Adds the half boards listed to the nodes of
    /// `tally`, to which the partition will be added. It is this stretch of the task.
    fn completions(
        &mut self,
        partition: &Partition,
        tally: &mut Tally,
        stretch: Stretch<'_>,
    ) -> Result<u64, GivenUp> {
        let Self {
            maker, pairs, ties, ..
        } = self;
        maker.prepare(partition);
        if maker.layout().rest() <= u32::BITS {
            weighted_pairs(
                maker,
                pairs,
                ties,
                &mut self.narrow,
                partition,
                tally,
                stretch,
            )
        } else {
            weighted_pairs(
                maker,
                pairs,
                ties,
                &mut self.wide,
                partition,
                tally,
                stretch,
            )
        }
    }
}

/// The number of pairs of a top half and a bottom half that fit together, each counted as often as
/// [`WordOrder`](super::word_order::WordOrder) says. Each list of the bottom half is compared with
/// each list of the top half. Adds the half boards listed to the nodes of `tally`.
fn weighted_pairs<K: JoinKernel, T: Countable>(
    maker: &mut ListMaker<K>,
    pairs: &mut Pairs<K>,
    ties: &mut [Ties; 2],
    lists: &mut Lists<T>,
    partition: &Partition,
    tally: &mut Tally,
    stretch: Stretch<'_>,
) -> Result<u64, GivenUp> {
    let kernel = pairs.kernel();
    let bounds = maker.bounds();
    let watch = stretch.watch();
    let weight = u64::from(partition.set.weight);
    let before = tally.completions.solutions() as u64;
    // Before the last pair is subtracted there may be fewer than none.
    let solutions =
        |found: i64| before.saturating_add((found.max(0) as u64).saturating_mul(weight));
    let mut with_ties = WithTies::default();
    // The boards of the top half come first: they serve all lists of the bottom half.
    for (side, (ties, half)) in ties
        .iter_mut()
        .zip([&partition.top, &partition.bottom])
        .enumerate()
    {
        ties.clear();
        with_ties.0[1 - side] = maker.each_tie(side, half, watch, |keys| ties.add(keys))?;
        tally.nodes += ties.patterns().low.len() as u64;
        ties.make(kernel, maker.layout().common_high());
    }
    let [top_ties, bottom_ties] = ties;
    let mut found = 0;
    let times = with_ties.rest_of_two((bounds.larger == bounds.smaller).into());
    if times != 0 {
        found += times * top_ties.count(kernel, bottom_ties.patterns(), pairs.audit()) as i64;
    }
    if bounds.larger == 0 {
        return Ok(found as u64);
    }
    let mut bottoms = maker.parts(&partition.bottom);
    let mut first = true;
    // The half boards of a list are nodes from when they are listed: on large boards that takes minutes.
    let mut listed = tally.nodes;
    while maker.next_list(
        1,
        &mut bottoms,
        &mut lists.bottom,
        with_ties,
        watch,
        |keys, times| {
            listed += keys.low.len() as u64;
            if times != 0 {
                found += times * top_ties.count(kernel, keys, pairs.audit()) as i64;
            }
            watch.note_counted(listed, solutions(found));
        },
    )? {
        tally.nodes += lists.bottom.len() as u64;
        listed = tally.nodes;
        let mut tops = maker.parts(&partition.top);
        while maker.next_list(
            0,
            &mut tops,
            &mut lists.top,
            with_ties,
            watch,
            |keys, times| {
                listed += keys.low.len() as u64;
                if first && times != 0 {
                    found += times * bottom_ties.count(kernel, keys, pairs.audit()) as i64;
                }
                watch.note_counted(listed, solutions(found));
            },
        )? {
            tally.nodes += lists.top.len() as u64;
            listed = tally.nodes;
            watch.note_counted(tally.nodes, solutions(found));
            // How many lists there will be is not known. If there is more than one, the share that
            // events show grows with each partition only.
            let is_all = first && bottoms.is_empty() && tops.is_empty();
            let stretch = if is_all {
                stretch
            } else {
                stretch.part(0, u64::MAX)
            };
            let count = pairs.count(lists, maker.layout().sorted(), stretch)?;
            found += (bounds.below() * count) as i64;
        }
        first = false;
    }
    Ok(u64::try_from(found).expect("no pair is subtracted that was not counted"))
}

impl<K: JoinKernel> Counter for JoinCounter<K> {
    fn backend(&self) -> &'static str {
        K::ISA.name()
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        self.pairs.audit().seed(task.ranks.start);
        let ranks = task.ranks.end - task.ranks.start;
        for rank in task.ranks.clone() {
            let stretch = watch.whole().part(rank - task.ranks.start, ranks);
            let Some(partition) = self.board.partition(rank) else {
                continue;
            };
            tally.partitions += 1;
            let found = self.completions(&partition, &mut tally, stretch)?;
            if let Some(contradiction) = self.pairs.audit().take() {
                return Err(contradiction.into());
            }
            tally.completions.add(partition.set.weight, found.into());
        }
        Ok(tally)
    }
}
