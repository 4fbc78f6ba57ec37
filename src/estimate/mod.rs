//! The sampling estimate: how long counting a plan will take, measured on a sample of its tasks
//! before the run.
//!
//! A plan of 28 queens has millions of tasks and would take years of one core. A few dozen of its
//! tasks, counted and timed, predict the total within a few per cent. Three steps:
//!
//! 1. [`Draw`] lists the tasks with their costs (of a long plan, a random part of the tasks), sorts
//!    them into strata of similar cost, and draws a few at random from each stratum.
//! 2. [`count_sample`] counts these tasks, each on one thread, and measures the CPU time of that
//!    thread. Short samples are counted several times. A sample may be given up at any time, and what was
//!    counted until then is a smaller sample.
//! 3. [`Draw::estimate`] computes the total and its 95 % interval from the seconds, by the formulas
//!    of stratified sampling.
//!
//! ```no_run
//! use std::num::NonZeroUsize;
//!
//! use queenfold::{CounterSettings, Draw, Engine, Isa, SampleProgress, Size, count_sample, plan};
//!
//! let plan = plan(Engine::Colour, Size::new(22)?);
//! let draw = Draw::new(plan.as_ref(), 64, 1);
//! let settings = CounterSettings { isa: Isa::best() };
//! let progress = SampleProgress::new(NonZeroUsize::MIN);
//! let sample = count_sample(plan.as_ref(), &draw, &settings, &progress)?;
//! if let Some(total) = draw.estimate(&sample.seconds, sample.speed) {
//!     println!("{:.0} core-seconds", total.core_seconds.expected);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Two other predictions are not made here:
//!
//! * [`Task::cost`](crate::engine::Task::cost) is a formula of each engine. It needs no counting
//!   and is rough; here it only decides how tasks are drawn and weighted.
//! * The ETA in [`Progress`](crate::actors::Progress) is the time left of a run in progress. It is
//!   computed from the tasks that the run has counted so far.

mod draw;
mod progress;
mod sample;
mod student;
mod total;

pub use draw::{Draw, DrawnTask};
pub use progress::SampleProgress;
pub use sample::{SHORTEST, Sample, count_sample};
pub use student::quantile;
pub use total::{Interval, Total};
