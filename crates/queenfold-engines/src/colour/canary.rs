//! The canaries of the colour engine: all partitions of the boards of 13 and 14 queens.

use crate::board::Size;
use crate::engine::{Canary, Engine, PlanName};

/// Ranks in a piece.
const RANKS: u64 = 27;

/// The solutions of 14 queens, in pieces.
const EVEN: (u64, [u64; 33]) = (
    890,
    [
        0, 0, 40, 48, 96, 200, 132, 192, 160, 216, 3032, 5232, 8368, 6464, 10228, 8864, 11916,
        15708, 16320, 17724, 18332, 10092, 17880, 19952, 21824, 24208, 23772, 26008, 24244, 25100,
        23360, 19240, 6644,
    ],
);

/// The same of 13 queens: boards of odd size take other steps.
const ODD: (u64, [u64; 33]) = (
    868,
    [
        0, 0, 16, 80, 344, 624, 1584, 1896, 2232, 2832, 2960, 1128, 576, 264, 656, 880, 1580, 3268,
        3648, 4800, 6804, 6200, 8500, 8440, 10032, 3320, 32, 32, 56, 184, 416, 328, 0,
    ],
);

/// The canary for boards of size `n`.
pub(super) fn canary(n: Size) -> Canary {
    let (board, (all, counts)) = match n.get() % 2 {
        0 => (14, EVEN),
        _ => (13, ODD),
    };
    let plan = PlanName {
        engine: Engine::Colour,
        version: 1,
    };
    let board = Size::new(board).expect("13 and 14 are sizes");
    Canary::pieces(board, plan, all, RANKS, &counts)
}
