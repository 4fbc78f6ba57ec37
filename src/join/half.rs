use super::ColumnSet;
use crate::board::{Size, bits};

/// The largest number of rows of a half board.
pub const MAX_ROWS: usize = Size::MAX as usize / 2;

/// One half of a board, to be filled with as many queens as it has rows.
///
/// Both halves are seen from the outside: row 0 is the outermost, the last row lies next to the
/// other half (or to the middle row). The bottom half is thus upside down, and filled by the same
/// code.
///
/// What a filled half board takes away from the other half is its *key*, one bit for each diagonal
/// that runs through both. The two halves of a board fit together exactly if their keys share no
/// bit. On even boards a diagonal is numbered by the column where it leaves the top half, on odd
/// boards by the column where it crosses the middle row; diagonals that run down to the right in
/// the top half come first, then those that run down to the left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Half {
    n: u32,
    side: Side,
    columns: u32,
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

/// The diagonals through a square, each by the column where it meets a row below the square; `None`
/// where it has left the board by then.
struct Crossing {
    /// The diagonal that runs to higher columns.
    rising: Option<u32>,
    /// The diagonal that runs to lower columns.
    falling: Option<u32>,
}

impl Half {
    /// One half of the board whose columns are shared out by `set`.
    pub fn new(n: Size, set: &ColumnSet, side: Side) -> Self {
        let columns = match side {
            Side::Top => set.top,
            Side::Bottom => set.bottom,
        };
        let mut half = Self {
            n: n.get(),
            side,
            columns,
            allowed: [columns; MAX_ROWS],
        };
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

    /// Which half it is.
    pub fn side(&self) -> Side {
        self.side
    }

    /// The number of rows, and of queens.
    pub fn rows(&self) -> u32 {
        self.n / 2
    }

    /// The columns its queens stand in, one bit each.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// The columns that a queen may take in each row, if no other queen of the half attacks them.
    pub fn allowed(&self) -> &[u32] {
        &self.allowed[..self.rows() as usize]
    }

    /// Fixes the queen of `row` to `column`.
    pub fn fix(&mut self, row: u32, column: u32) {
        self.allowed[row as usize] &= 1 << column;
    }

    /// The number of outermost rows that have one column left to take.
    pub fn fixed_rows(&self) -> u32 {
        let fixed = self
            .allowed()
            .iter()
            .take_while(|row| row.is_power_of_two());
        fixed.count() as u32
    }

    /// The half board cut by the queen of the first row that is not fixed: none if all are.
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

    /// The bits of the keys of either half that the queen of the middle row takes.
    pub fn middle_key(n: Size, column: u32) -> u64 {
        1 << column | 1 << (Self::lines(n.get()) + column)
    }

    /// The part of the key that a queen on this square contributes.
    pub fn key(&self, row: u32, column: u32) -> u64 {
        let lines = Self::lines(self.n);
        let Crossing { rising, falling } = self.crossing(row, column, self.rows());
        // On even boards a diagonal has moved on by one column when it enters the other half:
        // column x there and x − 1 here are the same rising diagonal of this half.
        let rising = if self.n.is_multiple_of(2) {
            rising.and_then(|column| column.checked_sub(1))
        } else {
            rising
        };
        // Column n − 1 of a falling diagonal of an even board would have come from outside.
        let falling = falling.filter(|column| *column < lines);
        let (rising_from, falling_from) = match self.side {
            Side::Top => (0, lines),
            Side::Bottom => (lines, 0),
        };
        let bit = |line: Option<u32>, from| line.map_or(0, |line| 1u64 << (from + line));
        bit(rising, rising_from) | bit(falling, falling_from)
    }

    /// One bit for each diagonal through this square that meets row `at`, which may lie above or
    /// below: two squares on different sides of the upper edge of row `at`, neither in the same
    /// column, attack each other exactly if these words share a bit.
    pub fn lines_at(&self, row: u32, column: u32, at: u32) -> u64 {
        let Crossing { rising, falling } = self.crossing(row, column, at);
        rising.map_or(0, |column| 1u64 << column)
            | falling.map_or(0, |column| 1u64 << (32 + column))
    }

    fn crossing(&self, row: u32, column: u32, at: u32) -> Crossing {
        let moved = |steps: i32| {
            u32::try_from(column as i32 + steps)
                .ok()
                .filter(|column| *column < self.n)
        };
        let steps = at as i32 - row as i32;
        Crossing {
            rising: moved(steps),
            falling: moved(-steps),
        }
    }

    const fn lines(n: u32) -> u32 {
        if n.is_multiple_of(2) { n - 1 } else { n }
    }

    /// Calls `found` with the key of every way to fill the half board: plain search, row by row.
    pub fn each_key(&self, found: &mut impl FnMut(u64)) {
        self.fill(0, self.columns, [0, 0], 0, found);
    }

    fn fill(
        &self,
        row: u32,
        columns: u32,
        [rising, falling]: [u64; 2],
        key: u64,
        found: &mut impl FnMut(u64),
    ) {
        if row == self.rows() {
            return found(key);
        }
        let attacked = (rising | falling) as u32;
        let mut free = columns & self.allowed[row as usize] & !attacked;
        while free != 0 {
            let column = free.trailing_zeros();
            free &= free - 1;
            let queen = 1u64 << column;
            self.fill(
                row + 1,
                columns & !(1 << column),
                [(rising | queen) << 1, (falling | queen) >> 1],
                key | self.key(row, column),
                found,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Square;

    /// Squares of the whole board that belong to a square of a half.
    fn square(n: u32, side: Side, row: u32, column: u32) -> Square {
        let row = match side {
            Side::Top => row,
            Side::Bottom => n - 1 - row,
        };
        Square::new(row as u8, column as u8)
    }

    /// Two squares on different halves attack each other along a diagonal exactly if their keys
    /// share a bit, whatever the size: 22 is the first where unmasked windows would spill over.
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
            let [top, bottom] = [Side::Top, Side::Bottom].map(|side| Half::new(size, &set, side));
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

    #[test]
    fn lines_name_the_diagonals_within_a_half() {
        for n in [5, 12, 31, 32] {
            let size = Size::new(n).unwrap();
            let set = ColumnSet {
                top: size.full_mask(),
                bottom: 0,
                middle: None,
                weight: 1,
            };
            let half = Half::new(size, &set, Side::Top);
            for at in 1..n / 2 {
                for (row, other_row) in
                    (0..at).flat_map(|row| (at..n / 2).map(move |other| (row, other)))
                {
                    for (column, other) in (0..n).flat_map(|c| (0..n).map(move |other| (c, other)))
                    {
                        if column != other {
                            let attacks = square(n, Side::Top, row, column).attacks(square(
                                n,
                                Side::Top,
                                other_row,
                                other,
                            ));
                            let shared = half.lines_at(row, column, at)
                                & half.lines_at(other_row, other, at);
                            assert_eq!(shared != 0, attacks, "n = {n}");
                        }
                    }
                }
            }
        }
    }
}
