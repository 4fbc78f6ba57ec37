//! What counting a plan will take, from a sample of its tasks.
//!
//! A plan of 28 queens has millions of tasks and would take years of one core; a few dozen of its
//! tasks, counted with a clock beside them, foretell it within a few per cent. Three steps:
//!
//! 1. [`Draw`]: tasks are listed with their estimated costs (of a long plan a random part of
//!    them), sorted into strata of like cost, and a few are drawn from each at random.
//! 2. [`count_sample`]: those are counted, each on one thread, by the CPU time of that thread, short
//!    samples several times.
//! 3. [`Draw::estimate`]: survey statistics make of the seconds a total and its 95 % interval.

mod draw;
mod random;
mod sample;
mod student;
mod total;

pub use draw::{Draw, Drawn};
pub use sample::{Sample, count_sample};
pub use student::quantile;
pub use total::{Interval, Total};
