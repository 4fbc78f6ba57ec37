use super::Border;
use crate::board::Size;

/// A border and the queens of the next rows: the unit that ranks count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The border, a representative of its class.
    pub border: Border,
    /// The number of solutions that each completion stands for: 8, 4 or 2 (n = 1: 1).
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
}

/// The number of inner columns of the board: those in which a prefix queen can stand.
pub(super) fn radix(n: Size) -> u64 {
    u64::from(n.get()).saturating_sub(2).max(1)
}

/// The number of ranks of a border, empty ones included.
pub(super) fn ranks_per_border(n: Size) -> u64 {
    radix(n).pow(Partition::prefix_rows(n))
}
