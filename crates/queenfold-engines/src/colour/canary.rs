//! The canaries of the colour engine: all partitions of the boards of 13 and 14 queens.

use super::NAME;
use crate::board::Size;
use crate::engine::Canary;

/// Ranks in a piece.
const RANKS: u64 = 27;

/// The solutions of 14 queens, in pieces.
const EVEN: (u64, [u64; 33]) = (
    890,
    [
        0, 16, 180, 88, 200, 88, 136, 96, 112, 96, 1076, 3772, 8552, 11448, 15732, 22264, 22072,
        25272, 24208, 29880, 23708, 27336, 24220, 16564, 20028, 16320, 13856, 11580, 11192, 10064,
        9448, 8344, 7648,
    ],
);

/// The same of 13 queens: boards of odd size take other steps.
const ODD: (u64, [u64; 33]) = (
    868,
    [
        0, 0, 248, 608, 1296, 1880, 1304, 2072, 1400, 1488, 1168, 1992, 1728, 1920, 2272, 3464,
        3600, 3852, 4680, 5724, 6320, 4812, 5696, 3772, 7984, 3384, 16, 176, 240, 192, 128, 296, 0,
    ],
);

/// The canary for boards of size `n`.
pub(super) fn canary(n: Size) -> Canary {
    let (board, (all, counts)) = match n.get() % 2 {
        0 => (const { Size::constant(14) }, EVEN),
        _ => (const { Size::constant(13) }, ODD),
    };
    Canary::pieces(board, NAME, all, RANKS, &counts)
}
