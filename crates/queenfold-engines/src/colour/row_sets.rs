//! Which sets of rows are counted, one of each symmetry class, and in which order.

use std::cmp::Ordering;

use super::RowSet;
use super::lines::{Lines, Parity, reversed};
use crate::board::Size;

/// The row sets of a free board, one of each orbit under the reflections of rows and columns, by rank.
///
/// On boards of even size, a set stands for its complement and for the reversed sets. With p the word of
/// the even rows and q the reversed word of the odd ones, these symmetries exchange p and q and replace both
/// by their complements. Words of k of h rows, numbered in ascending order, have the numbers of their
/// complements from the end. Of an orbit that set is taken which has the fewest even rows and the smallest p:
/// that of number i goes with each q from number i on; if 2·k = h, only up to that of its complement.
///
/// On boards of odd size, a set stands for the reversed one: of the two, that is taken which has the
/// smaller word p of even rows, or if they are equal, q of odd rows.
///
/// Sets that share placements on a sub-board are neighbours: sets are ordered by the size of p, and then by
/// *tile*, some consecutive words p; within a tile by q, and then by p.
#[derive(Debug)]
pub struct RowSets {
    n: Size,
    tiles: Vec<Tile>,
    /// The words of even rows, tile by tile.
    even: Vec<u16>,
    /// For each number of odd rows, their words by the number of q.
    odd: Vec<Vec<u16>>,
    /// For each number of odd rows, those of their words that are at most their reverse. Empty on boards
    /// of even size.
    least: Vec<Vec<u16>>,
    ranks: u64,
}

/// The sets of some consecutive words p.
#[derive(Debug)]
struct Tile {
    /// The rank of the first of them.
    first: u64,
    /// Where the words p begin.
    start: usize,
    /// The number of words p.
    words: usize,
    /// The words q.
    others: Others,
}

/// Which words q go with the words p of a tile.
#[derive(Clone, Copy, Debug)]
enum Others {
    /// With p of each number those from the same number on. That of the first p is given.
    From(usize),
    /// The same, up to the number of the complement of p.
    Within(usize),
    /// All.
    All,
    /// All that are at most their reverse.
    Least,
}

impl RowSets {
    /// How many words p of a size a tile has at most. Their placements are listed once for all sets of the tile, and
    /// so they must fit the memory. Above half of the rows, these lists are long, and the others short.
    pub const fn tile(n: Size, size: u32) -> usize {
        let half: usize = match n.get() {
            0..=20 => return 32,
            21..=24 => 16,
            25 | 26 => 8,
            27 | 28 => 4,
            _ => 1,
        };
        let above = size.saturating_sub(n.get().div_ceil(2) / 2);
        let words = half >> if above < 2 { 2 * above } else { 4 };
        if words > 0 { words } else { 1 }
    }

    /// Those of a board.
    pub fn new(n: Size) -> Self {
        let lines = Lines::of(n);
        let is_even = n.get().is_multiple_of(2);
        let mut sets = Self {
            n,
            tiles: Vec::new(),
            even: Vec::new(),
            odd: words(lines.odd),
            least: Vec::new(),
            ranks: 0,
        };
        if is_even {
            for word in sets.odd.iter_mut().flatten() {
                *word = reversed((*word).into(), lines.odd) as u16;
            }
        } else {
            sets.least = sets.odd.clone();
            for words in &mut sets.least {
                words.retain(|&word| u32::from(word) <= reversed(word.into(), lines.odd));
            }
        }
        for (size, words) in words(lines.even).iter().enumerate() {
            let twice = 2 * size as u32;
            if is_even && twice < lines.even {
                sets.add(words, Others::From);
            } else if is_even && twice == lines.even {
                sets.add(&words[..words.len() / 2], Others::Within);
            } else if !is_even && size > 0 {
                let with = |ordering| {
                    let words = words.iter().copied();
                    let is = move |word: u32| word.cmp(&reversed(word, lines.even)) == ordering;
                    words
                        .filter(move |&word| is(word.into()))
                        .collect::<Vec<_>>()
                };
                sets.add(&with(Ordering::Less), |_| Others::All);
                sets.add(&with(Ordering::Equal), |_| Others::Least);
            }
        }
        sets
    }

    /// Adds the tiles of words p of one size, from the first number on.
    fn add(&mut self, words: &[u16], others: impl Fn(usize) -> Others) {
        let Some(most) = words
            .first()
            .map(|word| Self::tile(self.n, word.count_ones()))
        else {
            return;
        };
        for (number, words) in words.chunks(most).enumerate() {
            let tile = Tile {
                first: self.ranks,
                start: self.even.len(),
                words: words.len(),
                others: others(number * most),
            };
            self.even.extend(words);
            let [few, full, less] = self.spans(&tile);
            self.ranks += (few + full + less) as u64;
            self.tiles.push(tile);
        }
    }

    /// The words q of a tile, from the first one on.
    fn others(&self, tile: &Tile) -> &[u16] {
        let size = self.even[tile.start].count_ones() as usize;
        match tile.others {
            Others::From(first) | Others::Within(first) => &self.odd[size][first..],
            Others::All => &self.odd[size - 1],
            Others::Least => &self.least[size - 1],
        }
    }

    /// The numbers of sets of a tile of b words p with those q that go with 1, 2 … b − 1 of them; with those
    /// that go with all; and with those that go with b − 1, b − 2 … 1.
    fn spans(&self, tile: &Tile) -> [usize; 3] {
        let (words, others) = (tile.words, self.others(tile).len());
        let triangle = words * (words - 1) / 2;
        match tile.others {
            Others::All | Others::Least => [0, words * others, 0],
            Others::From(_) => [triangle, words * (others - (words - 1)), 0],
            Others::Within(first) => {
                let full = others - first - 2 * (words - 1);
                [triangle, words * full, triangle]
            }
        }
    }

    /// The number of ranks. None is empty.
    pub const fn ranks(&self) -> u64 {
        self.ranks
    }

    /// The number of sets with so many even rows.
    pub fn of_size(&self, even: u32) -> u64 {
        let own = |tile: &&Tile| self.even[tile.start].count_ones() == even;
        let tiles = self.tiles.iter().filter(own);
        tiles
            .map(|tile| self.spans(tile).iter().sum::<usize>() as u64)
            .sum()
    }

    /// The set of `rank`, which must be below [`ranks`](Self::ranks).
    pub fn unrank(&self, rank: u64) -> RowSet {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let tile = &self.tiles[self.tiles.partition_point(|tile| tile.first <= rank) - 1];
        let [few, full, _] = self.spans(tile);
        let mut left = (rank - tile.first) as usize;
        let (mut other, mut beside);
        if left < few {
            (other, beside) = (0, 1);
            while left >= beside {
                left -= beside;
                (other, beside) = (other + 1, beside + 1);
            }
        } else {
            let before = if few > 0 { tile.words - 1 } else { 0 };
            left -= few;
            other = before + left.min(full) / tile.words;
            if left < full {
                left %= tile.words;
            } else {
                left -= full;
                beside = tile.words - 1;
                while left >= beside {
                    left -= beside;
                    (other, beside) = (other + 1, beside - 1);
                }
            }
        }
        let even = self.even[tile.start + left].into();
        self.set(even, self.others(tile)[other].into())
    }

    /// The set of these rows, with its weight.
    fn set(&self, even: u32, odd: u32) -> RowSet {
        let lines = Lines::of(self.n);
        let backwards = reversed(even, lines.even);
        let weight = if self.n.get().is_multiple_of(2) {
            let is_fixed = odd == backwards || odd == lines.all(Parity::Odd) & !backwards;
            if is_fixed { 2 } else { 4 }
        } else {
            let is_fixed = even == backwards && odd == reversed(odd, lines.odd);
            if is_fixed { 1 } else { 2 }
        };
        RowSet { even, odd, weight }
    }
}

/// For each number of `lines` lines, their words in ascending order.
pub fn words(lines: u32) -> Vec<Vec<u16>> {
    let mut words = vec![Vec::new(); lines as usize + 1];
    for word in 0..1u32 << lines {
        words[word.count_ones() as usize].push(word as u16);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Symmetry;
    use crate::colour::OF_SETS;

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
