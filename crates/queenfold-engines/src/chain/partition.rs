//! What a rank of the chain's plan stands for, and the order of ranks.

use super::{Border, Borders};
use crate::board::Size;

/// A border and the queens of the next rows: the unit that ranks count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The border, a representative of its class.
    pub border: Border,
    /// The number of solutions that each completion stands for: 8, 4 or 2 (n = 1, and given boards that
    /// fewer symmetries fix: also 1).
    pub weight: u8,
    /// Columns of the queens in the first free rows, from the top.
    pub prefix: Vec<u8>,
}

impl Partition {
    /// The number of free rows whose queens a partition fixes. It depends only on n, and is chosen
    /// so that even the largest boards have enough partitions to share the work evenly.
    pub const fn prefix_rows(n: Size) -> u32 {
        match n.get() {
            0..=6 => 0,
            7..=27 => 2,
            _ => 3,
        }
    }

    /// The partition of `rank` in the plan of `borders`.
    /// `None` if the rank is empty or too large.
    ///
    /// With `w = n − 2` the number of inner columns, a rank is
    ///
    /// ```text
    /// (border index · w + (column of the 1st free row − 1)) · w + (column of the 2nd − 1) …
    /// ```
    ///
    /// so ranks ascend by (bottom, left, right, top, 1st free row, 2nd free row …), on a given board
    /// within each of its images. A rank whose prefix attacks itself or the border, or stands on a square
    /// that is not open, is *empty*: it has no partition.
    pub fn of_rank(borders: &Borders, rank: u64) -> Option<Self> {
        let n = borders.size();
        let index = (rank / ranks_per_border(n)) as usize;
        let (border, weight) = *borders.list().get(index)?;
        let frame = borders.frame(index);
        let mut taken = frame.start;
        let mut prefix = Vec::new();
        let mut below = ranks_per_border(n);
        for &row in &frame.rows[..Self::prefix_rows(n) as usize] {
            below /= radix(n);
            let column = (rank / below % radix(n)) as u8 + 1;
            if frame.free(taken, row) & 1 << column == 0 {
                return None;
            }
            taken = taken.enter(row).place(1 << column);
            prefix.push(column);
        }
        Some(Self {
            border,
            weight,
            prefix,
        })
    }

    /// The rank of this partition on the free board: the inverse of [`of_rank`](Self::of_rank). `None` if
    /// the border is not one of `borders` or the prefix has another length.
    pub fn rank(&self, borders: &Borders) -> Option<u64> {
        let n = borders.size();
        if self.prefix.len() != Self::prefix_rows(n) as usize {
            return None;
        }
        let index = borders
            .list()
            .iter()
            .position(|(border, _)| *border == self.border)?;
        self.prefix.iter().try_fold(index as u64, |rank, &column| {
            let digit = u64::from(column)
                .checked_sub(1)
                .filter(|digit| *digit < radix(n))?;
            Some(rank * radix(n) + digit)
        })
    }
}

/// The number of inner columns of the board: those in which a prefix queen can stand.
pub(super) fn radix(n: Size) -> u64 {
    u64::from(n.get()).saturating_sub(2).max(1)
}

/// The number of ranks of a border, empty ones included.
pub(super) fn ranks_per_border(n: Size) -> u64 {
    radix(n).pow(Partition::prefix_rows(n))
}
