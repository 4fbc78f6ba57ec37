use super::RowSet;
use super::lines::{Lines, reversed};
use crate::board::Size;

/// The row sets of a free board, one of each orbit under the reflections of rows and columns, by rank.
///
/// Sets are ordered by the number of their even rows, then by the word of these, and then by the word of
/// the odd rows (on boards of even size in reverse order), each read as a number. So the sets that share
/// sub-boards are neighbours.
///
/// On boards of even size, a set stands for its complement and for the reversed sets. With p the word of
/// the even rows and q the reversed word of the odd ones, these symmetries exchange p and q and replace both
/// by their complements. Words of k of h rows, numbered in ascending order, have the numbers of their
/// complements from the end. Of an orbit that set is taken which has the fewest even rows and the smallest p:
/// that of number i goes with each q from number i on; if 2·k = h, only up to that of its complement.
///
/// On boards of odd size, a set stands for the reversed one: of the two, that is taken which has the
/// smaller word of even rows, or if they are equal, of odd rows.
#[derive(Debug)]
pub struct RowSets {
    n: Size,
    outer: Vec<Outer>,
    /// For each number of odd rows, their words.
    inner: Vec<Vec<u16>>,
    /// For each number of odd rows, those of their words that are at most their reverse. Empty on boards
    /// of even size.
    least: Vec<Vec<u16>>,
    ranks: u64,
}

/// The sets with the same even rows.
#[derive(Debug)]
struct Outer {
    /// The rank of the first of them.
    first: u64,
    /// The word of the even rows.
    even: u16,
    /// The number of the first word of odd rows.
    from: u16,
}

impl RowSets {
    /// Those of a board.
    pub fn new(n: Size) -> Self {
        let lines = Lines::of(n);
        let words = |lines: u32| {
            let mut words = vec![Vec::new(); lines as usize + 1];
            for word in 0..1u32 << lines {
                words[word.count_ones() as usize].push(word as u16);
            }
            words
        };
        let (even, odd) = (words(lines.even), words(lines.odd));
        let mut sets = Self {
            n,
            outer: Vec::new(),
            inner: Vec::new(),
            least: Vec::new(),
            ranks: 0,
        };
        if n.get().is_multiple_of(2) {
            let half = lines.even as usize / 2;
            for (size, words) in even.iter().enumerate().take(half + 1) {
                let count = words.len();
                let is_own_complement = 2 * size == lines.even as usize;
                for (at, &word) in words.iter().enumerate() {
                    let end = if is_own_complement { count - at } else { count };
                    sets.push(word, at, end.saturating_sub(at));
                }
            }
            sets.inner = odd;
            for word in sets.inner.iter_mut().flatten() {
                *word = reversed((*word).into(), lines.odd) as u16;
            }
        } else {
            let is_least = |word: u16, lines| u32::from(word) <= reversed(word.into(), lines);
            sets.least = odd.clone();
            for words in &mut sets.least {
                words.retain(|&word| is_least(word, lines.odd));
            }
            for (size, words) in even.iter().enumerate().skip(1) {
                for &word in words.iter().filter(|&&word| is_least(word, lines.even)) {
                    let inner = match reversed(word.into(), lines.even) == u32::from(word) {
                        true => &sets.least,
                        false => &odd,
                    };
                    let count = inner[size - 1].len();
                    sets.push(word, 0, count);
                }
            }
            sets.inner = odd;
        }
        sets
    }

    fn push(&mut self, even: u16, from: usize, count: usize) {
        if count > 0 {
            self.outer.push(Outer {
                first: self.ranks,
                even,
                from: from as u16,
            });
            self.ranks += count as u64;
        }
    }

    /// The number of ranks. None is empty.
    pub fn ranks(&self) -> u64 {
        self.ranks
    }

    /// The set of `rank`, which must be below [`ranks`](Self::ranks).
    pub fn unrank(&self, rank: u64) -> RowSet {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let outer = &self.outer[self.outer.partition_point(|outer| outer.first <= rank) - 1];
        let number = usize::from(outer.from) + (rank - outer.first) as usize;
        let lines = Lines::of(self.n);
        let even = u32::from(outer.even);
        let size = even.count_ones() as usize;
        let backwards = reversed(even, lines.even);
        if self.n.get().is_multiple_of(2) {
            let odd = self.inner[size][number].into();
            let is_fixed = odd == backwards || odd == lines.all_odd() & !backwards;
            return RowSet {
                even,
                odd,
                weight: if is_fixed { 2 } else { 4 },
            };
        }
        let is_palindrome = even == backwards;
        let odd = match is_palindrome {
            true => self.least[size - 1][number],
            false => self.inner[size - 1][number],
        };
        let odd = u32::from(odd);
        let is_fixed = is_palindrome && odd == reversed(odd, lines.odd);
        RowSet {
            even,
            odd,
            weight: if is_fixed { 1 } else { 2 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Symmetry;
    use crate::join::{ColumnSet, OF_SETS};

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    fn sets(n: Size) -> Vec<RowSet> {
        let sets = RowSets::new(n);
        (0..sets.ranks()).map(|rank| sets.unrank(rank)).collect()
    }

    /// The rows of the images of a set, each once, in order.
    fn orbit(n: Size, set: &RowSet) -> Vec<u32> {
        let mut images = OF_SETS
            .map(|symmetry| set.image(n, symmetry).rows())
            .to_vec();
        images.sort_unstable();
        images.dedup();
        images
    }

    /// The rows whose queen stands in an even column, of the set with the rows `white`.
    fn in_even_columns(n: Size, white: u32) -> u32 {
        let even = 0x5555_5555 & n.full_mask();
        white & even | !white & n.full_mask() & !even
    }

    #[test]
    fn the_sets_of_boards_of_even_size_are_the_column_sets_of_the_join() {
        for n in (2..=16).step_by(2).map(size) {
            let mut own: Vec<_> = sets(n)
                .iter()
                .map(|set| (orbit(n, set), set.weight))
                .collect();
            own.sort_unstable();
            let column_sets = (0..ColumnSet::ranks(n)).filter_map(|at| ColumnSet::unrank(n, at));
            let mut theirs: Vec<_> = column_sets
                .map(|set| {
                    let mut images = OF_SETS
                        .map(|symmetry| set.image(n, symmetry).top)
                        .map(|rows| in_even_columns(n, rows))
                        .to_vec();
                    images.sort_unstable();
                    images.dedup();
                    (images, set.weight)
                })
                .collect();
            theirs.sort_unstable();
            assert_eq!(own, theirs, "n = {n}");
        }
    }

    #[test]
    fn the_orbits_are_all_sets_each_once() {
        for n in (1..=17).map(size) {
            let mut all = Vec::new();
            for set in sets(n) {
                let orbit = orbit(n, &set);
                assert_eq!(orbit.len(), usize::from(set.weight), "n = {n}, {set:?}");
                all.extend(orbit);
            }
            all.sort_unstable();
            let surplus = n.get() % 2;
            let mut expected: Vec<_> = (0..=n.full_mask())
                .filter(|&rows| {
                    let [even, odd] = Lines::split(rows).map(u32::count_ones);
                    even == odd + surplus
                })
                .collect();
            expected.sort_unstable();
            assert_eq!(all, expected, "n = {n}");
        }
    }

    /// The numbers of sets that independent programs counted.
    #[test]
    fn there_are_as_many_as_counted_elsewhere() {
        for (n, expected) in [(17, 12_190), (19, 46_252), (20, 46_508), (22, 176_870)] {
            assert_eq!(RowSets::new(size(n)).ranks(), expected, "n = {n}");
        }
    }

    #[test]
    fn half_turns_are_both_reflections() {
        for n in [8, 9].map(size) {
            for set in sets(n) {
                let both = set
                    .image(n, Symmetry::MirrorRows)
                    .image(n, Symmetry::MirrorColumns);
                assert_eq!(set.image(n, Symmetry::HalfTurn), both);
            }
        }
    }
}
