//! The canary of the chain: the board of 12 queens in many small pieces.

use super::NAME;
use crate::board::Size;
use crate::engine::Canary;

/// The board.
const BOARD: Size = Size::constant(12);

/// All ranks of the board.
const ALL: u64 = 73_000;

/// Ranks of each piece. The last one has fewer.
const RANKS: u64 = 2282;

/// The solutions of each piece. Their sum is that of the board.
const COUNTS: [u64; 32] = [
    776, 1224, 96, 40, 216, 184, 368, 384, 272, 576, 372, 320, 332, 384, 452, 432, 500, 160, 120,
    96, 168, 392, 600, 568, 660, 648, 696, 580, 568, 616, 824, 576,
];

/// All pieces. The test `canaries` compares their counts with the oracle.
pub(super) fn canary() -> Canary {
    Canary::pieces(BOARD, NAME, ALL, RANKS, &COUNTS)
}
