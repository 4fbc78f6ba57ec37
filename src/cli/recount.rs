//! What `verify` and `check` have in common: they count tasks again on this machine, and say what that
//! showed.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};

use super::exit::Failure;
use super::stop_report::StopReport;
use crate::config::RunConfig;
use crate::engine::CounterSettings;
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::simd::Isa;

/// Counting again, with what was found so far. A signal prints that.
pub struct Recount {
    /// What the counters may use.
    pub settings: CounterSettings,
    /// How many of them count at a time.
    pub workers: NonZeroUsize,
    done: AtomicU64,
    wrong: AtomicU64,
    report: StopReport,
}

impl Recount {
    /// Counting again with all cores of this machine.
    ///
    /// # Errors
    /// Signals cannot be caught.
    pub fn new() -> Result<Self, Failure> {
        let machine = Machine::detect();
        let run = RunConfig::default();
        Ok(Self {
            settings: CounterSettings { isa: Isa::best() },
            workers: NonZeroUsize::new(run.workers(&machine)).unwrap_or(NonZeroUsize::MIN),
            done: AtomicU64::new(0),
            wrong: AtomicU64::new(0),
            report: StopReport::listen("no task was counted again")?,
        })
    }

    /// Notes that a task was counted again. `words` makes the line that a signal prints from the number of
    /// tasks counted again and how many of them were wrong.
    pub fn note(&self, right: bool, words: impl Fn(u64, u64) -> String) {
        let wrong = u64::from(!right);
        let wrong = self.wrong.fetch_add(wrong, Ordering::Relaxed) + wrong;
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.report.note(words(done, wrong));
    }
}

/// Whether the total is a known one.
pub const fn known(outcome: &Outcome) -> &'static str {
    match outcome.is_known {
        true => "equal to the known count",
        false => "for which no count is known",
    }
}

/// The line of the unique solutions, if they were counted.
pub fn unique_line(outcome: &Outcome) -> Option<String> {
    let unique = outcome.unique()?;
    Some(format!(
        "unique    {unique}, by Burnside's identity from whole classes"
    ))
}
