use super::ColumnSet;
use crate::board::{Size, Squares, bits};

/// The largest number of rows of a half board.
pub const MAX_ROWS: usize = Size::MAX as usize / 2;

/// One half of a board, to be filled with as many queens as it has rows.
///
/// Rows are counted from the edge of the board: row 0 is the outermost, and the last row lies next
/// to the other half (or to the middle row). The bottom half is thus upside down, so that the same
/// code fills both.
///
/// The *key* of a filled half board has one bit for each diagonal through both halves; the bits of
/// those that its queens attack are set. The two halves of a board fit together exactly if their
/// keys share no bit. On even boards a diagonal is numbered by the column where it leaves the top
/// half, on odd boards by the column where it crosses the middle row. Diagonals that run down to
/// the right in the top half come first, then those that run down to the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    n: u32,
    side: Side,
    columns: u32,
    middle: Option<u32>,
    allowed: [u32; MAX_ROWS],
}

/// Which half of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The upper rows.
    Top,
    /// The lower rows, seen upside down.
    Bottom,
}

/// The diagonals through a square, each by the column where it meets the row below the half: `None`
/// if it has left the board before.
struct Crossing {
    /// The diagonal that runs to higher columns.
    rising: Option<u32>,
    /// The diagonal that runs to lower columns.
    falling: Option<u32>,
}

impl Half {
    /// One half of the board whose columns `set` divides between the halves. Queens may stand on the `open`
    /// squares of the board, if not on all.
    pub fn new(n: Size, set: &ColumnSet, side: Side, open: Option<&Squares>) -> Self {
        let columns = match side {
            Side::Top => set.top,
            Side::Bottom => set.bottom,
        };
        let mut half = Self {
            n: n.get(),
            side,
            columns,
            middle: set.middle,
            allowed: [columns; MAX_ROWS],
        };
        if let Some(open) = open {
            for row in 0..half.rows() {
                let of_board = match side {
                    Side::Top => row,
                    Side::Bottom => n.get() - 1 - row,
                };
                half.allowed[row as usize] &= open.row(of_board);
            }
        }
        if let Some(middle) = set.middle {
            for row in 0..half.rows() {
                let distance = half.rows() - row;
                let queen = 1u64 << middle;
                let banned = queen << distance | queen >> distance;
                half.allowed[row as usize] &= !(banned as u32);
            }
        }
        half
    }

    /// The number of columns of the board.
    pub fn size(&self) -> u32 {
        self.n
    }

    /// Which half of the board it is.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The number of rows, and of queens.
    pub fn rows(&self) -> u32 {
        self.n / 2
    }

    /// The columns that its queens stand in, one bit each.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The column of the middle queen, if there is one.
    pub fn middle(&self) -> Option<u32> {
        self.middle
    }

    /// For each row, the columns that its queen may take if no other queen of the half attacks
    /// them.
    pub fn allowed(&self) -> &[u32] {
        &self.allowed[..self.rows() as usize]
    }

    /// Whether each of its rows and columns has a square that a queen may take.
    pub fn has_squares(&self) -> bool {
        let columns = self.allowed().iter().fold(0, |columns, row| columns | row);
        columns == self.columns && !self.allowed().contains(&0)
    }

    /// Fixes the queen of `row` to `column`.
    pub fn fix(&mut self, row: u32, column: u32) {
        self.allowed[row as usize] &= 1 << column;
    }

    /// The number of outermost rows whose queen has one column left.
    pub fn fixed_rows(&self) -> u32 {
        let fixed = self
            .allowed()
            .iter()
            .take_while(|row| row.is_power_of_two());
        fixed.count() as u32
    }

    /// One copy of the half board for each column of the first queen that is not fixed, with that
    /// queen fixed there. Empty if all queens are fixed.
    pub fn slices(&self) -> Vec<Self> {
        let row = self.fixed_rows();
        let Some(&allowed) = self.allowed().get(row as usize) else {
            return Vec::new();
        };
        let taken = self.allowed()[..row as usize].iter().fold(0, |a, b| a | b);
        bits(allowed & !taken)
            .map(|column| {
                let mut slice = self.clone();
                slice.fix(row, column);
                slice
            })
            .collect()
    }

    /// The number of bits in a key: at most 62.
    pub fn key_bits(n: Size) -> u32 {
        2 * Self::lines(n.get())
    }

    /// The diagonals that a queen in this column of the middle row attacks, as bits of the keys of
    /// either half. For odd boards only.
    pub fn middle_key(n: Size, column: u32) -> u64 {
        1 << column | 1 << (Self::lines(n.get()) + column)
    }

    /// The bits that a queen on this square sets in the key.
    pub fn key(&self, row: u32, column: u32) -> u64 {
        let lines = Self::lines(self.n);
        let Crossing { rising, falling } = self.crossing(row, column);
        // On even boards a diagonal moves by one column when it enters the other half: column x
        // there and x − 1 here are the same rising diagonal of this half.
        let rising = if self.n.is_multiple_of(2) {
            rising.and_then(|column| column.checked_sub(1))
        } else {
            rising
        };
        let (rising_from, falling_from) = match self.side {
            Side::Top => (0, lines),
            Side::Bottom => (lines, 0),
        };
        let bit = |line: Option<u32>, from| line.map_or(0, |line| 1u64 << (from + line));
        bit(rising, rising_from) | bit(falling, falling_from)
    }

    fn crossing(&self, row: u32, column: u32) -> Crossing {
        let moved = |steps: i32| {
            u32::try_from(column as i32 + steps)
                .ok()
                .filter(|column| *column < self.n)
        };
        let steps = (self.rows() - row) as i32;
        Crossing {
            rising: moved(steps),
            falling: moved(-steps),
        }
    }

    /// The number of diagonals of one direction through both halves.
    const fn lines(n: u32) -> u32 {
        if n.is_multiple_of(2) { n - 1 } else { n }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Square;

    /// The square of the whole board that is this square of a half.
    fn square(n: u32, side: Side, row: u32, column: u32) -> Square {
        let row = match side {
            Side::Top => row,
            Side::Bottom => n - 1 - row,
        };
        Square::new(row as u8, column as u8)
    }

    /// Two squares in different halves attack each other along a diagonal exactly if their keys
    /// share a bit, also where the diagonals of both directions fill most of the word.
    #[test]
    fn keys_name_the_shared_diagonals() {
        for n in (2..=13).chain([22, 27, 31, 32]) {
            let size = Size::new(n).unwrap();
            let h = n / 2;
            let set = ColumnSet {
                top: size.full_mask(),
                bottom: size.full_mask(),
                middle: None,
                weight: 1,
            };
            let [top, bottom] =
                [Side::Top, Side::Bottom].map(|side| Half::new(size, &set, side, None));
            assert!(Half::key_bits(size) <= 62);
            for row in 0..h {
                for column in 0..n {
                    let key = top.key(row, column);
                    assert!(key >> Half::key_bits(size) == 0, "n = {n}");
                    let queen = square(n, Side::Top, row, column);
                    for other_row in 0..h {
                        for other_column in (0..n).filter(|other| *other != column) {
                            let other = square(n, Side::Bottom, other_row, other_column);
                            assert_eq!(
                                key & bottom.key(other_row, other_column) != 0,
                                queen.attacks(other),
                                "n = {n}, {queen:?} and {other:?}"
                            );
                        }
                    }
                }
            }
        }
    }
}
