use super::crossing::SetBoards;
use super::kernel::JoinKernel;
use super::key_layout::KeyLayout;
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
    halves: Halves<K>,
    /// The lists of both halves if their keys fit 32 bits once sorted.
    narrow: Lists<u32>,
    /// The lists of both halves otherwise.
    wide: Lists<u64>,
}

/// Lists the half boards of a partition, and counts their pairs.
struct Halves<K> {
    maker: ListMaker<K>,
    pairs: Pairs<K>,
    /// The ties of the top half and of the bottom half.
    ties: [Ties; 2],
}

/// A counter that can leave the pairs of lists to somebody else.
pub trait LeavingCounter: Counter {
    /// As [`count_watched`](Counter::count_watched), but for the pairs of those half boards that `leave` takes: the
    /// tally lacks them, and these half boards.
    ///
    /// # Errors
    /// As of the other.
    fn count_leaving(
        &mut self,
        task: &Task,
        watch: &TaskWatch,
        leave: &mut dyn Leave,
    ) -> Result<Tally, NotCounted>;
}

/// Whoever counts pairs in place of a counter.
pub trait Leave {
    /// Whether it is to be asked at all.
    fn wants(&self) -> bool;

    /// Whether it takes the pairs of half boards that these boards of quadrants make; their keys have this `layout`. They
    /// are all pairs of a partition but some of ties.
    fn takes(&mut self, set: &SetBoards<'_>, layout: &KeyLayout) -> bool;

    /// Says what the pairs that it took last stand for.
    fn settle(&mut self, set: LeftPairs);
}

/// What the pairs stand for that were left to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftPairs {
    /// The weight of the partition.
    pub weight: u8,
    /// How many completions among them are none: those of ties that a list holds, and the other half board of
    /// which ranks too high, as far as the CPU counted them.
    pub less: u64,
}

/// Takes nothing.
struct KeepAll;

impl Leave for KeepAll {
    fn wants(&self) -> bool {
        false
    }

    fn takes(&mut self, _: &SetBoards<'_>, _: &KeyLayout) -> bool {
        false
    }

    fn settle(&mut self, _: LeftPairs) {}
}

/// The completions of a partition that were counted here. Less than none if more were subtracted than counted,
/// because the pairs were left to somebody else.
struct Found {
    here: i64,
    left: bool,
}

/// A counter for the instruction set that `settings` ask for.
///
/// # Panics
/// If this machine does not have it.
pub fn counter(board: JoinBoard, settings: &CounterSettings) -> Box<dyn LeavingCounter> {
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
    type Output = Box<dyn LeavingCounter>;

    fn run<S: Simd>(self, simd: S) -> Box<dyn LeavingCounter> {
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
            halves: Halves {
                maker: ListMaker::new(board.size(), kernel, MemoryBudget::new(memory)),
                pairs: Pairs::new(kernel, audit),
                ties: Default::default(),
            },
            board,
            narrow: Lists::default(),
            wide: Lists::default(),
        }
    }

    /// The same, but lists may hold their ties on any board.
    #[cfg(test)]
    pub fn weighing_ties(mut self) -> Self {
        self.halves.maker.weighs_ties = true;
        self
    }

    /// The audit of the leaves.
    #[cfg(test)]
    pub fn audit(&mut self) -> &mut LeafAudit {
        self.halves.pairs.audit()
    }

    /// The number of pairs of a top half and a bottom half that fit together, each counted as often
    /// as [`WordOrder`](super::word_order::WordOrder) says. Adds the half boards listed to the nodes of
    /// `tally`, to which the partition will be added. It is this stretch of the task.
    fn completions(
        &mut self,
        partition: &Partition,
        tally: &mut Tally,
        stretch: Stretch<'_>,
        leave: &mut dyn Leave,
    ) -> Result<Found, GivenUp> {
        let Self { halves, .. } = self;
        halves.maker.prepare(partition);
        if halves.maker.layout().rest() <= u32::BITS {
            halves.weighted_pairs(&mut self.narrow, partition, tally, stretch, leave)
        } else {
            halves.weighted_pairs(&mut self.wide, partition, tally, stretch, leave)
        }
    }
}

impl<K: JoinKernel> Halves<K> {
    /// The number of pairs of a top half and a bottom half that fit together, each counted as often as
    /// [`WordOrder`](super::word_order::WordOrder) says. Each list of the bottom half is compared with
    /// each list of the top half. Adds the half boards listed to the nodes of `tally`. If both lists fit the
    /// memory, they may be left to somebody else.
    fn weighted_pairs<T: Countable>(
        &mut self,
        lists: &mut Lists<T>,
        partition: &Partition,
        tally: &mut Tally,
        stretch: Stretch<'_>,
        leave: &mut dyn Leave,
    ) -> Result<Found, GivenUp> {
        let Self { maker, pairs, ties } = self;
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
            return Ok(Found {
                here: found,
                left: false,
            });
        }
        let halves = [&partition.top, &partition.bottom];
        if !T::HIGH
            && leave.wants()
            && maker.open_boards(halves)
            && leave.takes(&maker.boards(halves, with_ties), maker.layout())
        {
            for (side, others) in [(1, top_ties), (0, bottom_ties)] {
                maker.each_key_for_ties(side, halves[side], with_ties, watch, |keys, times| {
                    found += times * others.count(kernel, keys, pairs.audit()) as i64;
                })?;
            }
            return Ok(Found {
                here: found,
                left: true,
            });
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
        Ok(Found {
            here: found,
            left: false,
        })
    }
}

impl<K: JoinKernel> Counter for JoinCounter<K> {
    fn backend(&self) -> &'static str {
        K::ISA.name()
    }

    fn count_watched(&mut self, task: &Task, watch: &TaskWatch) -> Result<Tally, NotCounted> {
        self.count_leaving(task, watch, &mut KeepAll)
    }
}

impl<K: JoinKernel> LeavingCounter for JoinCounter<K> {
    fn count_leaving(
        &mut self,
        task: &Task,
        watch: &TaskWatch,
        leave: &mut dyn Leave,
    ) -> Result<Tally, NotCounted> {
        let mut tally = Tally::default();
        self.halves.pairs.audit().seed(task.ranks.start);
        let ranks = task.ranks.end - task.ranks.start;
        for rank in task.ranks.clone() {
            let stretch = watch.whole().part(rank - task.ranks.start, ranks);
            let Some(partition) = self.board.partition(rank) else {
                continue;
            };
            tally.partitions += 1;
            let weight = partition.set.weight;
            let Found { here, left } = self.completions(&partition, &mut tally, stretch, leave)?;
            if let Some(contradiction) = self.halves.pairs.audit().take() {
                return Err(contradiction.into());
            }
            if left {
                leave.settle(LeftPairs {
                    weight,
                    less: here.min(0).unsigned_abs(),
                });
            }
            assert!(
                left || here >= 0,
                "no pair is subtracted that was not counted"
            );
            tally.completions.add(weight, here.max(0) as u128);
        }
        Ok(tally)
    }
}
