use std::collections::VecDeque;

use super::kernel::{Buckets, Packed};

/// Lists of half boards made of late, *bare*: as if there were no middle queen. Small boards need
/// each of them again for every column that she may take.
#[derive(Default)]
pub struct ListsWithoutMiddle {
    /// The oldest first.
    lists: VecDeque<List>,
    /// The number of lists that have left before those.
    gone: u64,
    /// For the first columns of a list, the number of lists before the youngest that has the same.
    before: Vec<u64>,
    /// Keys of all lists.
    keys: usize,
    /// Lists that have left, for the room that they have.
    spare: Vec<List>,
    /// A list being made.
    growing: Buckets<u32>,
}

#[derive(Default)]
struct List {
    columns: u32,
    keys: Packed,
}

/// Of all lists with the same of the first so many columns, the youngest is found again: a middle
/// queen stands in none beyond them.
const COLUMNS: u32 = 10;

impl ListsWithoutMiddle {
    /// Forgets all lists.
    pub fn clear(&mut self) {
        self.gone += self.lists.len() as u64;
        self.keys = 0;
        self.spare.extend(self.lists.drain(..));
    }

    /// The list of half boards with queens in `columns`, made by `make` unless it is at hand. Before
    /// it is made the oldest lists leave, as long as there are more than `most` keys. `None` if
    /// `make` says that there is no room for it.
    pub fn list(
        &mut self,
        columns: u32,
        most: usize,
        make: impl FnOnce(&mut Buckets<u32>) -> bool,
    ) -> Option<&Packed> {
        self.before.resize(1 << COLUMNS, 0);
        let before = &mut self.before[(columns % (1 << COLUMNS)) as usize];
        let index = before.wrapping_sub(self.gone) as usize;
        let at_hand = |list: &List| list.columns == columns;
        if self.lists.get(index).is_some_and(at_hand) {
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
    use crate::join::kernel::{Kernel, Portable};

    /// A list of as many keys as the number of its columns read as a number, made if need be.
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
    fn lists_are_made_once_until_they_leave() {
        let mut lists = ListsWithoutMiddle::default();
        assert!(list(&mut lists, 10, 35));
        assert!(list(&mut lists, 20, 35));
        assert!(!list(&mut lists, 10, 35));
        // 30 keys are not too many: none leaves. 60 are: the first one and the second one leave.
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
    fn what_was_not_made_is_not_kept() {
        let mut lists = ListsWithoutMiddle::default();
        assert!(lists.list(6, 0, |_| false).is_none());
        assert!(list(&mut lists, 6, 0));
    }
}
