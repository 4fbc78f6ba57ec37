//! The partitions of the census in order.
//!
//! Ranks `0 .. ⌊n/2⌋ · n` are the half-turn partitions: `rank = first · n + second`, where `first` and
//! `second` are the columns of the two upper queens nearest the centre, `first` in the left half.
//! Boards below n = 4 have a single half-turn partition without fixed queens. On a given board that is not
//! its own mirror image, as many ranks follow for the mirror image. The last rank is the whole quarter-turn
//! census.

use super::census_board::CensusBoard;
use crate::board::Size;

/// How many pairs of rows a half-turn partition fixes: the two nearest the centre, or none on boards
/// with fewer than four rows.
const fn prefix_pairs(n: Size) -> u32 {
    if n.get() >= 4 { 2 } else { 0 }
}

/// The number of ranks.
pub(super) fn ranks(board: &CensusBoard) -> u64 {
    quarter_turn(board) + 1
}

/// The half-turn partitions of each image of the board.
const fn of_image(n: Size) -> u64 {
    match prefix_pairs(n) {
        0 => 1,
        _ => (n.get() / 2 * n.get()) as u64,
    }
}

/// The images of the board that half-turn partitions are counted on. Without fixed queens, a partition has
/// the solutions of both.
fn images(board: &CensusBoard) -> u64 {
    match prefix_pairs(board.size()) {
        0 => 1,
        _ => board.images() as u64,
    }
}

/// The rank of the quarter-turn census; all below it are half-turn partitions.
///
/// The mirror image of a symmetric solution is a different symmetric solution, so that the first queen
/// has only the left half, and each solution found counts twice: see [`weight`].
pub(super) fn quarter_turn(board: &CensusBoard) -> u64 {
    images(board) * of_image(board.size())
}

/// The image of the board that a half-turn partition is counted on.
pub(super) const fn image(n: Size, rank: u64) -> usize {
    (rank / of_image(n)) as usize
}

/// The columns of the innermost upper queens of a half-turn partition, from the centre outward.
pub(super) fn prefix(n: Size, rank: u64) -> Vec<u32> {
    let rank = (rank % of_image(n)) as u32;
    match prefix_pairs(n) {
        0 => Vec::new(),
        _ => vec![rank / n.get(), rank % n.get()],
    }
}

/// What a rank of the census stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CensusPartition {
    /// The solutions fixed by a half turn whose innermost upper queens stand in these columns, the one
    /// nearest the centre first. On a board that a reflection maps to itself, as far as such solutions can use it, their
    /// mirror images too. `None`: all of them.
    HalfTurn(Option<[u32; 2]>),
    /// All solutions fixed by a quarter turn.
    QuarterTurn,
}

impl CensusPartition {
    /// The partition of `rank`, which must be a rank of the plan.
    pub(super) fn of_rank(board: &CensusBoard, rank: u64) -> Self {
        if rank == quarter_turn(board) {
            return Self::QuarterTurn;
        }
        let &[first, second] = prefix(board.size(), rank).as_slice() else {
            return Self::HalfTurn(None);
        };
        let columns = match image(board.size(), rank) {
            0 => [first, second],
            // They are columns of the mirror image of the board.
            _ => [first, second].map(|column| board.size().get() - 1 - column),
        };
        Self::HalfTurn(Some(columns))
    }
}

/// How many solutions each one found in a half-turn partition counts for.
pub(super) fn weight(board: &CensusBoard) -> u128 {
    match (prefix_pairs(board.size()), images(board)) {
        (0, _) | (_, 2) => 1,
        _ => 2,
    }
}
