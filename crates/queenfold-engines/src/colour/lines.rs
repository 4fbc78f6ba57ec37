//! Rows and columns of even and of odd number, and sets of them as words.

use crate::board::{Size, bits};

/// Whether lines have even or odd numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// 0, 2, 4 …
    Even,
    /// 1, 3, 5 …
    Odd,
}

impl Parity {
    /// The other one.
    pub const fn other(self) -> Self {
        match self {
            Self::Even => Self::Odd,
            Self::Odd => Self::Even,
        }
    }
}

/// The lines (rows, or columns) of even and of odd number of a board.
///
/// A set of lines of one parity is a *word*: bit i is line 2·i, or line 2·i + 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The number of even lines.
    pub even: u32,
    /// The number of odd lines: as many, or one less.
    pub odd: u32,
}

impl Lines {
    /// Those of a board.
    pub const fn of(n: Size) -> Self {
        Self {
            even: n.get().div_ceil(2),
            odd: n.get() / 2,
        }
    }

    /// The number of lines of a parity.
    pub const fn count(self, parity: Parity) -> u32 {
        match parity {
            Parity::Even => self.even,
            Parity::Odd => self.odd,
        }
    }

    /// The word of all lines of a parity.
    pub const fn all(self, parity: Parity) -> u32 {
        (1 << self.count(parity)) - 1
    }

    /// The even and the odd lines of a set of lines of the board.
    pub fn split(lines: u32) -> [u32; 2] {
        let of = |parity: u32| {
            let own = bits(lines).filter(|line| line % 2 == parity);
            own.fold(0, |word, line| word | 1 << (line / 2))
        };
        [of(0), of(1)]
    }

    /// The inverse of [`split`](Self::split).
    pub fn join([even, odd]: [u32; 2]) -> u32 {
        let even = bits(even).fold(0, |lines, i| lines | 1 << (2 * i));
        bits(odd).fold(even, |lines, i| lines | 1 << (2 * i + 1))
    }
}

/// The lines of `word`, a set of `lines` lines, in reverse order.
pub const fn reversed(word: u32, lines: u32) -> u32 {
    (word.reverse_bits() as u64 >> (u32::BITS - lines)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_by_parity() {
        for set in [0, 1, 0b10, 0b1101_0110, u32::MAX] {
            assert_eq!(Lines::join(Lines::split(set)), set);
        }
        assert_eq!(Lines::split(0b1101_0110), [0b1110, 0b1001]);
    }

    #[test]
    fn words_are_reversed() {
        assert_eq!(reversed(0b00110, 5), 0b01100);
        assert_eq!(reversed(0, 0), 0);
        assert_eq!(reversed(1, 16), 1 << 15);
    }
}
