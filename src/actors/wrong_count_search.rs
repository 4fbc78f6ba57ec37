//! The search for wrong counts, after the sums contradicted what is known.

use std::time::{Duration, Instant};

use super::{PlanIndex, RecordedResult};

/// The parts of a search for wrong counts. After each one the sums are compared again.
const PARTS: usize = 16;

/// How long such a search may take however short the run was.
const LEAST_SEARCH: Duration = Duration::from_secs(60);

/// A count that is in the sums which contradict what is known.
pub(super) type Searched = (PlanIndex, RecordedResult);

/// What was counted again, and what is still to be.
pub(super) struct WrongCountSearch {
    begun: Instant,
    /// How long it may take.
    budget: Duration,
    /// What was not counted again yet.
    left: Vec<Searched>,
    all: usize,
}

impl WrongCountSearch {
    /// Begins a search among all that was counted, with so many workers.
    pub(super) fn begin(mut counts: Vec<Searched>, workers: usize) -> Self {
        let counting: Duration = counts.iter().map(|(_, count)| count.result.duration).sum();
        fastrand::shuffle(&mut counts);
        Self {
            begun: Instant::now(),
            budget: (counting / workers.max(1) as u32).max(LEAST_SEARCH),
            all: counts.len(),
            left: counts,
        }
    }

    /// How many tasks were counted again.
    pub(super) const fn counted_again(&self) -> usize {
        self.all - self.left.len()
    }

    /// Whether nothing is left, or the time is over.
    pub(super) fn is_over(&self) -> bool {
        let late = self.begun.elapsed() >= self.budget;
        self.left.is_empty() || (late && self.counted_again() > 0)
    }

    /// What is to be counted again next. Suspects come first.
    pub(super) fn next_part(&mut self, is_suspect: impl Fn(&Searched) -> bool) -> Vec<Searched> {
        // They are last in the list.
        self.left.sort_by_key(is_suspect);
        let part = self.all.div_ceil(PARTS).min(self.left.len());
        self.left.split_off(self.left.len() - part)
    }
}
