//! The partitions of the census in order.
//!
//! Ranks `0 .. ⌊n/2⌋ · n` are the half-turn partitions: `rank = first · n + second`, where `first` and
//! `second` are the columns of the two upper queens nearest the centre, `first` in the left half.
//! Boards below n = 4 have a single half-turn partition without fixed queens. The last rank is the
//! whole quarter-turn census.

use crate::board::Size;

/// How many pairs of rows a half-turn partition fixes: the two nearest the centre, or none on boards
/// with fewer than four rows.
const fn prefix_pairs(n: Size) -> u32 {
    if n.get() >= 4 { 2 } else { 0 }
}

/// The number of ranks.
pub(super) const fn ranks(n: Size) -> u64 {
    quarter_turn(n) + 1
}

/// The rank of the quarter-turn census; all below it are half-turn partitions.
///
/// The mirror image of a symmetric solution is a different symmetric solution, so that the first queen
/// has only the left half, and each solution found counts twice: see [`weight`].
pub(super) const fn quarter_turn(n: Size) -> u64 {
    match prefix_pairs(n) {
        0 => 1,
        _ => (n.get() / 2 * n.get()) as u64,
    }
}

/// The columns of the innermost upper queens of a half-turn partition, from the centre outward.
pub(super) fn prefix(n: Size, rank: u64) -> Vec<u32> {
    match prefix_pairs(n) {
        0 => Vec::new(),
        _ => vec![rank as u32 / n.get(), rank as u32 % n.get()],
    }
}

/// What a rank of the census stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CensusPartition {
    /// The solutions fixed by a half turn whose innermost upper queens stand in these columns, the one
    /// nearest the centre first, and their mirror images. `None`: all of them.
    HalfTurn(Option<[u32; 2]>),
    /// All solutions fixed by a quarter turn.
    QuarterTurn,
}

impl CensusPartition {
    /// The partition of `rank`, which must be a rank of the plan.
    pub(super) fn of_rank(n: Size, rank: u64) -> Self {
        if rank == quarter_turn(n) {
            return Self::QuarterTurn;
        }
        match prefix(n, rank).as_slice() {
            &[first, second] => Self::HalfTurn(Some([first, second])),
            _ => Self::HalfTurn(None),
        }
    }
}

/// How many solutions each one found in a half-turn partition counts for.
pub(super) const fn weight(n: Size) -> u128 {
    match prefix_pairs(n) {
        0 => 1,
        _ => 2,
    }
}
