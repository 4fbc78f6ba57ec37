//! The row search: searches many nodes at once, level by level, in vectors.
//!
//! A *node* is a placement of queens on the first rows. It is stored as three words: the columns
//! taken, and the attacked squares of the next row along the two directions of diagonals. The nodes
//! of each *level* (the number of rows filled) wait in a structure of arrays. The search always
//! takes nodes from the deepest level that has plenty. So memory is constant and stays in the
//! cache, however wide the tree is.
//!
//! A few *streams* of nodes are held in registers, one node in each lane. Each round places a queen
//! on the lowest free square of every lane, writes the children that are not dead to the next level
//! without gaps, and refills the lanes that have no square left. Streams that a level has not
//! finished are parked with it, so lanes are idle only at the very end of a search.
//!
//! * [`Search`]: the levels, and how nodes move through them. `Effort`: how much work that was.
//! * [`SearchRow`]: a row to fill.
//! * `step`: places one queen on every node of a level.
//! * [`Reporter`]: what the search reports to the watch over the task.
//! * `last_rows`: the last two rows, counted in closed form.

#![expect(unsafe_code, reason = "kernels of the chain")]

mod last_rows;
mod level;
mod reporter;
mod row;
mod schedule;
mod step;

pub use last_rows::CLOSED_ROWS;
pub use reporter::Reporter;
pub use row::SearchRow;
pub use schedule::{Node, Search};
