//! The carry-chain engine: place the queens of the border, one placement per symmetry class, then
//! search the rest row by row.
//!
//! The border of a solution (its queens on the first and last row and column, 3 or 4 of them) is
//! mapped to the border of the image by each symmetry. Counting only solutions whose border is the
//! representative of its class, each as often as the class has members, counts every solution
//! once: `T = Σ weight × completions`. The classes are those of the *border*, not of the solution,
//! so no unique count follows from them; that is what [`census`](crate::census) is for.
//!
//! * [`Border`]: the border placements and their representatives.
//! * [`Frame`]: what a border leaves to search.
//! * [`ChainPlan`]: partitions (a border and the queens of the next rows), their ranks, the tasks.
//! * [`NodeRule`]: what counts as a node.
//! * [`ScalarCounter`]: the plain, readable kernel that others are checked against.
//! * [`programs()`]: the kernel for devices. The plan makes launches of its tasks for it.
//! * `search`: the row search in vectors, for many nodes at once.
//! * `vector`: the counter that uses it. [`ChainPlan`] makes it for an instruction set.

mod border;
mod frame;
mod jobs;
mod launches;
mod nodes;
mod partition;
mod plan;
mod program;
mod scalar;
mod search;
mod vector;

pub use border::Border;
pub use frame::{Frame, FreeRow, State};
pub use jobs::{Job, Jobs};
pub use nodes::NodeRule;
pub use partition::Partition;
pub use plan::ChainPlan;
pub use program::programs;
pub use scalar::ScalarCounter;
