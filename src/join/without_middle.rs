use std::collections::VecDeque;
use std::ops::Range;

use super::crossing::{Crossing, runs_of};
use super::kernel::{JoinKernel, KeyBatch};
use super::key_layout::KeyLayout;

/// The last lists of half boards that were made as if there were no middle queen. Small boards need
/// each of them once for every column that the middle queen may take.
#[derive(Default)]
pub struct ListsWithoutMiddle {
    /// The oldest first.
    lists: VecDeque<List>,
    /// The number of lists removed before those.
    gone: u64,
    /// For each choice of the first [`COLUMNS`] columns, the number of lists made before the
    /// youngest one with this choice.
    before: Vec<u64>,
    /// The number of keys of all lists.
    keys: usize,
    /// Removed lists, whose memory new lists use again.
    spare: Vec<List>,
    /// The list that is open.
    open: usize,
    /// Keys of that list that the middle queen does not attack.
    free: KeyBatch,
}

/// The keys of half boards with queens in the same columns, in the order of their words of rows.
#[derive(Default)]
struct List {
    columns: u32,
    keys: KeyBatch,
    /// For each run, the rank of its word.
    ranks: Vec<u32>,
}

/// How many of the first columns lists are looked up by; of lists that agree in them, the youngest
/// is found. A middle queen takes only these: lists without one are made up to n = 19, where the
/// columns of its left half and the central one are ten (`ColumnSet::middles`).
const COLUMNS: u32 = 10;

/// The number of keys that are looked at in one go: few enough that they stay in the first-level
/// cache.
const BATCH: usize = 2048;

impl ListsWithoutMiddle {
    /// Removes all lists.
    pub fn clear(&mut self) {
        self.gone += self.lists.len() as u64;
        self.keys = 0;
        self.spare.extend(self.lists.drain(..));
    }

    /// Opens the list of half boards with queens in `columns`, if it is kept.
    pub fn open(&mut self, columns: u32) -> bool {
        self.open = self.before(columns).wrapping_sub(self.gone) as usize;
        let is_it = |list: &List| list.columns == columns;
        self.lists.get(self.open).is_some_and(is_it)
    }

    /// Makes the list of the half boards in `columns`, which `crossing` has open, and opens it. The
    /// oldest lists are removed before, until at most `most` keys are left.
    pub fn make<K: JoinKernel>(
        &mut self,
        kernel: K,
        layout: &KeyLayout,
        crossing: &mut Crossing,
        columns: u32,
        most: usize,
    ) {
        while self.keys > most
            && let Some(oldest) = self.lists.pop_front()
        {
            self.gone += 1;
            self.keys -= oldest.keys.low.len();
            self.spare.push(oldest);
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.columns = columns;
        crossing.all_keys(kernel, layout, &mut list.keys, &mut list.ranks);
        self.keys += list.keys.low.len();
        self.open = self.lists.len();
        *self.before(columns) = self.gone + self.open as u64;
        self.lists.push_back(list);
    }

    /// The number of lists made before the youngest one that agrees with `columns` in the first
    /// [`COLUMNS`].
    fn before(&mut self, columns: u32) -> &mut u64 {
        self.before.resize(1 << COLUMNS, 0);
        &mut self.before[(columns % (1 << COLUMNS)) as usize]
    }

    /// The keys of the open list whose words have this rank: those before them have lower ones.
    pub fn keys_of(&self, rank: u32) -> Range<usize> {
        let list = &self.lists[self.open];
        let runs = runs_of(&list.ranks, rank);
        let before = |runs: usize| match runs {
            0 => 0,
            _ => list.keys.ends[runs - 1] as usize,
        };
        before(runs.start)..before(runs.end)
    }

    /// Of the first of these keys of the open list those without any of the bits `attacked`, and
    /// how many were looked at. Without `high`, they have no high parts.
    pub fn keys<K: JoinKernel>(
        &mut self,
        kernel: K,
        range: Range<usize>,
        attacked: u64,
        high: bool,
    ) -> (&KeyBatch, usize) {
        let range = range.start..range.end.min(range.start + BATCH);
        let List { keys, .. } = &self.lists[self.open];
        self.free.clear();
        let done = range.len();
        kernel.spare(keys, range, attacked, high, &mut self.free);
        (&self.free, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::join::crossing::{Context, Wanted};
    use crate::join::row_sets::RowSets;
    use crate::join::word_order::WordOrder;
    use crate::join::{ColumnSet, Half, Side};
    use crate::simd::Portable;

    /// Lists of a board of 13 queens, and what they are made from.
    struct Maker {
        frame: Half,
        layout: KeyLayout,
        rows: RowSets,
        order: WordOrder,
        crossing: Crossing,
        lists: ListsWithoutMiddle,
    }

    impl Maker {
        fn new() -> Self {
            let n = Size::new(13).unwrap();
            let all = ColumnSet {
                top: n.full_mask(),
                bottom: n.full_mask(),
                middle: None,
                weight: 1,
            };
            let [top, bottom] =
                [Side::Top, Side::Bottom].map(|side| Half::new(n, &all, side, None));
            let weights = [0.5; 13];
            // All bits that a middle queen attacks keep a place.
            let layout = KeyLayout::new(n, [&top, &bottom], [&weights; 2], u64::MAX);
            let rows = RowSets::new(6);
            Self {
                frame: top,
                layout,
                order: WordOrder::new(n, &rows),
                rows,
                crossing: Crossing::default(),
                lists: ListsWithoutMiddle::default(),
            }
        }

        fn make(&mut self, columns: u32, most: usize) {
            let Self {
                frame,
                layout,
                rows,
                order,
                crossing,
                lists,
            } = self;
            let context = Context {
                layout,
                rows,
                order,
            };
            let wanted = Wanted {
                columns,
                most_rank: u32::MAX,
                keeps_left: true,
            };
            assert!(crossing.open(Portable, context, frame, wanted, u64::MAX));
            lists.make(Portable, layout, crossing, columns, most);
        }
    }

    const SOME: u32 = 0b0_0101_0110_1010;
    const OTHERS: u32 = 0b0_1010_1001_0101;

    #[test]
    fn lists_are_kept_until_they_are_too_many() {
        let mut maker = Maker::new();
        assert!(!maker.lists.open(SOME));
        maker.make(SOME, usize::MAX);
        maker.make(OTHERS, usize::MAX);
        assert!(maker.lists.open(SOME) && maker.lists.open(OTHERS));
        // One key less than both lists have: the older one is removed.
        let keys = maker.lists.keys;
        maker.make(SOME << 1, keys - 1);
        assert!(!maker.lists.open(SOME));
        assert!(maker.lists.open(OTHERS) && maker.lists.open(SOME << 1));
        maker.lists.clear();
        assert!(!maker.lists.open(OTHERS));
        maker.make(OTHERS, 0);
        assert!(maker.lists.open(OTHERS));
    }

    /// Of lists that agree in the columns they are looked up by, the youngest is found.
    #[test]
    fn lists_with_the_same_first_columns_are_told_apart() {
        let mut maker = Maker::new();
        let [one, other] = [11, 12].map(|last| 0b10_1010_1011 & !1 | 1 << last);
        assert_eq!(one % (1 << COLUMNS), other % (1 << COLUMNS));
        maker.make(one, usize::MAX);
        assert!(!maker.lists.open(other));
        maker.make(other, usize::MAX);
        assert!(maker.lists.open(other) && !maker.lists.open(one));
    }

    /// The keys up to a rank are those of the words below it that the middle queen spares.
    #[test]
    fn keys_are_those_of_smaller_ranks_without_the_attacked_bits() {
        let mut maker = Maker::new();
        maker.make(SOME, usize::MAX);
        assert!(maker.lists.open(SOME));
        let (mut all, mut found) = (KeyBatch::default(), 0);
        let mut ranks = Vec::new();
        maker
            .crossing
            .all_keys(Portable, &maker.layout, &mut all, &mut ranks);
        let middle = Half::middle_key(Size::new(13).unwrap(), 3);
        let attacked = maker.layout.place(Side::Top, middle);
        for rank in [0, 1, ranks[ranks.len() / 2], u32::MAX] {
            let runs = ranks.partition_point(|other| *other < rank);
            let below = all.ends[..runs].last().map_or(0, |end| *end as usize);
            assert_eq!(maker.lists.keys_of(rank).start, below);
            let expected: Vec<u64> = all
                .iter()
                .take(below)
                .filter(|key| key & attacked == 0)
                .collect();
            let mut keys = Vec::new();
            let mut begin = 0;
            while begin < below {
                let (batch, done) = maker.lists.keys(Portable, begin..below, attacked, true);
                keys.extend(batch.iter());
                begin += done;
            }
            assert_eq!(keys, expected, "rank {rank}");
            found += keys.len();
        }
        assert!(found > 0);
    }
}
