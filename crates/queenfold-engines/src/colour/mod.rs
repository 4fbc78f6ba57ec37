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
//! From the plan to the oracle, the files are:
//!
//! * `lines`: rows and columns of even and of odd number, as words.
//! * `row_set`: [`RowSet`], the rows R; `row_sets`: one set of each symmetry class, by rank.
//! * `orientation`: which of a solution and its transposed one is counted.
//! * `colour_board`: [`ColourBoard`], what is given on the board, and which symmetries that leaves.
//! * `plan`: [`ColourPlan`], the tasks; `canary`: tasks with known counts.
//! * `oracle`: [`ColourOracle`] counts the same tasks on the squares of the board, one placement after
//!   the other.

mod canary;
mod colour_board;
mod lines;
#[cfg(test)]
mod naive;
mod oracle;
mod orientation;
mod plan;
mod row_set;
mod row_sets;
#[cfg(test)]
mod tests;

pub use colour_board::{ColourBoard, Partition};
pub use oracle::ColourOracle;
pub use plan::ColourPlan;
pub use row_set::RowSet;
