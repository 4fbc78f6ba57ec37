use crate::board::bits;

/// The most rows of a sub-board.
pub const MAX_ROWS: usize = 16;

/// The rows of a sub-board that an expansion fills, in the order in which it does.
///
/// It goes from the mean of the rows outwards: queens in the middle attack most of the squares of the
/// other rows, so that placements without a future end early.
#[derive(Clone, Debug)]
pub struct Side {
    rows: Vec<u32>,
}

impl Side {
    /// The rows of `word`.
    pub fn new(word: u32) -> Self {
        let mut rows: Vec<u32> = bits(word).collect();
        let (count, sum) = (rows.len() as u32, rows.iter().sum::<u32>());
        rows.sort_by_key(|row| (row * count).abs_diff(sum));
        Self { rows }
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
