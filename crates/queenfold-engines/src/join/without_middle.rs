use std::ops::Range;

use super::crossing::{Crossing, runs_of};
use super::kernel::{JoinKernel, KeyBatch};
use super::key_layout::KeyLayout;

/// The last lists of half boards that were made as if there were no middle queen. Small boards need
/// each of them once for every column that the middle queen may take.
///
/// The lists lie one after the other in two buffers. When the younger lists take half of what may be
/// kept, the older ones are forgotten, and new lists take their place. With memory of its own for each
/// list, half of the page faults of a run of 17 queens came from here.
pub struct ListsWithoutMiddle {
    /// The lists of even turns and of odd turns.
    buffers: [Buffer; 2],
    /// How often the buffers have changed their places.
    turn: u64,
    /// For each choice of the first [`COLUMNS`] columns, the youngest list with this choice.
    youngest: Vec<List>,
    /// The list that is open.
    open: List,
    /// Keys of that list that the middle queen does not attack.
    free: KeyBatch,
}

/// The keys of lists, one list after the other.
#[derive(Default)]
struct Buffer {
    keys: KeyBatch,
    /// For each run, the rank of its word.
    ranks: Vec<u32>,
}

/// The keys of half boards with queens in the same columns, in the order of their words of rows.
#[derive(Clone, Default)]
struct List {
    columns: u32,
    /// The turn it was made in.
    turn: u64,
    /// The place of its first key in the buffer of that turn.
    first: usize,
    /// Its runs in that buffer.
    runs: Range<usize>,
}

/// How many of the first columns lists are looked up by; of lists that agree in them, the youngest
/// is found. A middle queen takes only these: lists without one are made up to n = 19, where the
/// columns of its left half and the central one are ten (`ColumnSet::middles`).
const COLUMNS: u32 = 10;

/// The number of keys that are looked at in one go: few enough that they stay in the first-level
/// cache.
const BATCH: usize = 2048;

impl Default for ListsWithoutMiddle {
    fn default() -> Self {
        Self {
            buffers: Default::default(),
            // Two turns after that of a list that was never made.
            turn: 2,
            youngest: Vec::new(),
            open: List::default(),
            free: KeyBatch::default(),
        }
    }
}

impl Buffer {
    fn clear(&mut self) {
        self.keys.clear();
        self.ranks.clear();
    }
}

impl ListsWithoutMiddle {
    /// Removes all lists.
    pub fn clear(&mut self) {
        self.turn += 2;
        self.buffers.iter_mut().for_each(Buffer::clear);
    }

    /// Opens the list of half boards with queens in `columns`, if it is kept.
    pub fn open(&mut self, columns: u32) -> bool {
        let turn = self.turn;
        let list = self.youngest(columns);
        let is_kept = list.columns == columns && turn - list.turn <= 1;
        if is_kept {
            self.open = list.clone();
        }
        is_kept
    }

    /// Makes the list of the half boards in `columns`, which `crossing` has open, and opens it. If the
    /// younger lists have more than half of `most` keys, the older ones are removed before; all lists
    /// are, if `most` is 0.
    pub fn make<K: JoinKernel>(
        &mut self,
        kernel: K,
        layout: &KeyLayout,
        crossing: &mut Crossing,
        columns: u32,
        most: usize,
    ) {
        if most == 0 {
            self.clear();
        } else if self.young().keys.low.len() > most / 2 {
            self.turn += 1;
            self.young().clear();
        }
        let turn = self.turn;
        let Buffer { keys, ranks } = self.young();
        let (first, first_run) = (keys.low.len(), ranks.len());
        crossing.add_all_keys(kernel, layout, keys, ranks);
        self.open = List {
            columns,
            turn,
            first,
            runs: first_run..ranks.len(),
        };
        *self.youngest(columns) = self.open.clone();
    }

    /// The buffer of the lists of this turn.
    fn young(&mut self) -> &mut Buffer {
        &mut self.buffers[(self.turn % 2) as usize]
    }

    /// The youngest list that agrees with `columns` in the first [`COLUMNS`].
    fn youngest(&mut self, columns: u32) -> &mut List {
        self.youngest.resize(1 << COLUMNS, List::default());
        &mut self.youngest[(columns % (1 << COLUMNS)) as usize]
    }

    /// The buffer of the list that is open.
    fn buffer(&self) -> &Buffer {
        &self.buffers[(self.open.turn % 2) as usize]
    }

    /// The keys of the open list whose words have this rank: those before them have lower ones.
    pub fn keys_of(&self, rank: u32) -> Range<usize> {
        let Buffer { keys, ranks } = self.buffer();
        let List { first, runs, .. } = &self.open;
        let ends = &keys.ends[runs.clone()];
        let before = |runs: usize| match runs {
            0 => 0,
            _ => ends[runs - 1] as usize - first,
        };
        let runs = runs_of(&ranks[runs.clone()], rank);
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
        let List { first, turn, .. } = self.open;
        let done = range.len().min(BATCH);
        let begin = first + range.start;
        let range = begin..begin + done;
        let Buffer { keys, .. } = &self.buffers[(turn % 2) as usize];
        self.free.clear();
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
        assert!(!maker.lists.open(SOME) && !maker.lists.open(0));
        maker.make(SOME, usize::MAX);
        maker.make(OTHERS, usize::MAX);
        assert!(maker.lists.open(SOME) && maker.lists.open(OTHERS));
        let keys = maker.lists.young().keys.low.len();
        // So many still lie in one buffer, and fewer do not.
        maker.make(SOME << 1, 2 * keys);
        assert!(maker.lists.open(SOME));
        maker.make(OTHERS << 1, 2 * keys);
        assert!(maker.lists.open(SOME) && maker.lists.open(OTHERS << 1));
        // One key less than the lists of the younger buffer have: the older ones are removed.
        let keys = maker.lists.young().keys.low.len();
        maker.make(SOME << 2, 2 * keys - 2);
        assert!(!maker.lists.open(SOME) && !maker.lists.open(OTHERS));
        assert!(maker.lists.open(OTHERS << 1) && maker.lists.open(SOME << 2));
        maker.lists.clear();
        assert!(!maker.lists.open(OTHERS << 1) && !maker.lists.open(SOME << 2));
        maker.make(OTHERS, usize::MAX);
        assert!(maker.lists.open(OTHERS));
        maker.make(SOME, 0);
        assert!(maker.lists.open(SOME) && !maker.lists.open(OTHERS));
    }

    /// New lists take the memory of those that were removed.
    #[test]
    fn buffers_are_used_again() {
        let mut maker = Maker::new();
        let mut memory = Vec::new();
        for round in 0..8 {
            for columns in [SOME, OTHERS] {
                maker.make(columns, 1);
                memory.push(maker.lists.young().keys.low.as_ptr());
            }
            if round == 0 {
                memory.clear();
            }
        }
        memory.sort_unstable();
        memory.dedup();
        assert_eq!(memory.len(), 2);
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
        // Another list lies before it.
        maker.make(OTHERS, usize::MAX);
        maker.make(SOME, usize::MAX);
        assert!(maker.lists.open(SOME));
        let (mut all, mut found) = (KeyBatch::default(), 0);
        let mut ranks = Vec::new();
        maker
            .crossing
            .add_all_keys(Portable, &maker.layout, &mut all, &mut ranks);
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
