//! What a partition of the colour engine is: a set of rows, with its weight.

use super::lines::{Lines, Parity, reversed};
use crate::board::{Size, Symmetry};

/// The rows whose queen stands on a white square: row + column is even.
///
/// As many even rows as even columns have such a queen, and as many odd rows as odd columns. On boards
/// of even size there are as many even rows as odd ones in the set, on boards of odd size one more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowSet {
    /// The even rows, as a word: bit i is row 2·i.
    pub even: u32,
    /// The odd rows, as a word: bit i is row 2·i + 1.
    pub odd: u32,
    /// The number of sets that this one represents: the size of its orbit under the reflections of rows
    /// and of columns. 4 or 2 on boards of even size, 2 or 1 on others. On a given board, the size of its
    /// orbit under those of them that the board keeps.
    pub weight: u8,
}

impl RowSet {
    /// The rows of a parity, as a word.
    pub const fn word(&self, parity: Parity) -> u32 {
        match parity {
            Parity::Even => self.even,
            Parity::Odd => self.odd,
        }
    }

    /// The rows, one bit for each row of the board.
    pub fn rows(&self) -> u32 {
        Lines::join([self.even, self.odd])
    }

    /// The set of an image of a solution with this set, under a symmetry that maps rows to rows.
    ///
    /// On boards of even size, a reflection exchanges the colours.
    ///
    /// # Panics
    /// The symmetry exchanges rows and columns.
    #[must_use]
    pub fn image(&self, n: Size, symmetry: Symmetry) -> Self {
        let lines = Lines::of(n);
        let is_even = n.get().is_multiple_of(2);
        let complement = |set: Self| Self {
            even: lines.all(Parity::Even) & !set.even,
            odd: lines.all(Parity::Odd) & !set.odd,
            ..set
        };
        let mirror_columns = |set| if is_even { complement(set) } else { set };
        let mirror_rows = |set: Self| {
            let [even, odd] = [reversed(set.even, lines.even), reversed(set.odd, lines.odd)];
            if is_even {
                complement(Self {
                    even: odd,
                    odd: even,
                    ..set
                })
            } else {
                Self { even, odd, ..set }
            }
        };
        match symmetry {
            Symmetry::Identity => *self,
            Symmetry::MirrorColumns => mirror_columns(*self),
            Symmetry::MirrorRows => mirror_rows(*self),
            Symmetry::HalfTurn => mirror_rows(mirror_columns(*self)),
            _ => panic!("{symmetry:?} exchanges rows and columns"),
        }
    }
}
