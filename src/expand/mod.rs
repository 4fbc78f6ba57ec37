//! The row search for many nodes at once, level by level, in vectors.
//!
//! A *node* is a placement of queens on the first rows, kept as three words: columns taken, and the
//! two windows of diagonals as seen from the next row. The nodes of each *level* (number of rows
//! filled) wait in a structure of arrays. Always taking nodes from the deepest level that has
//! plenty keeps the memory constant and in cache, whatever the width of the tree.
//!
//! A few *streams* of nodes live in registers, one node a lane. Each round places a queen on the
//! lowest free square of every lane, writes the children that are not dead to the next level,
//! without gaps, and refills the lanes whose squares are used up. Streams that a level has not
//! finished are parked with it, so that lanes idle only when a search runs dry at its very end.
//!
//! * [`Search`]: the levels, and how nodes go through them; [`Effort`]: what that took.
//! * `last_rows`: the last two rows, counted in closed form.

mod last_rows;
mod level;
mod search;
mod step;

pub use last_rows::CLOSED_ROWS;
pub use search::{Node, Row, Search};
pub use step::Effort;
