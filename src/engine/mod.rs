//! What every engine has in common: plans cut into tasks, counters that count a task, tallies that
//! add up.
//!
//! Three words are kept apart everywhere. A **task** is a fixed tile of a plan, its boundaries a
//! function of (n, engine, plan version) alone: the unit of tally, record, audit and shard. A
//! **batch** is a handful of tasks handed to a worker at once; it is never recorded. A **job** is a
//! subtree that a worker or device derives from a task; it is never stored.

mod device;
mod plan;
mod second;
mod tally;
mod task;
mod task_set;

pub use device::{DeviceIdentity, DeviceKind};
pub use plan::{Counter, CounterSettings, Mismatch, Plan};
pub use second::second_counter;
pub use tally::{Completions, Tally};
pub use task::{Engine, Task, TaskId};
pub use task_set::TaskSet;
