//! The census: solutions fixed by a half turn (R180) and by a quarter turn (R90), by direct search
//! over symmetric placements.
//!
//! With the total they give every class and the unique count exactly
//! ([`Orbits::from_counts`](crate::board::Orbits::from_counts)), so no other engine ever has to
//! test a solution for symmetry.
//!
//! Queens are placed in symmetric groups from the centre of the board outward: central queens
//! attack most squares, which leaves a tree a third of the size that the search from the edge has.

mod half_turn;
mod oracle;
mod plan;
mod quarter_turn;
mod taken_squares;

pub use plan::CensusPlan;
