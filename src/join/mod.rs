//! The join engine: count pairs of half boards that fit together, not solutions.

mod audit;
mod columns;
mod cost;
mod counter;
mod generate;
mod half;
mod kernel;
mod layout;
mod naive;
mod pairs;
mod partition;
mod plan;
mod recount;

pub use columns::ColumnSet;
pub use half::{Half, Side};
pub use partition::Partition;
pub use plan::JoinPlan;
pub use recount::Recount;
