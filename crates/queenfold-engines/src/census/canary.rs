//! The canary of the census: the board of 16 queens in small pieces.

use super::NAME;
use super::census_board::CensusBoard;
use super::partition;
use crate::board::Size;
use crate::engine::Canary;

/// The board.
const BOARD: Size = Size::constant(16);

/// Ranks of each piece. The last one has fewer.
const RANKS: u64 = 4;

/// The symmetric solutions of each piece. The last piece holds those of the quarter turn.
const COUNTS: [u64; 33] = [
    186, 116, 136, 148, 50, 192, 210, 178, 68, 192, 96, 114, 120, 54, 66, 80, 200, 0, 64, 204, 200,
    0, 36, 138, 70, 16, 0, 66, 0, 0, 0, 0, 64,
];

/// All pieces. The test `canaries` compares their counts with the oracle.
pub(super) fn canary() -> Canary {
    Canary::pieces(
        BOARD,
        NAME,
        partition::ranks(&CensusBoard::new(BOARD.into())),
        RANKS,
        &COUNTS,
    )
}
