use std::cmp::Ordering;

use super::lines::{Lines, reversed};
use crate::board::Size;

/// Which of a solution and its transposed one is counted.
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

    /// The rank of a word of even lines.
    pub fn rank_of_even(self, word: u32) -> u16 {
        let image = if self.is_even {
            self.lines.all_even() & !word
        } else {
            reversed(word, self.lines.even)
        };
        word.min(image) as u16
    }

    /// The rank of a word of odd lines.
    pub fn rank_of_odd(self, word: u32) -> u16 {
        let backwards = reversed(word, self.lines.odd);
        if self.is_even {
            self.rank_of_even(backwards)
        } else {
            word.min(backwards) as u16
        }
    }

    /// The class of a set of lines, from the words of its even and odd lines.
    pub fn class(self, [even, odd]: [u32; 2]) -> [u16; 2] {
        let [even, odd] = [self.rank_of_even(even), self.rank_of_odd(odd)];
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
