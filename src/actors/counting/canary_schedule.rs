//! When a worker or device counts its canary, and how much of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use crate::actors::{CanaryCounted, CountKind, Counters, PlanIndex, RunShared, panics};

/// A canary may take this share of the time that was counted since the last one; the first one, of the time
/// that the run is expected to take.
const SHARE: f64 = 1.0 / 400.0;

/// The longest canary.
const LONGEST: Duration = Duration::from_millis(50);

/// So many tasks of a canary are counted however short the run is. Each takes all steps of its engine.
const LEAST: usize = 4;

/// After so many tasks a canary is due in any case: results of tasks are kept in memory until then.
pub(crate) const MOST_UNTESTED: u64 = 1 << 13;

/// When a worker last showed that it counts correctly, and what it counted since.
pub(crate) struct CanarySchedule {
    last: Instant,
    tasks: u64,
    counting: Duration,
    /// Whether it has counted its canary at the start.
    begun: bool,
    /// The task of the canary that comes next: in a short run not all of them have their turn at once.
    next: usize,
}

impl CanarySchedule {
    /// Of a thread that takes the place of another one, or not: what that one counted is untested. `begun`: it has counted
    /// its canary.
    pub(crate) fn new(is_restarted: bool, begun: bool) -> Self {
        Self {
            last: Instant::now(),
            tasks: u64::from(is_restarted),
            counting: Duration::ZERO,
            begun,
            next: 0,
        }
    }

    /// Notes tasks, and how long the worker counted them.
    pub(crate) fn note(&mut self, tasks: usize, took: Duration) {
        self.tasks += tasks as u64;
        self.counting += took;
    }

    /// Whether there are canaries, and the worker has counted anything since its last one.
    pub(crate) fn is_untested(&self, shared: &RunShared) -> bool {
        shared.spec.canary.is_some() && self.tasks > 0
    }

    /// Whether the canary is to be counted between two tasks.
    pub(crate) fn is_due(&self, shared: &RunShared) -> bool {
        shared.spec.canary.is_some_and(|every| {
            !self.begun
                || self.tasks >= MOST_UNTESTED
                || (self.tasks > 0 && self.last.elapsed() >= every)
        })
    }

    /// Notes that the canary was counted just now.
    pub(crate) fn note_canary(&mut self) {
        let next = self.next;
        *self = Self {
            next,
            ..Self::new(false, true)
        };
    }

    /// Counts the canaries of all plans on this thread.
    pub(crate) fn count(&mut self, counters: &Counters) -> CanaryCounted {
        let begun = Instant::now();
        let shared = &counters.shared;
        let counted = match self.begun {
            true => self.counting,
            false => shared.expected(),
        };
        let budget = counted.mul_f64(SHARE).min(LONGEST);
        let mut plans = shared.plan_indices();
        let count = || {
            plans.try_fold(0, |counts, plan| {
                Ok(counts + count_plan(counters, plan, self.next, budget)?)
            })
        };
        let counted = catch_unwind(AssertUnwindSafe(count));
        let outcome = counted.unwrap_or_else(|payload| Err(panics::describe(payload.as_ref())));
        self.note_canary();
        self.next += *outcome.as_ref().unwrap_or(&0) as usize;
        CanaryCounted {
            worker: counters.worker,
            outcome,
            took: begun.elapsed(),
        }
    }
}

/// Counts the canary of a plan from its task `first` on, and after the last task again from the beginning, until
/// the time is over. Returns the number of counts.
fn count_plan(
    counters: &Counters,
    plan: PlanIndex,
    first: usize,
    budget: Duration,
) -> Result<u64, String> {
    let (shared, worker) = (&counters.shared, counters.id());
    let Some(canary) = shared.plan(plan).canary() else {
        return Ok(0);
    };
    let begun = Instant::now();
    let mut counter = counters.make(plan, CountKind::Canary, &[]);
    let mut counts = 0;
    while counts < LEAST || begun.elapsed() < budget {
        let at = (first + counts) % canary.tasks().len();
        let tally = counter.count(&canary.task(at)).map_err(|wrong| wrong.0)?;
        let tally = shared.faults.tally(worker, CountKind::Canary, tally);
        canary.compare(at, &tally).map_err(|wrong| wrong.0)?;
        counts += 1;
    }
    Ok(counts as u64)
}
