use std::collections::VecDeque;
use std::ops::Range;

use super::crossing::Crossing;
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
        self.before.resize(1 << COLUMNS, 0);
        let before = self.before[(columns % (1 << COLUMNS)) as usize];
        self.open = before.wrapping_sub(self.gone) as usize;
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
        let index = self.gone + self.open as u64;
        self.before[(columns % (1 << COLUMNS)) as usize] = index;
        self.lists.push_back(list);
    }

    /// The number of keys of the open list whose words have ranks below `rank`.
    pub fn keys_below(&self, rank: u32) -> usize {
        let list = &self.lists[self.open];
        match list.ranks.partition_point(|other| *other < rank) {
            0 => 0,
            runs => list.keys.ends[runs - 1] as usize,
        }
    }

    /// Of the first of these keys of the open list those without any of the bits `attacked`, and
    /// how many were looked at.
    pub fn keys<K: JoinKernel>(
        &mut self,
        kernel: K,
        range: Range<usize>,
        attacked: u64,
    ) -> (&KeyBatch, usize) {
        let range = range.start..range.end.min(range.start + BATCH);
        let List { keys, .. } = &self.lists[self.open];
        self.free.clear();
        let done = range.len();
        kernel.spare(keys, range, attacked, &mut self.free);
        (&self.free, done)
    }
}
