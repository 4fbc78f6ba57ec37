//! What a rank of the chain's plan stands for, and the order of ranks.
//!
//! A *partition* is a border and the queens of the next rows. With `w = n − 2` the number of inner columns, its rank is
//!
//! ```text
//! (border index · w + (column of the 1st free row − 1)) · w + (column of the 2nd − 1) …
//! ```
//!
//! so ranks ascend by (bottom, left, right, top, 1st free row, 2nd free row …), on a given board within each of its
//! images. A rank whose prefix attacks itself or the border, or stands on a square that is not open, is *empty*: it has no
//! partition.

use crate::board::Size;

/// The number of free rows whose queens a partition fixes. It depends only on n, and is chosen so that even the
/// largest boards have enough partitions to share the work evenly.
pub(super) const fn prefix_rows(n: Size) -> u32 {
    match n.get() {
        0..=6 => 0,
        7..=27 => 2,
        _ => 3,
    }
}

/// The number of inner columns of the board: those in which a prefix queen can stand.
pub(super) fn radix(n: Size) -> u64 {
    u64::from(n.get()).saturating_sub(2).max(1)
}

/// The number of ranks of a border, empty ones included.
pub(super) fn ranks_per_border(n: Size) -> u64 {
    radix(n).pow(prefix_rows(n))
}
