//! One square, and which squares attack each other.

/// A square of the board: row and column counted from 0, row 0 at the top, column 0 at the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square {
    /// 0 (top) to n − 1 (bottom).
    pub row: u8,
    /// 0 (left) to n − 1 (right).
    pub column: u8,
}

impl Square {
    /// The square in `row` and `column`.
    pub const fn new(row: u8, column: u8) -> Self {
        Self { row, column }
    }

    /// Whether queens on the two squares attack each other: same row, column or diagonal.
    /// A square does not attack itself.
    pub const fn attacks(self, other: Self) -> bool {
        let rows = self.row.abs_diff(other.row);
        let columns = self.column.abs_diff(other.column);
        (rows != 0 || columns != 0) && (rows == 0 || columns == 0 || rows == columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_along_rows_columns_and_diagonals_only() {
        let queen = Square::new(3, 3);
        for (row, column) in [(3, 0), (0, 3), (0, 0), (5, 1), (1, 5), (7, 7)] {
            assert!(queen.attacks(Square::new(row, column)), "{row} {column}");
        }
        for (row, column) in [(3, 3), (1, 4), (5, 2), (0, 1)] {
            assert!(!queen.attacks(Square::new(row, column)), "{row} {column}");
        }
    }
}
