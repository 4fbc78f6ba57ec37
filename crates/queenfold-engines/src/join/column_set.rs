use crate::board::{Size, Symmetry};

/// A column set: the columns that the queens of the top half, of the bottom half and of the middle
/// row stand in.
///
/// Both halves have `h = ⌊n/2⌋` rows and as many columns; on odd boards the queen of the middle row
/// has one column of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSet {
    /// One bit for each column of a queen in the top half.
    pub top: u32,
    /// One bit for each column of a queen in the bottom half.
    pub bottom: u32,
    /// The column of the queen in the middle row; `None` on even boards.
    pub middle: Option<u32>,
    /// The number of column sets that this one represents: the size of its orbit under left-right
    /// reversal and exchange of the halves, 4 or 2 (n = 1: 1). On a given board, the size of its orbit
    /// under those of them that the board keeps.
    pub weight: u8,
}

impl ColumnSet {
    /// The number of rows in each half.
    pub const fn half(n: Size) -> u32 {
        n.get() / 2
    }

    /// The number of columns that the middle queen takes in the plan: those of the left half of the
    /// board and the central one; left-right reversal gives the others. 1 on even boards, which
    /// have no middle queen.
    pub const fn middles(n: Size) -> u64 {
        if n.get().is_multiple_of(2) {
            1
        } else {
            Self::half(n) as u64 + 1
        }
    }

    /// The number of ranks for each column of the middle queen: of two sets that differ by exchange
    /// of the halves, the plan takes the one whose top half has the last column.
    pub const fn per_middle(n: Size) -> u64 {
        match Self::half(n) {
            0 => 1,
            h => choose(2 * h - 1, h - 1),
        }
    }

    /// The number of ranks.
    pub const fn ranks(n: Size) -> u64 {
        Self::middles(n) * Self::per_middle(n)
    }

    /// How many neighbouring columns the middle queen takes in turn while the top set stays the
    /// same. Small boards make the lists of each half once, without a middle queen, and then leave
    /// out what she attacks; this pays up to n = 19 (docs/PERFORMANCE.md, Join, "What was tried").
    /// A divisor of [`middles`](Self::middles).
    pub const fn middles_in_turn(n: Size) -> u32 {
        match n.get() {
            0..=19 => Self::middles(n) as u32,
            _ => 1,
        }
    }

    /// The set of `rank`, which must be below [`ranks`](Self::ranks). `None` if another set
    /// represents the orbit, as for about half the ranks of even boards and of the central middle
    /// column. Takes time proportional to n.
    ///
    /// Columns have an order of significance: first the ⌊n/2⌋ columns left of the middle, from the
    /// middle to the edge, then the others from left to right. Sets are ordered by their top sets,
    /// read as numbers whose lowest bit is the least significant column; top sets hold the last
    /// column. On odd boards the columns that the middle queen takes [in
    /// turn](Self::middles_in_turn), in the same order, form a *turn*. Sets are ordered by turn
    /// first. Within a turn its columns count as the lowest bits of top sets, and sets with the same
    /// top set are ordered by the column of the middle queen.
    pub fn unrank(n: Size, rank: u64) -> Option<Self> {
        debug_assert!(rank < Self::ranks(n));
        let h = Self::half(n);
        let Some(last) = (2 * h).checked_sub(1) else {
            return Some(Self {
                top: 0,
                bottom: 0,
                middle: Some(0),
                weight: 1,
            });
        };
        if n.get().is_multiple_of(2) {
            let top = Self::reorder(n, 1 << last | combination(rank, h - 1, last));
            return Some(Self {
                top,
                bottom: n.full_mask() & !top,
                middle: None,
                weight: weight(top, last)?,
            });
        }
        let turn = Turn::new(n, (rank / Self::per_turn(n)) as u32);
        let (upper, lower, middle) = turn.unrank(rank % Self::per_turn(n));
        let top = Self::reorder(n, turn.spread(upper << turn.middles | lower));
        let middle = Self::reorder(n, 1 << (turn.first + middle)).trailing_zeros();
        let weight = if middle < h {
            4
        } else {
            weight(close_gap(top, middle), last)?
        };
        Some(Self {
            top,
            bottom: n.full_mask() & !top & !(1 << middle),
            middle: Some(middle),
            weight,
        })
    }

    /// The number of ranks of a turn of middle columns.
    const fn per_turn(n: Size) -> u64 {
        Self::middles_in_turn(n) as u64 * Self::per_middle(n)
    }

    /// The rank of a set that represents its orbit. The inverse of [`unrank`](Self::unrank).
    pub fn rank(&self, n: Size) -> u64 {
        let h = Self::half(n);
        let top = Self::reorder(n, self.top);
        match self.middle {
            _ if h == 0 => 0,
            None => ordinal(top & !(1 << (2 * h - 1))),
            Some(middle) => {
                let middle = Self::reorder(n, 1 << middle).trailing_zeros();
                let index = middle / Self::middles_in_turn(n);
                let turn = Turn::new(n, index);
                u64::from(index) * Self::per_turn(n) + turn.rank(top, middle - turn.first)
            }
        }
    }

    /// Exchanges columns and their significance in the order of sets: the first h columns are
    /// reversed, so that the column next to the middle varies fastest, as boards of the left
    /// quadrant place it last. Its own inverse.
    const fn reorder(n: Size, columns: u32) -> u32 {
        let h = Self::half(n);
        if h == 0 {
            return columns;
        }
        let left = (1 << h) - 1;
        columns & !left | (columns & left).reverse_bits() >> (32 - h)
    }

    /// The set of the image of a solution under one of the symmetries of sets. The weight stays.
    pub fn image(&self, n: Size, symmetry: Symmetry) -> Self {
        let mirror = |columns: u32| columns.reverse_bits() >> (Size::MAX - n.get());
        let mirrored = Self {
            top: mirror(self.top),
            bottom: mirror(self.bottom),
            middle: self.middle.map(|column| n.get() - 1 - column),
            ..*self
        };
        let exchanged = |set: Self| Self {
            top: set.bottom,
            bottom: set.top,
            ..set
        };
        match symmetry {
            Symmetry::Identity => *self,
            Symmetry::MirrorColumns => mirrored,
            Symmetry::MirrorRows => exchanged(*self),
            Symmetry::HalfTurn => exchanged(mirrored),
            _ => unreachable!("{symmetry:?} exchanges rows and columns"),
        }
    }

    /// The `count` least significant columns: those that vary fastest. At most n.
    pub const fn fastest(n: Size, count: u32) -> u32 {
        Self::reorder(n, ((1u64 << count) - 1) as u32)
    }
}

/// Neighbouring columns that the middle queen takes in turn, on a board of 2·h + 1 columns.
struct Turn {
    h: u32,
    /// The first of them.
    first: u32,
    /// Their number.
    middles: u32,
}

impl Turn {
    fn new(n: Size, index: u32) -> Self {
        let middles = ColumnSet::middles_in_turn(n);
        Self {
            h: ColumnSet::half(n),
            first: index * middles,
            middles,
        }
    }

    /// Splits a rank within the turn into three: the columns of the top half outside the turn (bits
    /// numbered from 0), those inside the turn, and the place of the middle queen's column in the
    /// turn.
    fn unrank(&self, rank: u64) -> (u32, u32, u32) {
        let middles = u64::from(self.middles);
        // Each middle queen leaves one column less, and the same number of sets for each upper
        // part.
        let closed = combination(rank / middles, self.h - 1, 2 * self.h - 1);
        let upper = (closed | 1 << (2 * self.h - 1)) >> (self.middles - 1);
        let (size, free) = self.lower(upper);
        let within = rank - self.before(upper);
        let lower = combination(within / free, size, self.middles);
        let middle = member(!lower, (within % free) as u32);
        (upper, lower, middle)
    }

    fn rank(&self, top: u32, middle: u32) -> u64 {
        let top = self.gather(top);
        let (upper, lower) = (top >> self.middles, top & ((1 << self.middles) - 1));
        let (_, free) = self.lower(upper);
        let place = (!lower & ((1 << middle) - 1)).count_ones();
        self.before(upper) + ordinal(lower) * free + u64::from(place)
    }

    /// The number of queens of the top half in columns of this turn, and how many of these columns
    /// they leave to the middle queen.
    fn lower(&self, upper: u32) -> (u32, u64) {
        let size = self.h - upper.count_ones();
        (size, u64::from(self.middles - size))
    }

    /// The number of ranks whose upper part is smaller.
    fn before(&self, upper: u32) -> u64 {
        let least = upper << (self.middles - 1) | ((1 << self.lower(upper).0) - 1);
        u64::from(self.middles) * ordinal(least & !(1 << (2 * self.h - 1)))
    }

    /// Moves the columns of this turn from the lowest bits to their places on the board.
    fn spread(&self, set: u32) -> u32 {
        let (others, own) = (set >> self.middles, set & ((1 << self.middles) - 1));
        let below = (1 << self.first) - 1;
        others & below | own << self.first | (others & !below) << self.middles
    }

    /// The inverse of [`spread`](Self::spread).
    fn gather(&self, set: u32) -> u32 {
        let own = set >> self.first & ((1 << self.middles) - 1);
        let below = (1 << self.first) - 1;
        let others = set & below | set >> self.middles & !below;
        others << self.middles | own
    }
}

/// The size of the orbit of `top` if `top` is its smallest member with column `last`, else `None`.
fn weight(top: u32, last: u32) -> Option<u8> {
    let mirror = top.reverse_bits() >> (31 - last);
    let image = if mirror >> last & 1 == 1 {
        mirror
    } else {
        mirror ^ u32::MAX >> (31 - last)
    };
    match top.cmp(&image) {
        std::cmp::Ordering::Less => Some(4),
        std::cmp::Ordering::Equal => Some(2),
        std::cmp::Ordering::Greater => None,
    }
}

/// Removes the bit of `column` and moves those above it one place down.
const fn close_gap(set: u32, column: u32) -> u32 {
    let below = (1 << column) - 1;
    set & below | set >> 1 & !below
}

/// The member of `set` that has `place` smaller members.
pub(super) fn member(set: u32, place: u32) -> u32 {
    (0..place)
        .fold(set, |rest, _| rest & rest.wrapping_sub(1))
        .trailing_zeros()
}

/// Binomial coefficients of n and k up to 32 (Pascal's triangle).
const CHOOSE: [[u64; 33]; 33] = {
    let mut table = [[0; 33]; 33];
    let mut n = 0;
    while n <= 32 {
        table[n][0] = 1;
        let mut k = 1;
        while k <= n {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

/// The number of ways to choose `k` ≤ 32 of `n` ≤ 32: 0 if n < k.
pub const fn choose(n: u32, k: u32) -> u64 {
    CHOOSE[n as usize][k as usize]
}

/// The set of `size` bits below bit `width` that has `rank` smaller ones when read as numbers.
fn combination(mut rank: u64, size: u32, width: u32) -> u32 {
    let mut set = 0;
    let mut missing = size;
    for bit in (0..width).rev() {
        // Sets without this bit come first.
        let without = choose(bit, missing);
        // No branch, because it could not be predicted. If nothing is missing, `rank` is 0.
        let taken = u32::from(rank >= without);
        rank -= without * u64::from(taken);
        missing -= taken;
        set |= taken << bit;
    }
    set
}

/// The number of sets of the same size that are smaller when read as numbers: the inverse of
/// [`combination`].
fn ordinal(set: u32) -> u64 {
    let mut rank = 0;
    let mut members = 0;
    let mut rest = set;
    while rest != 0 {
        let bit = rest.trailing_zeros();
        rest &= rest - 1;
        members += 1;
        rank += choose(bit, members);
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    #[test]
    fn ranks_and_sets_are_inverse() {
        for n in 2..=17 {
            let n = size(n);
            for rank in 0..ColumnSet::ranks(n) {
                if let Some(set) = ColumnSet::unrank(n, rank) {
                    assert_eq!(set.rank(n), rank, "n = {n}, {set:?}");
                    let taken = set.middle.map_or(0, |column| 1 << column);
                    assert_eq!(set.top | set.bottom | taken, n.full_mask());
                    assert_eq!(set.top.count_ones(), n.get() / 2);
                    assert_eq!(set.bottom.count_ones(), n.get() / 2);
                }
            }
        }
    }

    #[test]
    fn large_ranks_and_sets_are_inverse() {
        for n in 27..=32 {
            let n = size(n);
            let ranks = ColumnSet::ranks(n);
            for rank in (0..1000).map(|i| ranks / 1000 * i + i).chain([ranks - 1]) {
                if let Some(set) = ColumnSet::unrank(n, rank) {
                    assert_eq!(set.rank(n), rank, "n = {n}, {set:?}");
                }
            }
        }
    }

    #[test]
    fn weights_add_up_to_all_sets() {
        for n in 2..=17 {
            let n = size(n);
            let weights: u64 = (0..ColumnSet::ranks(n))
                .filter_map(|rank| ColumnSet::unrank(n, rank))
                .map(|set| u64::from(set.weight))
                .sum();
            let h = n.get() / 2;
            let middles = if n.get().is_multiple_of(2) {
                1
            } else {
                n.get()
            };
            assert_eq!(weights, choose(2 * h, h) * u64::from(middles), "n = {n}");
        }
    }

    /// The place of a column in the order of significance.
    fn significance(n: Size, column: u32) -> u32 {
        let h = n.get() / 2;
        if column < h { h - 1 - column } else { column }
    }

    #[test]
    fn sets_are_ordered_by_the_significance_of_their_columns() {
        for n in (2..=18).chain([21, 22, 25, 31, 32]) {
            let n = size(n);
            let order = |set: ColumnSet| {
                let columns = crate::board::bits(set.top);
                let top: u32 = columns.map(|column| 1 << significance(n, column)).sum();
                let middle = set.middle.map(|column| significance(n, column));
                // Where the middle queen keeps her column longest, she decides first.
                if ColumnSet::middles_in_turn(n) > 1 {
                    (0, top, middle)
                } else {
                    (middle.unwrap_or(0), top, None)
                }
            };
            let ranks = ColumnSet::ranks(n);
            let most = if cfg!(miri) { 20 } else { 10_000 };
            let sets = (0..ranks).step_by(1 + ranks as usize / most);
            let sets: Vec<_> = sets.filter_map(|rank| ColumnSet::unrank(n, rank)).collect();
            assert!(
                sets.iter()
                    .copied()
                    .is_sorted_by(|a, b| order(*a) < order(*b)),
                "n = {n}"
            );
        }
    }

    #[test]
    fn the_fastest_columns_are_the_least_significant() {
        for n in Size::all() {
            for count in 0..=n.get() {
                let columns = (0..n.get()).filter(|&column| significance(n, column) < count);
                let expected = columns.fold(0, |columns, column| columns | 1 << column);
                assert_eq!(ColumnSet::fastest(n, count), expected, "{count} of {n}");
            }
        }
    }

    /// The numbers of column sets that an independent program counted.
    #[test]
    fn there_are_as_many_as_counted_elsewhere() {
        let sets = |n| {
            let n = size(n);
            (0..ColumnSet::ranks(n))
                .filter(|&rank| ColumnSet::unrank(n, rank).is_some())
                .count()
        };
        assert_eq!(sets(20), 46_508);
        assert_eq!(sets(21), 970_288);
        assert_eq!(sets(22), 176_870);
    }
}
