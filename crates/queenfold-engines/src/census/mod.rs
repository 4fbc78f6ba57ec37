//! The census: counts the solutions that a half turn fixes (R180) and those that a quarter turn
//! fixes (R90), by a direct search over symmetric placements.
//!
//! The two counts and the total give the size of every class and the unique count
//! ([`Orbits::from_counts`](crate::board::Orbits::from_counts)), so that no other engine has to
//! test solutions for symmetry.
//!
//! Queens are placed in symmetric groups from the centre of the board outward. Central queens
//! attack the most squares, so that the tree is a third as large as in a search from the edge.

mod canary;
mod census_board;
mod half_turn;
mod oracle;
mod partition;
mod plan;
mod quarter_turn;
mod taken_squares;

pub use partition::CensusPartition;
pub use plan::CensusPlan;

use crate::engine::{Engine, PlanName};

/// The name of the plan. Its version: any change of partitions, weights or boundaries of tasks is another one.
const NAME: PlanName = PlanName {
    engine: Engine::Census,
    version: 1,
};
