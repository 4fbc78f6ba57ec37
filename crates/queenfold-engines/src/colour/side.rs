//! In which order the rows of a sub-board are filled.

use super::lines::Parity;
use crate::board::bits;

/// The most rows of a sub-board.
pub const MAX_ROWS: usize = 16;

/// The rows of a sub-board that an expansion fills, in the order in which it does.
///
/// A row whose distances to all rows of the colour have the smallest sum comes first: the queens that stand already
/// attack most of its squares, and its own queen attacks most squares of the rows left. So placements without a future
/// end early.
#[derive(Clone, Debug)]
pub struct Side {
    rows: Vec<u32>,
}

impl Side {
    /// The rows of a word of a parity. The colour has queens on the rows `filled` of the other parity already.
    pub fn new((parity, word): (Parity, u32), filled: u32) -> Self {
        let line = |row: u32, parity: Parity| 2 * row + parity as u32;
        let distances = |from: u32, word, parity| {
            let to = bits(word).map(|row| line(row, parity).abs_diff(from));
            to.sum::<u32>()
        };
        let with_distance = |row| {
            let from = line(row, parity);
            let all = distances(from, word, parity) + distances(from, filled, parity.other());
            (all, row)
        };
        let mut rows: Vec<_> = bits(word).map(with_distance).collect();
        rows.sort_unstable();
        Self {
            rows: rows.into_iter().map(|(_, row)| row).collect(),
        }
    }

    /// The rows, from the first one filled.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// How far each row after the one at `depth` is from it.
    pub fn gaps(&self, depth: usize) -> [u32; MAX_ROWS] {
        let mut gaps = [0; MAX_ROWS];
        let (row, after) = (self.rows[depth], &self.rows[depth + 1..]);
        for (gap, other) in gaps.iter_mut().zip(after) {
            *gap = row.abs_diff(*other);
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_near_to_all_others_come_first() {
        // Lines 0, 2, 4, 6 and 14: line 4 is near to the others.
        assert_eq!(
            Side::new((Parity::Even, 0b1000_1111), 0).rows(),
            [2, 1, 3, 0, 7]
        );
        // Queens on lines 11 and 13 bring line 6 to the front.
        let side = Side::new((Parity::Even, 0b1000_1111), 0b110_0000);
        assert_eq!(side.rows(), [3, 2, 1, 7, 0]);
    }
}
