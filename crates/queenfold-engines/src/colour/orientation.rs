//! Which of a solution and its transposed one is counted, and how often.

use std::cmp::Ordering;

use super::lines::{Lines, Parity, reversed};
use crate::board::Size;

/// Compares the rows and columns of solutions by class.
///
/// The *class* of a set of lines (of the rows, or of the columns, whose queen stands on white) is the same
/// for all its images under the reflections. The transposition exchanges rows and columns. So of a solution
/// and its transposed one, that counts twice whose columns have the smaller class; both count once if the
/// classes are equal.
///
/// On boards of even size, reflections exchange the word of the even lines with the reversed word of the
/// odd ones, and replace both by their complements. The class is the larger and the smaller rank of the two,
/// where the rank of a word is the smaller of it and its complement. On boards of odd size, they reverse
/// both words. The class is the ranks of the even and of the odd word, where the rank is the smaller of a
/// word and its reverse.
#[derive(Clone, Copy, Debug)]
pub struct Orientation {
    is_even: bool,
    lines: Lines,
}

impl Orientation {
    /// Of a board.
    pub const fn of(n: Size) -> Self {
        Self {
            is_even: n.get().is_multiple_of(2),
            lines: Lines::of(n),
        }
    }

    /// The rank of a word of lines of a parity.
    #[inline]
    pub fn rank(self, parity: Parity, word: u32) -> u16 {
        let backwards = || reversed(word, self.lines.count(parity));
        let rank = if self.is_even {
            let own = match parity {
                Parity::Even => word,
                Parity::Odd => backwards(),
            };
            own.min(self.lines.all(parity) & !own)
        } else {
            word.min(backwards())
        };
        rank as u16
    }

    /// The class of a set of lines, from the words of its even and odd lines.
    pub fn class(self, [even, odd]: [u32; 2]) -> [u16; 2] {
        let [even, odd] = [self.rank(Parity::Even, even), self.rank(Parity::Odd, odd)];
        if self.is_even {
            [even.max(odd), even.min(odd)]
        } else {
            [even, odd]
        }
    }

    /// How often a solution counts whose white queens stand in rows and columns of these classes.
    pub fn weight(rows: [u16; 2], columns: [u16; 2]) -> u64 {
        match columns.cmp(&rows) {
            Ordering::Less => 2,
            Ordering::Equal => 1,
            Ordering::Greater => 0,
        }
    }
}
