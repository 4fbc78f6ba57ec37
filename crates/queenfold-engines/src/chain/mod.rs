//! The carry-chain engine: place the queens of the border, one placement per symmetry class, then
//! search the rest row by row.
//!
//! The border of a solution (its queens on the first and last row and column, 3 or 4 of them) is
//! mapped to the border of the image by each symmetry. The engine counts only solutions whose
//! border is the representative of its class, and multiplies by the size of the class. So every
//! solution counts once: `T = Σ weight × completions`. The classes are those of the *border*, not
//! of the solution, so the unique count does not follow from them; see [`census`](crate::census).
//!
//! * [`Border`]: the border placements and their representatives; [`Borders`]: those of a plan, also of
//!   one for a board on which queens and holes are given.
//! * [`Frame`]: what is left to search after a border is placed.
//! * `partition`: a border and the queens of the next rows, and the order of partitions.
//! * [`ChainPlan`]: the partitions cut into tasks.
//! * [`Subtrees`]: the subtrees of a task.
//! * [`NodeRule`]: what counts as a node.
//! * [`ChainOracle`]: a plain search, against which the kernels are checked.
//! * [`programs()`]: the kernel for devices. The plan makes launches of its tasks for it.
//! * `search`: the row search in vectors, for many nodes at once.
//! * `counter`: counts tasks by this search. [`ChainPlan`] makes it for an instruction set.

mod border;
mod borders;
mod canary;
mod counter;
mod frame;
mod launches;
mod node_rule;
mod oracle;
mod partition;
mod plan;
mod program;
mod search;
mod subtrees;

pub use border::Border;
pub use borders::Borders;
pub use frame::{Frame, FreeRow, TakenLines};
pub use node_rule::NodeRule;
pub use oracle::ChainOracle;
pub use plan::ChainPlan;
pub use program::programs;
pub use subtrees::{Subtree, Subtrees};

use crate::engine::{Engine, PlanName};

/// The name of the plan. Its version: any change of partitions, weights or boundaries of tasks is another one.
const NAME: PlanName = PlanName {
    engine: Engine::Chain,
    version: 1,
};
