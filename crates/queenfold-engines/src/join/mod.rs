//! The join engine: counts pairs of half boards that fit together, instead of single solutions.
//!
//! Backtracking takes time for every solution. The join cuts the board in two halves of h = ⌊n/2⌋
//! rows. For each set of h columns, it lists all ways to fill the top half with queens in those
//! columns, and all ways to fill the bottom half with queens in the other columns. A solution is a
//! pair of the two that share no diagonal. The join counts these pairs without listing them. On odd
//! boards the queen of the middle row excludes its column and diagonals: while lists are made, or
//! on small boards afterwards.
//!
//! From the plan to the leaf, the files are:
//!
//! * `column_set`: [`ColumnSet`], which columns belong to which half; one set of each symmetry
//!   class, with its weight.
//! * `half`: [`Half`], a half board, and the *key* of a filled one: the diagonals it attacks.
//! * `partition`: [`Partition`], what a rank of the plan stands for.
//! * `join_board`: [`JoinBoard`], what is given on the board, and which symmetries that leaves.
//! * `plan`: [`JoinPlan`], the order of partitions and the tasks; `cost`: what a task costs.
//! * `counter`: counts the tasks of a plan.
//! * `word_order`: in which orientation a solution is counted.
//! * `list_maker`: makes the lists of both halves, within the `memory_budget` budget.
//! * `shared_columns`: which column sets use the same layout of keys; `key_layout`: where each bit
//!   of a key goes.
//! * `quadrant`: all ways to fill columns left or right of the middle; `row_sets`: numbers the rows
//!   that they take; `crossing`: all keys of a half board, from its two quadrants.
//! * `without_middle`: lists made without a middle queen, kept for all columns that she may take.
//! * `ties`: pairs of half boards whose words of rows have the same rank as those of the columns.
//! * `pairs`: the number of disjoint pairs of keys from two lists, by recursion down to leaves.
//! * `kernel`: the inner loops, written once for all instruction sets; `kernel::leaf` counts a
//!   leaf.
//! * `leaf_audit`: counts a share of the leaves again.
//! * `device`: leaves the half boards to a device.
//! * `measure`: [`MeasuredParts`], the parts of the work, each to be measured alone.
//! * `oracle`: [`JoinOracle`] counts the same tasks by backtracking, to check all of this.

mod canary;
mod column_set;
mod cost;
mod counter;
mod crossing;
mod device;
mod half;
mod join_board;
mod kernel;
mod key_layout;
mod leaf_audit;
mod list_maker;
mod measure;
mod memory_budget;
#[cfg(test)]
mod naive;
mod oracle;
mod pairs;
mod partition;
mod plan;
mod quadrant;
mod row_sets;
mod shared_columns;
#[cfg(test)]
mod tests;
mod ties;
mod without_middle;
mod word_order;

pub use column_set::ColumnSet;
#[doc(hidden)]
pub use device::launcher_of_small_blocks;
pub use device::{CrossingProbe, Path, Probe, programs, upload};
pub use half::{Half, Side};
pub use join_board::{JoinBoard, OF_SETS};
pub use measure::MeasuredParts;
pub use oracle::JoinOracle;
pub use partition::Partition;
pub use plan::JoinPlan;
