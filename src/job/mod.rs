//! A job: "count this board with what there is".
//!
//! This is what a program that uses the library starts with. A job chooses the engine, finds the
//! devices, runs the actors, and checks the result. The room `run_directory` keeps its finished tasks.
//!
//! ```
//! use queenfold::{Job, Size};
//!
//! let result = Job::new(Size::new(10)?).run()?;
//! assert_eq!(result.outcome.total, 724);
//! assert_eq!(result.outcome.unique(), Some(92));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`Job`]: what to count and how (`builder`), and how it is counted (`run`).
//! * [`Hardware`]: workers, instruction set and devices; found once, used by any number of jobs.
//! * [`Hardware::choose_engine`]: the choice of `auto` (`engine_choice`).
//! * [`limits`]: which values the settings may have.
//! * [`RunSettings`]: how tasks are counted, whatever board they are of.
//! * [`JobResult`], [`JobError`]: what comes of a job.

mod builder;
mod devices;
mod engine_choice;
mod error;
mod hardware;
pub mod limits;
mod result;
mod run;

pub use builder::{Job, RunSettings, Tuning, count};
pub use devices::Devices;
pub use engine_choice::{WithDevices, device_plan, fastest_on_cpu, plan, plans};
pub use error::JobError;
pub use hardware::{DeviceChoice, Hardware, HardwareSettings};
pub use result::{CensusResult, JobResult, Stopped, outcome};
pub use run::Plans;
