//! Which squares are still free while queens are placed in symmetric groups.

use crate::board::{Size, Squares};

/// The squares that queens attack, as bit masks, on a board of which some squares are open. Queens are added in symmetric groups.
///
/// Diagonals are numbered 0 to 2n − 2: falling ones by `row + column`, rising ones by
/// `column − row + n − 1`, so that the squares of one row are `n` neighbouring bits.
#[derive(Clone, Copy)]
pub(super) struct TakenSquares<'a> {
    /// Columns with a queen.
    pub columns: u32,
    falling: u64,
    rising: u64,
    /// The squares on which queens may stand.
    open: &'a Squares,
}

impl<'a> TakenSquares<'a> {
    /// The board before the first group. On odd boards it has the centre queen, which every
    /// symmetric solution has. Both long diagonals are taken on every board, because a queen on one
    /// of them would attack its own image.
    pub fn new(n: Size, open: &'a Squares) -> Self {
        let n = n.get();
        let long_diagonal = 1 << (n - 1);
        Self {
            columns: if n % 2 == 1 { 1 << (n / 2) } else { 0 },
            falling: long_diagonal,
            rising: long_diagonal,
            open,
        }
    }

    /// The squares of `row` that are open and not attacked.
    pub fn free(&self, n: Size, row: u32) -> u32 {
        let diagonals = (self.falling >> row) | (self.rising >> (n.get() - 1 - row));
        !(self.columns | diagonals as u32) & self.open.row(row) & n.full_mask()
    }

    /// Adds a queen and its image under the half turn.
    pub fn with_pair(self, n: Size, row: u32, column: u32) -> Self {
        let last = n.get() - 1;
        self.with_queen(last, row, column)
            .with_queen(last, last - row, last - column)
    }

    fn with_queen(self, last: u32, row: u32, column: u32) -> Self {
        Self {
            columns: self.columns | 1 << column,
            falling: self.falling | 1 << (row + column),
            rising: self.rising | 1 << (column + last - row),
            open: self.open,
        }
    }
}
