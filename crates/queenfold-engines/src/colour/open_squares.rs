//! Where queens may stand on each sub-board.

use super::lines::{Lines, Parity};
use crate::board::{Size, Squares};

/// The squares on which queens may stand, by sub-board: for each of its rows the columns, as a word.
#[derive(Clone, Debug)]
pub struct OpenSquares {
    /// For each row of the board, its even and its odd columns.
    rows: Vec<[u32; 2]>,
}

impl OpenSquares {
    /// Those of a board.
    pub fn new(n: Size, open: &Squares) -> Self {
        let rows = (0..n.get()).map(|row| Lines::split(open.row(row)));
        Self {
            rows: rows.collect(),
        }
    }

    /// The columns of one parity in row number `row` of those of a parity.
    pub fn row(&self, (parity, row): (Parity, u32), columns: Parity) -> u32 {
        self.rows[2 * row as usize + parity as usize][columns as usize]
    }
}
