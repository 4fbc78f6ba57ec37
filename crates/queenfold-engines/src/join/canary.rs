//! The canaries of the join: some partitions of the boards of 18 and 19 queens.

use crate::board::Size;
use crate::engine::{Canary, CanaryTask, Engine, PlanName};

/// Ranks of partitions of 18 queens, each with its solutions.
const EVEN: [(u64, u64); 32] = [
    (67, 1248),
    (716, 3584),
    (760, 3696),
    (1435, 10008),
    (1520, 11824),
    (3040, 344),
    (3800, 2280),
    (6092, 6248),
    (6451, 2296),
    (6840, 2920),
    (8360, 552),
    (10742, 11384),
    (11400, 23976),
    (11456, 9408),
    (12160, 320),
    (12172, 2896),
    (12891, 2080),
    (12955, 8848),
    (13711, 17408),
    (17900, 6352),
    (18264, 1728),
    (18616, 15320),
    (19019, 168),
    (19369, 7488),
    (19763, 1680),
    (20142, 1072),
    (20605, 40),
    (20817, 5376),
    (21280, 5488),
    (21483, 1144),
    (22236, 2712),
    (22896, 2592),
];

/// The same of 19 queens: boards of odd size take other steps.
const ODD: [(u64, u64); 32] = [
    (602, 1408),
    (7597, 680),
    (14302, 3920),
    (15195, 1168),
    (21454, 3496),
    (37985, 1112),
    (57210, 3544),
    (60776, 1200),
    (64481, 1112),
    (71514, 8136),
    (83567, 7424),
    (100140, 1440),
    (114416, 6064),
    (121552, 5128),
    (121568, 4512),
    (128834, 1152),
    (135870, 4504),
    (136746, 2416),
    (164490, 1008),
    (167134, 432),
    (174731, 8840),
    (178775, 5440),
    (182328, 9264),
    (189925, 1264),
    (193088, 1136),
    (197522, 7064),
    (200231, 7216),
    (207379, 1096),
    (212716, 80),
    (214531, 1048),
    (220313, 220),
    (221684, 1568),
];

/// The canary for boards of size `n`. The test `canaries` compares its counts with the oracle.
pub(super) fn canary(n: Size) -> Canary {
    let (board, counts) = match n.get() % 2 {
        0 => (const { Size::constant(18) }, EVEN),
        _ => (const { Size::constant(19) }, ODD),
    };
    let tasks = counts.map(|(rank, count)| CanaryTask {
        ranks: rank..rank + 1,
        count,
    });
    let plan = PlanName {
        engine: Engine::Join,
        version: 4,
    };
    Canary::new(board, plan, tasks)
}
