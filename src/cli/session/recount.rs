//! What `verify` and `check` have in common: they count tasks again on this machine, and say what that
//! showed.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::recount_cost::RecountCost;
use crate::cli::control::stop_report::StopReport;
use crate::cli::exit::Failure;
use crate::cli::output::say;
use crate::config::RunConfig;
use crate::engine::{CheckedBy, CounterSettings, Plan};
use crate::machine::Machine;
use crate::outcome::Outcome;
use crate::simd::Isa;

/// Counting again, with what was found so far. A signal prints that, and a terminal shows how far it is.
pub struct Recount {
    /// What the counters may use.
    pub settings: CounterSettings,
    /// How many of them count at a time.
    pub workers: NonZeroUsize,
    done: AtomicU64,
    wrong: AtomicU64,
    report: StopReport,
    bar: OnceLock<ProgressBar>,
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
            bar: OnceLock::new(),
        })
    }

    /// Says how many tasks will be counted again, and how long that takes.
    pub fn begin<'a>(&self, tasks: impl Iterator<Item = (&'a Arc<dyn Plan>, u64)>, by: CheckedBy) {
        let cost = RecountCost::of(tasks, &self.settings);
        if cost.tasks == 0 {
            return;
        }
        say(&format!("to count again: {}", cost.line(by, self.workers)));
        let style = ProgressStyle::with_template(
            "{pos} of {len} tasks counted again · {elapsed} · left {eta}",
        );
        let bar = ProgressBar::with_draw_target(Some(cost.tasks), ProgressDrawTarget::stderr())
            .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.enable_steady_tick(REFRESH);
        let _ = self.bar.set(bar);
    }

    /// Takes the progress from the terminal: results follow.
    pub fn end(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    /// Notes that a task was counted again. `words` makes the line that a signal prints from the number of
    /// tasks counted again and how many of them were wrong.
    pub fn note(&self, right: bool, words: impl Fn(u64, u64) -> String) {
        let wrong = u64::from(!right);
        let wrong = self.wrong.fetch_add(wrong, Ordering::Relaxed) + wrong;
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.report.note(words(done, wrong));
        if let Some(bar) = self.bar.get() {
            bar.set_position(done);
        }
    }
}

/// How often the time on the terminal is brought up to date, though no task is done.
const REFRESH: Duration = Duration::from_millis(250);

/// Reads what counts tasks again: `kernel` or `oracle`.
pub fn second_method() -> impl TypedValueParser<Value = CheckedBy> {
    const ALL: [CheckedBy; 2] = [CheckedBy::OtherKernel, CheckedBy::Oracle];
    PossibleValuesParser::new(ALL.map(by_name)).map(|name| {
        let by = ALL.into_iter().find(|by| by_name(*by) == name);
        by.unwrap_or(CheckedBy::OtherKernel)
    })
}

/// What [`second_method`] reads.
pub const fn by_name(by: CheckedBy) -> &'static str {
    match by {
        CheckedBy::OtherKernel => "kernel",
        CheckedBy::Oracle => "oracle",
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
