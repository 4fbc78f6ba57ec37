use std::collections::VecDeque;

use super::kernel::{Buckets, Packed};

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
    /// The list being made.
    growing: Buckets<u32>,
}

#[derive(Default)]
struct List {
    columns: u32,
    keys: Packed,
}

/// How many of the first columns lists are looked up by; of lists that agree in them, the youngest
/// is found. A middle queen takes only these: lists without one are made up to n = 19, where the
/// columns of its left half and the central one are ten (`ColumnSet::middles`).
const COLUMNS: u32 = 10;

impl ListsWithoutMiddle {
    /// Removes all lists.
    pub fn clear(&mut self) {
        self.gone += self.lists.len() as u64;
        self.keys = 0;
        self.spare.extend(self.lists.drain(..));
    }

    /// The list of half boards with queens in `columns`. If it is not kept, `make` makes it, after
    /// the oldest lists have been removed until at most `most` keys are left. `None` if `make`
    /// returns `false` because the memory does not allow the list.
    pub fn list(
        &mut self,
        columns: u32,
        most: usize,
        make: impl FnOnce(&mut Buckets<u32>) -> bool,
    ) -> Option<&Packed> {
        self.before.resize(1 << COLUMNS, 0);
        let before = &mut self.before[(columns % (1 << COLUMNS)) as usize];
        let index = before.wrapping_sub(self.gone) as usize;
        let is_it = |list: &List| list.columns == columns;
        if self.lists.get(index).is_some_and(is_it) {
            return Some(&self.lists[index].keys);
        }
        while self.keys > most
            && let Some(oldest) = self.lists.pop_front()
        {
            self.gone += 1;
            self.keys -= oldest.keys.len();
            self.spare.push(oldest);
        }
        if !make(&mut self.growing) {
            return None;
        }
        let mut list = self.spare.pop().unwrap_or_default();
        list.keys.copy(&self.growing);
        list.columns = columns;
        *before = self.gone + self.lists.len() as u64;
        self.keys += list.keys.len();
        self.lists.push_back(list);
        self.lists.back().map(|list| &list.keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::kernel::Sort;
    use crate::simd::Portable;

    /// Asks for a list of as many keys as `columns` read as a number. Returns whether it had to be
    /// made.
    fn list(lists: &mut ListsWithoutMiddle, columns: u32, most: usize) -> bool {
        let mut made = false;
        let found = lists.list(columns, most, |list| {
            made = true;
            list.clear(0);
            Portable.scatter(&vec![7; columns as usize], list);
            true
        });
        assert_eq!(found.unwrap().len(), columns as usize);
        made
    }

    #[test]
    fn lists_are_made_once_until_they_are_removed() {
        let mut lists = ListsWithoutMiddle::default();
        assert!(list(&mut lists, 10, 35));
        assert!(list(&mut lists, 20, 35));
        assert!(!list(&mut lists, 10, 35));
        // 30 keys are not too many: none is removed. 60 are: the first and the second are removed.
        assert!(list(&mut lists, 30, 35));
        assert!(!list(&mut lists, 20, 35));
        assert!(list(&mut lists, 5, 35));
        assert!(!list(&mut lists, 30, 35));
        assert!(list(&mut lists, 20, 35));
        lists.clear();
        assert!(list(&mut lists, 30, 35));
        assert!(list(&mut lists, 5, 35));
    }

    #[test]
    fn lists_with_the_same_first_columns_are_told_apart() {
        let mut lists = ListsWithoutMiddle::default();
        assert!(list(&mut lists, 3, usize::MAX));
        assert!(list(&mut lists, 3 + (1 << COLUMNS), usize::MAX));
        assert!(list(&mut lists, 3, usize::MAX));
        assert!(!list(&mut lists, 3, usize::MAX));
    }

    #[test]
    fn a_list_that_was_not_made_is_not_kept() {
        let mut lists = ListsWithoutMiddle::default();
        assert!(lists.list(6, 0, |_| false).is_none());
        assert!(list(&mut lists, 6, 0));
    }
}
