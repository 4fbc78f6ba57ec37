//! What all engines have in common: plans cut into tasks, counters that count a task, tallies that
//! add up.
//!
//! Three words keep their meaning everywhere. A **task** is a fixed tile of a plan: its boundaries
//! depend only on n, the engine and the plan version. It is the unit of tally, record, audit and
//! shard. A **batch** is a handful of tasks handed to a worker at once; it is never recorded. A
//! **subtree** is a part of the search that a worker derives from a task; it is never stored. For a
//! device, a subtree becomes a job of a launch.
//!
//! A [`TaskKey`] names a task for good, and a [`TaskResult`] is what counting it gave: the same
//! struct in memory, in the ledger and on a wire. A line of an export is read back as one.
//!
//! The files, by what they answer:
//!
//! * Which engines are there? `kind`: their names; `plan`: what each implements; `function_plan`: a plan from a
//!   function, for an engine that a caller brings; `plan_name`: an engine with the version of its plans.
//! * Which tasks has a plan? `task`: a task and its key; `task_bits`: how many there are; `task_set`: sets of tasks.
//! * How long do they take? `costs`: the one table of measured times; `interpolate`: between its boards.
//! * How is a task counted? `counter_settings`: what a counter may use; `task_watch`: how far it is, and when it has to
//!   give the task up; `mismatch`: why it gives no tally.
//! * What did counting give? `result`: all of it; `tally`: the counts; `origin`: who counted; `device`: the device of
//!   an origin and its kernel.
//! * Is it right? `canary`: tasks with known counts; `second_counter`: what checks a result of a run; `recount`: what
//!   counts a recorded task again; `verdict`: which of several counts stands; `correction`: counts that differ.
//! * How does a device count? The folder `launch`.
//! * How are times written as JSON? `seconds`.

mod canary;
mod correction;
mod costs;
mod counter_settings;
mod device;
mod function_plan;
mod interpolate;
mod kind;
mod launch;
mod mismatch;
mod origin;
mod plan;
mod plan_name;
mod recount;
mod result;
mod second_counter;
pub mod seconds;
mod tally;
mod task;
mod task_bits;
mod task_set;
mod task_watch;
mod verdict;

pub use canary::{Canary, CanaryTask};
pub use correction::{Correction, Decision, Method};
pub use costs::{core_seconds, seconds_per_cost};
pub use counter_settings::CounterSettings;
pub use device::{DeviceIdentity, DeviceKernel};
pub use function_plan::FunctionPlan;
pub use interpolate::interpolate;
pub use kind::{Engine, EngineError};
pub use launch::{Completed, DeviceProgram, Launch, LaunchBatch, LaunchError, Launcher};
pub use launch::{
    Device, DeviceCanary, DeviceError, DeviceSpan, DeviceSpans, NoLauncher, OpenError, Properties,
    Ticket,
};
pub(crate) use launch::{JOB_WORDS, JobGroup, Jobs, RESERVED, SampledLaunch};
pub use launch::{LaunchWords, Layout, ThreadUse};
#[cfg(test)]
pub(crate) use launch::{exact, variant_tests};
pub use mismatch::{GivenUp, Mismatch};
pub use origin::{CountedBy, KernelName, Origin, WorkerId, WorkerIdError};
pub use plan::{Counter, Plan};
pub use plan_name::{PlanName, PlanNameError};
pub use recount::{
    CheckedBy, ChooseKernel, RecountKernel, RecountPlan, deciding_kernel, oracle_slower,
    second_kernel,
};
pub use result::TaskResult;
pub use second_counter::other_counter;
pub use tally::{Completions, Tally};
pub use task::{Task, TaskKey};
pub use task_bits::task_bits;
pub use task_set::TaskSet;
pub use task_watch::{NotCounted, Stretch, TaskProgress, TaskWatch};
pub use verdict::{Verdict, verdict};
