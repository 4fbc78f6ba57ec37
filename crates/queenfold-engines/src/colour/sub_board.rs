//! How queens attack within a sub-board, and from it to the other one of its colour.

use super::lines::{Lines, Parity};
use super::open_squares::OpenSquares;

/// The squares of rows of one parity and columns of one parity: line 2·i or 2·i + 1 of the board is its line i.
/// On it queens attack as on a plain board. All its squares have one colour, which it shares with the
/// sub-board of the other rows and the other columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubBoard {
    /// The parity of its rows.
    pub rows: Parity,
    /// The parity of its columns.
    pub columns: Parity,
}

/// A row of a sub-board: how far the diagonals of a placement are shifted to become its squares.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// For diagonals by column − row.
    pub falling: u32,
    /// For diagonals by column + row.
    pub rising: u32,
    /// The squares on which queens may stand.
    pub open: u32,
}

impl SubBoard {
    /// Whether its squares are white.
    pub fn is_white(self) -> bool {
        self.rows == self.columns
    }

    /// Row `row` of the sub-board itself. Diagonals are numbered so that neither its own rows nor those of
    /// the other sub-board of this colour need a shift to the left.
    pub fn own_row(self, lines: Lines, squares: &OpenSquares, row: u32) -> Target {
        Target {
            falling: lines.even - row,
            rising: row + self.rows as u32 * self.columns as u32,
            open: squares.row((self.rows, row), self.columns),
        }
    }

    /// Row `row` of the other sub-board of this colour.
    ///
    /// Let r and c be 1 if the rows and the columns of this one are odd. A queen in column j of row i attacks
    /// column j' of row i' of the other one if both are on a diagonal of the board: 2·i + r − 2·j − c = 2·i' +
    /// 1 − r − 2·j' − 1 + c, so j' − i' = j − i + c − r, or likewise j' + i' = j + i + r + c − 1.
    pub fn other_row(self, lines: Lines, squares: &OpenSquares, row: u32) -> Target {
        let (r, c) = (self.rows as u32, self.columns as u32);
        Target {
            falling: lines.even + r - c - row,
            rising: row + (1 - r) * (1 - c),
            open: squares.row((self.rows.other(), row), self.columns.other()),
        }
    }
}
