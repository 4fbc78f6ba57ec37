//! Queens in any rows of a board.

use queenfold_engines::board::Size;

/// The board, and the columns and diagonals that its queens take. Along one kind of diagonal row +
/// column is the same everywhere, along the other column − row is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queens {
    n: usize,
    /// One bit in each row, no bit in open rows and beyond the last.
    rows: [u32; Size::MAX as usize],
    /// The columns of its queens.
    pub columns: u32,
    sums: u64,
    differences: u64,
}

impl Queens {
    /// An empty board.
    pub fn none(n: Size) -> Self {
        Self {
            n: n.get() as usize,
            rows: [0; Size::MAX as usize],
            columns: 0,
            sums: 0,
            differences: 0,
        }
    }

    /// The rows of the board.
    pub fn board(&self) -> &[u32] {
        &self.rows[..self.n]
    }

    /// The squares of a row that no queen attacks along a column or a diagonal. Neighbouring diagonals cross the row in
    /// neighbouring columns, so n neighbouring bits of their masks are its squares.
    #[inline]
    pub fn free(&self, row: usize) -> u32 {
        let taken =
            u64::from(self.columns) | self.sums >> row | self.differences >> (self.n - 1 - row);
        !(taken as u32) & (u32::MAX >> (Size::MAX as usize - self.n))
    }

    /// Places or removes the queen on `bit` of `row`.
    #[inline]
    pub fn flip(&mut self, row: usize, bit: u32) {
        self.rows[row] ^= bit;
        self.columns ^= bit;
        self.sums ^= u64::from(bit) << row;
        self.differences ^= u64::from(bit) << (self.n - 1 - row);
    }
}
