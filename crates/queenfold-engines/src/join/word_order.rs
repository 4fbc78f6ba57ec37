use std::cmp::Ordering;

use super::ColumnSet;
use super::row_sets::RowSets;
use crate::board::{Size, bits};

/// The order of words, by which each solution is counted in one of its two orientations only.
///
/// **Words.** Number the lines of one side of the board from the edge to the middle. For the
/// columns of the left or of the right side, a *word* says which of their queens stand in the top
/// half; for the rows of the top or of the bottom half, which of their queens stand in the left
/// half. On odd boards it also *marks* the line whose queen stands in the middle row or column, if
/// there is one. A word and its complement are the same word. So mirroring a board exchanges its
/// words, or leaves them as they are, and a quarter turn exchanges the two words of its columns
/// with the two words of its rows.
///
/// **The rule.** Words are ranked. `f(columns)` is the pair of ranks of the two words of the
/// columns, the larger one first, and `f(rows)` that of the rows; pairs are compared
/// lexicographically. A quarter turn exchanges `f(columns)` and `f(rows)`. So there are as many
/// solutions with `f(rows) < f(columns)` as with `f(rows) > f(columns)`, and all solutions are
/// counted by counting the first ones twice and those with equal pairs once.
///
/// **The ranks.** Any order gives the same total. This one leaves the least work: the partition is
/// kept whose columns hold the word with the most placements. Two queens of the same half in
/// columns at distance e attack each other in 2·(h − e) of h·(h − 1) cases, so words are ordered by
/// the sum of h − e over all pairs of lines whose queens stand in the same half, the largest sum
/// first.
#[derive(Debug)]
pub struct WordOrder {
    h: u32,
    /// For each word, its rank: see [`index`](Self::index).
    ranks: Vec<u32>,
    /// Without and with a queen in the central column, for each number of queens in the left
    /// quadrant: see [`choices`](Self::choices).
    choices: [Vec<Vec<Choice>>; 2],
    /// The same for [`lowest`](Self::lowest).
    lowest: [Vec<Vec<u32>>; 2],
}

/// The ranks of two words: of the columns or of the rows of a board.
///
/// Compared lexicographically, the larger rank first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bounds {
    /// The larger rank.
    pub larger: u32,
    /// The smaller rank.
    pub smaller: u32,
}

impl Bounds {
    /// Bounds above those of all words: each solution counts once, where it stands. So it is on given
    /// boards that no symmetry which exchanges rows and columns leaves as they are.
    pub const ALL: Self = Self {
        larger: u32::MAX,
        smaller: u32::MAX,
    };

    /// How often a solution counts whose rows rank below these bounds.
    pub fn below(self) -> u64 {
        if self == Self::ALL { 1 } else { 2 }
    }

    /// The bounds of two words with these ranks.
    pub fn new(one: u32, other: u32) -> Self {
        Self {
            larger: one.max(other),
            smaller: one.min(other),
        }
    }

    /// How often a solution counts whose columns have these bounds and whose rows have those of
    /// `rows`: 2, 1 or 0.
    pub fn weight(self, rows: Self) -> u64 {
        match rows.cmp(&self) {
            Ordering::Less => self.below(),
            Ordering::Equal => 1,
            Ordering::Greater => 0,
        }
    }
}

/// A choice of the rows of a half board whose queens stand in the left quadrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Choice {
    /// The rank of the word of rows.
    pub rank: u32,
    /// The number of these rows among the sets of their size.
    pub left: u16,
    /// The number of the other rows.
    pub right: u16,
    /// If the half board has a queen in the central column, the place of her row among the other
    /// rows.
    pub place: Option<u8>,
}

impl WordOrder {
    /// The order for boards of size `n`. Takes time and memory in proportion to ⌊n/2⌋ · 2^⌊n/2⌋.
    pub fn new(n: Size, rows: &RowSets) -> Self {
        let h = ColumnSet::half(n);
        let marks = if n.get().is_multiple_of(2) { 0 } else { h };
        let mut order = Self {
            h,
            ranks: vec![0; (marks as usize + 1) << h],
            choices: Default::default(),
            lowest: Default::default(),
        };
        let words = std::iter::once(None)
            .chain((0..marks).map(Some))
            .flat_map(|mark| (0..1u32 << h).map(move |lines| (lines, mark)));
        let mut words: Vec<_> = words
            .filter(|&(lines, mark)| order.word(lines, mark) == lines)
            .map(|(lines, mark)| (order.score(lines, mark), order.index(lines, mark)))
            .collect();
        // Marked words have one queen less in pairs. Both kinds are put on one scale, so that their
        // means agree.
        let unmarked = 1usize << h;
        let mean = |marked: bool| {
            let scores = words
                .iter()
                .filter(|(_, index)| (*index >= unmarked) == marked);
            let (sum, count) =
                scores.fold((0, 0), |(sum, count), (score, _)| (sum + score, count + 1));
            (sum << 16) / count.max(1)
        };
        let means = [mean(false), mean(true)];
        for (score, index) in &mut words {
            *score = (*score << 16) - means[usize::from(*index >= unmarked)];
        }
        words.sort_unstable_by_key(|&(score, index)| (-score, index));
        for (rank, (_, index)) in words.into_iter().enumerate() {
            order.ranks[index] = rank as u32;
        }
        order.choices = [false, true].map(|central| {
            let central = central && marks > 0;
            (0..=h)
                .map(|size| order.list_choices(rows, size, central))
                .collect()
        });
        order.lowest = order.choices.each_ref().map(|choices| {
            let of_size = |(size, choices): (usize, &Vec<Choice>)| {
                let mut lowest = vec![u32::MAX; rows.sets(size).len()];
                for choice in choices.iter().rev() {
                    lowest[usize::from(choice.left)] = choice.rank;
                }
                lowest
            };
            choices.iter().enumerate().map(of_size).collect()
        });
        order
    }

    fn list_choices(&self, rows: &RowSets, size: u32, central: bool) -> Vec<Choice> {
        let all = ((1u64 << self.h) - 1) as u32;
        let mut choices = Vec::new();
        for (left, &set) in rows.sets(size as usize).iter().enumerate() {
            let others = all ^ set;
            let choice = |mark, place| Choice {
                rank: self.rank(set, mark),
                left: left as u16,
                right: rows.number(others) as u16,
                place,
            };
            if central {
                let marked = bits(others).enumerate();
                choices.extend(marked.map(|(place, row)| choice(Some(row), Some(place as u8))));
            } else {
                choices.push(choice(None, None));
            }
        }
        choices.sort_unstable();
        choices
    }

    /// All choices of rows for half boards with `size` queens in the left quadrant, by rank.
    /// `central` says whether they have a queen in the central column.
    pub fn choices(&self, size: u32, central: bool) -> &[Choice] {
        &self.choices[usize::from(central)][size as usize]
    }

    /// For each set of `size` rows in the left quadrant, in the order of their numbers, the lowest
    /// rank of a word that they can be part of.
    pub fn lowest(&self, size: u32, central: bool) -> &[u32] {
        &self.lowest[usize::from(central)][size as usize]
    }

    /// The ranks of the two words of the columns of `set`.
    pub fn bounds(&self, n: Size, set: &ColumnSet) -> Bounds {
        let last = n.get() - 1;
        let mirrored = set.top.reverse_bits() >> (31 - last);
        let left = self.rank(set.top, set.middle.filter(|&middle| middle < self.h));
        let right = self.rank(
            mirrored,
            set.middle
                .map(|middle| last - middle)
                .filter(|&middle| middle < self.h),
        );
        Bounds::new(left, right)
    }

    /// The largest rank of a word of the columns that half boards with queens in `columns` may have,
    /// wherever the middle queen of the plan stands. n must be odd.
    pub fn largest_with_middle(&self, n: Size, columns: u32) -> u32 {
        // The words of the other half board are the same.
        let rank = |middle| {
            let set = ColumnSet {
                top: columns,
                bottom: 0,
                middle: Some(middle),
                weight: 1,
            };
            self.bounds(n, &set).larger
        };
        let free = !columns & ((1 << ColumnSet::middles(n)) - 1);
        bits(free).map(rank).max().unwrap_or(0)
    }

    /// The rank of the word of `lines`, one bit for each line from the edge; other bits are
    /// ignored. `mark` is the line whose queen stands in the middle.
    pub fn rank(&self, lines: u32, mark: Option<u32>) -> u32 {
        self.ranks[self.index(self.word(lines, mark), mark)]
    }

    /// Of a word and its complement, the smaller one, without the marked line.
    fn word(&self, lines: u32, mark: Option<u32>) -> u32 {
        let all = self.unmarked(mark);
        (lines & all).min(!lines & all)
    }

    /// All lines but the marked one.
    fn unmarked(&self, mark: Option<u32>) -> u32 {
        ((1u64 << self.h) - 1) as u32 & !mark.map_or(0, |mark| 1 << mark)
    }

    fn index(&self, word: u32, mark: Option<u32>) -> usize {
        (mark.map_or(0, |mark| mark as usize + 1) << self.h) | word as usize
    }

    /// How much the queens of a word attack each other, in cases of h·(h − 1).
    fn score(&self, word: u32, mark: Option<u32>) -> i64 {
        let other = !word & self.unmarked(mark);
        let h = i64::from(self.h);
        let pairs: i64 = (1..self.h)
            .map(|distance| {
                let pairs = (word & word >> distance).count_ones()
                    + (other & other >> distance).count_ones();
                i64::from(pairs) * 2 * (h - i64::from(distance))
            })
            .sum();
        pairs + mark.map_or(0, |mark| i64::from(mark) * (h - 1))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use crate::board::Symmetry;

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    fn order(n: Size) -> WordOrder {
        WordOrder::new(n, &RowSets::new(ColumnSet::half(n)))
    }

    /// Calls `found` with every solution, as the column of the queen in each row.
    fn each_solution(n: u8, queens: &mut Vec<u8>, found: &mut impl FnMut(&[u8])) {
        let row = queens.len();
        if row == usize::from(n) {
            return found(queens);
        }
        for column in 0..n {
            let is_free = queens.iter().enumerate().all(|(above, &queen)| {
                queen != column && usize::from(queen.abs_diff(column)) != row - above
            });
            if is_free {
                queens.push(column);
                each_solution(n, queens, found);
                queens.pop();
            }
        }
    }

    /// The column set of a placement; its weight is not known.
    fn columns(placement: &[u8]) -> ColumnSet {
        let h = placement.len() / 2;
        let union = |queens: &[u8]| queens.iter().fold(0, |union, queen| union | 1 << queen);
        let (top, rest) = placement.split_at(h);
        let (middle, bottom) = rest.split_at(rest.len() - h);
        ColumnSet {
            top: union(top),
            bottom: union(bottom),
            middle: middle.first().map(|&column| column.into()),
            weight: 0,
        }
    }

    /// The ranks of the words of the rows of a placement.
    fn row_bounds(order: &WordOrder, placement: &[u8]) -> Bounds {
        let h = placement.len() / 2;
        let rank = |queens: Vec<u8>| {
            let is_left = |row: &usize| usize::from(queens[*row]) < h;
            let left = (0..h).filter(is_left).fold(0, |left, row| left | 1 << row);
            let central = |queen: &u8| 2 * usize::from(*queen) + 1 == placement.len();
            order.rank(
                left,
                queens[..h].iter().position(central).map(|row| row as u32),
            )
        };
        let upside_down = placement.iter().rev().copied().collect();
        Bounds::new(rank(placement.to_vec()), rank(upside_down))
    }

    /// The largest board whose solutions are looked at.
    const LARGEST: u8 = if cfg!(miri) { 6 } else { 9 };

    #[test]
    fn a_quarter_turn_exchanges_the_bounds_of_rows_and_columns() {
        for n in 2..=LARGEST {
            let order = order(size(n.into()));
            let bounds = |placement: &[u8]| {
                let of_columns = order.bounds(size(n.into()), &columns(placement));
                [of_columns, row_bounds(&order, placement)]
            };
            each_solution(n, &mut Vec::new(), &mut |solution| {
                let [of_columns, of_rows] = bounds(solution);
                for symmetry in Symmetry::ALL {
                    let image = bounds(&symmetry.apply_to_placement(solution));
                    let expected = match symmetry {
                        Symmetry::Identity
                        | Symmetry::HalfTurn
                        | Symmetry::MirrorColumns
                        | Symmetry::MirrorRows => [of_columns, of_rows],
                        _ => [of_rows, of_columns],
                    };
                    assert_eq!(image, expected, "{solution:?}, {symmetry:?}");
                }
            });
        }
    }

    /// As often as the partitions of the plan count the images of a solution, there are images.
    #[test]
    fn the_images_of_a_solution_weigh_as_much_as_there_are() {
        for n in 2..=LARGEST {
            let of = size(n.into());
            let order = order(of);
            let weights: HashMap<_, _> = (0..ColumnSet::ranks(of))
                .filter_map(|rank| ColumnSet::unrank(of, rank))
                .map(|set| ((set.top, set.middle), u64::from(set.weight)))
                .collect();
            each_solution(n, &mut Vec::new(), &mut |solution| {
                let images: BTreeSet<_> = Symmetry::ALL
                    .map(|symmetry| symmetry.apply_to_placement(solution))
                    .into();
                let weight = |image: &Vec<u8>| {
                    let set = columns(image);
                    let partition = weights.get(&(set.top, set.middle))?;
                    let counted = order.bounds(of, &set).weight(row_bounds(&order, image));
                    Some(partition * counted)
                };
                let weight: u64 = images.iter().filter_map(weight).sum();
                assert_eq!(weight, images.len() as u64, "{solution:?}");
            });
        }
    }

    /// Words and their complements have one rank, other words another.
    #[test]
    fn each_word_has_a_rank_of_its_own() {
        for n in [2, 3, 8, 9, 14, 15] {
            let (n, h) = (size(n), n / 2);
            let order = order(n);
            let marks = (0..h).filter(|_| !n.get().is_multiple_of(2)).map(Some);
            let mut ranks = Vec::new();
            for mark in std::iter::once(None).chain(marks) {
                let marked = mark.map_or(0, |mark| 1 << mark);
                let all = ((1 << h) - 1) & !marked;
                for word in (0..1u32 << h).filter(|word| word & marked == 0) {
                    let rank = order.rank(word, mark);
                    assert_eq!(order.rank(word ^ all, mark), rank);
                    // The marked line and what lies beyond the half do not count.
                    assert_eq!(order.rank(word | marked | u32::MAX << h, mark), rank);
                    if word <= word ^ all {
                        ranks.push(rank);
                    }
                }
            }
            ranks.sort_unstable();
            assert!(ranks.iter().copied().eq(0..ranks.len() as u32), "n = {n}");
        }
    }

    /// A plan counts by these ranks: if one changes, the version of the join's plan must, too.
    #[test]
    #[cfg_attr(miri, ignore = "half a million words")]
    fn the_ranks_of_words_stay() {
        for (n, expected) in [
            (8, 0x21B0_40A3_EBF5_1F5F),
            (9, 0x71C2_FA15_57B9_2E15),
            (16, 0x878A_3F89_FB14_1D13),
            (17, 0x8C6B_9F74_3D47_6DF1),
            (24, 0x8EB0_95CB_6F6F_8A5F),
            (27, 0xFCD4_2B42_C24B_1B33),
            (32, 0xA213_564B_0BFF_53BD_u64),
        ] {
            let order = order(size(n));
            // FNV-1a over the ranks.
            let hash = order
                .ranks
                .iter()
                .fold(0xCBF2_9CE4_8422_2325u64, |hash, &rank| {
                    (hash ^ u64::from(rank)).wrapping_mul(0x0100_0000_01B3)
                });
            assert_eq!(hash, expected, "n = {n}: {hash:#X}");
        }
    }
}
