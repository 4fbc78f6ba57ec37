//! The colour engine: counts the queens on white squares and those on black squares apart, and joins
//! both by the rows and columns they take.
//!
//! All squares of a diagonal have one colour. So a queen on a white square (row + column even) and one
//! on a black square attack each other in a row or a column only. Let R and C be the rows and columns
//! whose queen stands on white. With W(R, C) the ways to place safe queens on the white squares of these
//! rows and columns, one in each, and K the same for black, the number of solutions is
//!
//! ```text
//! Σ over R, C of W(R, C) · K(other rows, other columns)
//! ```
//!
//! On the squares of one colour, even rows meet even columns, and odd rows odd ones (or, on black, each the
//! others). So each colour is two *sub-boards*, which share diagonals and no line. Of a set R, the placements
//! on two of the four sub-boards are listed, those in even columns; the other two are reached by placing the
//! queens of one row after the other.
//!
//! From the plan to the inner loops, the files are:
//!
//! * `lines`: rows and columns of even and of odd number, as words.
//! * `row_set`: [`RowSet`], the rows R; `row_sets`: one set of each symmetry class, by rank.
//! * `orientation`: which of a solution and its transposed one is counted.
//! * `colour_board`: [`ColourBoard`], what is given on the board, and which symmetries that leaves.
//! * `plan`: [`ColourPlan`], the tasks; `cost`: what they cost; `canary`: tasks with known counts.
//! * `counter`: counts the tasks of a plan unit by unit, and says how often solutions count.
//! * `sub_board`: the squares of rows of one parity and columns of one parity, and how queens attack from one to
//!   the other; `open_squares`: where queens may stand.
//! * `placement_list`: the placements on a sub-board, by columns; `list_cache`: those that several sets share.
//! * `units`: counts some units, each a set and its columns of one parity; `table`: the counters by the other
//!   columns; `last_row`: counters by the columns but the last one, for large boards.
//! * `expansion`: fills the rows of a sub-board after another is filled: `side` is the order of the rows,
//!   `level` the states with the same rows left.
//! * `kernel`: the inner loops, written once for all instruction sets.
//! * `program`: the kernel for devices; `launches`: how tasks become its jobs; `job_recount`: a job
//!   counted again on the CPU.
//! * `oracle`: [`ColourOracle`] counts the same tasks on the squares of the board, one placement after
//!   the other; `naive`: an even simpler count, for `tests`.

mod canary;
mod colour_board;
mod cost;
mod counter;
mod expansion;
mod job_recount;
mod kernel;
mod last_row;
mod launches;
mod level;
mod lines;
mod list_cache;
#[cfg(test)]
mod naive;
mod open_squares;
mod oracle;
mod orientation;
mod placement_list;
mod plan;
mod program;
mod row_set;
mod row_sets;
mod side;
mod sub_board;
mod table;
#[cfg(test)]
mod tests;
mod units;

pub use colour_board::{ColourBoard, OF_SETS, Partition};
#[doc(hidden)]
pub use job_recount::recount_job;
pub use oracle::ColourOracle;
pub use plan::ColourPlan;
pub use program::programs;
pub use row_set::RowSet;

use crate::engine::{Engine, PlanName};

/// The name of the plan. Its version: any change of partitions, weights or boundaries of tasks is another one.
const NAME: PlanName = PlanName {
    engine: Engine::Colour,
    version: 1,
};
