//! The join engine: count pairs of half boards that fit together, not solutions.
//!
//! Backtracking pays for every solution. Here the board is cut in two halves of h = ⌊n/2⌋ rows. For
//! each set of h columns, all ways to fill the top half with queens in those columns are listed, and
//! all ways to fill the bottom half with queens in the others; a solution is a pair of the two that
//! share no diagonal. Such pairs are counted without listing them. On odd boards the queen of the
//! middle row bans its column and diagonals: while lists are made, or of small boards afterwards.
//!
//! * [`ColumnSet`]: which columns belong to which half; one set of each symmetry class, with its
//!   weight.
//! * [`Half`]: a half board, and the *key* that says which diagonals a filling takes.
//! * [`Partition`]: what a rank of the plan stands for.
//! * [`JoinPlan`]: the order of partitions, the tasks, what they cost.
//! * `generate`: all keys of a half board, from quarter boards.
//! * `without_middle`: lists of half boards without a middle queen, kept for the columns that she may take.
//! * `pairs`: the number of disjoint pairs of keys from two lists.
//! * `kernel`: the inner loops of both, for each instruction set.
//! * [`MeasuredParts`]: the parts of the work on their own, to be measured.
//! * `leaf_audit`: leaves of the recursion counted again.
//! * [`JoinOracle`]: the same tasks counted by backtracking, to check all of this.

mod column_set;
mod cost;
mod counter;
mod generate;
mod half;
mod kernel;
mod key_layout;
mod leaf_audit;
mod list_maker;
mod measure;
mod memory;
#[cfg(test)]
mod naive;
mod oracle;
mod pairs;
mod partition;
mod plan;
mod quarter;
mod shared_columns;
#[cfg(test)]
mod tests;
mod without_middle;

pub use column_set::ColumnSet;
pub use half::{Half, Side};
pub use measure::MeasuredParts;
pub use oracle::JoinOracle;
pub use partition::Partition;
pub use plan::JoinPlan;
