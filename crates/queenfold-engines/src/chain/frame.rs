//! What a border leaves to the search: the rows to fill, and the free squares in them.

use super::Border;
use crate::board::{Size, Square, Squares};

/// What is left to search after the queens of a border are placed: the rows without a queen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The lines taken above the first free row.
    pub start: TakenLines,
    /// The rows to fill, from the top. Rows that hold a border queen (forced rows) are left out.
    pub rows: Vec<FreeRow>,
    /// One bit for each column of the board.
    pub full: u32,
}

/// A row that the search has to fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeRow {
    /// How many rows below the previous free row it is: 1, or more where forced rows lie between.
    pub gap: u32,
    /// The squares that border queens attack along diagonals, and those that are not open.
    pub banned: u32,
}

/// The columns and diagonals that queens placed by the search take, as bit masks over the columns.
/// Bit 0 is the leftmost column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TakenLines {
    /// Columns taken, those of the border included.
    pub columns: u32,
    /// Diagonals that move one column up (higher bit) with each row, as of the row last filled.
    pub left: u32,
    /// Diagonals that move one column down (lower bit) with each row, as of the row last filled.
    pub right: u32,
}

impl Frame {
    /// The frame of `border`, which must be legal, on a board whose queens may stand on the `open` squares.
    pub fn new(n: Size, border: Border, open: &Squares) -> Self {
        let last = n.get() as u8 - 1;
        let squares = border.squares(n);
        let columns = squares
            .iter()
            .fold(0, |mask, square| mask | 1 << square.column);
        let diagonals = Diagonals::of(&squares);
        let inside = n.full_mask();
        let mut rows = Vec::with_capacity(usize::from(last));
        let mut filled = 0;
        for row in (1..last).filter(|&row| row != border.left && row != border.right) {
            rows.push(FreeRow {
                gap: u32::from(row - filled),
                banned: (diagonals.in_row(row.into()) | !open.row(row.into())) & inside & !columns,
            });
            filled = row;
        }
        Self {
            start: TakenLines {
                columns,
                left: 0,
                right: 0,
            },
            rows,
            full: n.full_mask(),
        }
    }

    /// The squares of `row` on which a queen may stand if the queens above took the lines `taken`.
    pub fn free(&self, taken: TakenLines, row: FreeRow) -> u32 {
        let TakenLines {
            columns,
            left,
            right,
        } = taken.enter(row);
        self.full & !(columns | left | right | row.banned)
    }
}

impl TakenLines {
    /// The lines where they cross `row`: the diagonals are shifted by its gap.
    #[inline]
    pub fn enter(self, row: FreeRow) -> Self {
        Self {
            columns: self.columns,
            left: self.left << row.gap,
            right: self.right >> row.gap,
        }
    }

    /// The lines with those of a queen on `bit` of the row that has been entered.
    #[inline]
    pub fn place(self, bit: u32) -> Self {
        Self {
            columns: self.columns | bit,
            left: self.left | bit,
            right: self.right | bit,
        }
    }
}

/// The diagonals of some squares, one bit for each diagonal.
#[derive(Clone, Copy)]
pub(super) struct Diagonals {
    /// Those on which column minus row is the same; bit 32 is the one through column 0 of row 0.
    rising: u64,
    /// Those on which column plus row is the same; bit 0 is the one through column 0 of row 0.
    falling: u64,
}

impl Diagonals {
    pub(super) fn of(squares: &[Square]) -> Self {
        let mut all = Self {
            rising: 0,
            falling: 0,
        };
        for &Square { row, column } in squares {
            all.rising |= 1 << (32 + column - row);
            all.falling |= 1 << (column + row);
        }
        all
    }

    /// The columns in which they cross `row`; some may lie outside the board.
    #[inline]
    pub(super) fn in_row(self, row: u32) -> u32 {
        (self.rising << row >> 32 | self.falling >> row) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_border_takes_its_rows_columns_and_diagonals() {
        let n = Size::new(6).unwrap();
        // . Q . . . .      the six-queens solution 1 3 5 0 2 4: its border queens are those of
        // . . . Q . .      rows 0, 2, 3 and 5
        let border = Border {
            top: 1,
            bottom: 4,
            left: 3,
            right: 2,
        };
        assert!(border.is_legal(n));
        let frame = Frame::new(n, border, &Squares::all(n));
        assert_eq!(frame.start.columns, 0b11_0011);
        let row_1 = FreeRow {
            gap: 1,
            banned: 0b00_0100,
        };
        let row_4 = FreeRow {
            gap: 3,
            banned: 0b00_1000,
        };
        assert_eq!(frame.rows, [row_1, row_4]);
        assert_eq!(frame.free(frame.start, row_1), 0b00_1000);
    }

    #[test]
    fn nothing_is_left_of_a_board_that_is_all_border() {
        let one = Border {
            top: 0,
            bottom: 0,
            left: 0,
            right: 0,
        };
        let n = Size::new(1).unwrap();
        assert!(Frame::new(n, one, &Squares::all(n)).rows.is_empty());
        let four = Border {
            top: 1,
            bottom: 2,
            left: 2,
            right: 1,
        };
        let n = Size::new(4).unwrap();
        assert!(Frame::new(n, four, &Squares::all(n)).rows.is_empty());
    }
}
