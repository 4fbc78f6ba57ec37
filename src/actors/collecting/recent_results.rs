//! Results that may have to be counted again: who counted them, and since when nobody vouches for them. And the search
//! for wrong ones, after the sums contradicted what is known.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::actors::{MOST_UNTESTED, PlanIndex, RecordedResult, WorkerIndex};
use crate::engine::TaskResult;

/// The fewest results that are kept in memory, some 300 bytes each. Runs of fewer tasks can be checked as
/// a whole when they end.
const LEAST: usize = 1 << 16;

/// The results of the last tasks. Those that were counted since the last good canary of their worker are
/// always among them.
pub(crate) struct RecentResults {
    most: usize,
    /// For each plan, by the index of the task.
    plans: Vec<BTreeMap<u64, TaskResult>>,
    /// Plan and index, in the order in which they came.
    order: VecDeque<(PlanIndex, u64)>,
    /// For each worker, what it counted since its last good canary.
    untested: Vec<HashSet<(PlanIndex, u64)>>,
}

impl RecentResults {
    pub(crate) fn new(workers: usize, plans: usize) -> Self {
        Self {
            // A batch may come on top of what makes a canary due.
            most: LEAST.max(2 * MOST_UNTESTED as usize * workers),
            plans: vec![BTreeMap::new(); plans],
            order: VecDeque::new(),
            untested: vec![HashSet::new(); workers],
        }
    }

    /// Keeps a result of `worker`.
    pub(crate) fn add(&mut self, worker: WorkerIndex, plan: PlanIndex, result: TaskResult) {
        let task = (plan, result.key.index);
        if self.plans[plan.0].insert(task.1, result).is_none() {
            self.order.push_back(task);
        }
        self.untested[worker.0].insert(task);
        // Those that nobody vouches for yet stay. A few are looked at each time, so that a long batch of
        // a device does not make each result a search through all of them.
        for _ in 0..8 {
            if self.order.len() <= self.most {
                break;
            }
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            if self.untested.iter().any(|tasks| tasks.contains(&oldest)) {
                self.order.push_back(oldest);
            } else {
                self.plans[oldest.0.0].remove(&oldest.1);
            }
        }
    }

    /// Notes that a worker counted its canary correctly.
    pub(crate) fn passed(&mut self, worker: WorkerIndex) {
        self.untested[worker.0].clear();
    }

    /// What a worker counted since its last good canary. It is counted again, and no more in this
    /// list.
    pub(crate) fn take_untested(&mut self, worker: WorkerIndex) -> Vec<(PlanIndex, u64)> {
        let mut tasks: Vec<_> = self.untested[worker.0].drain().collect();
        tasks.sort_unstable();
        tasks
    }

    pub(crate) fn get(&self, (plan, task): (PlanIndex, u64)) -> Option<&TaskResult> {
        self.plans[plan.0].get(&task)
    }

    /// Puts a result that two counts agree on in the place of another one of its task, if that is kept.
    pub(crate) fn replace(&mut self, plan: PlanIndex, right: &TaskResult) {
        for tasks in &mut self.untested {
            tasks.remove(&(plan, right.key.index));
        }
        if let Some(kept) = self.plans[plan.0].get_mut(&right.key.index) {
            *kept = right.clone();
        }
    }

    /// Plan and result of everything that is kept.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (PlanIndex, &TaskResult)> {
        let plans = self.plans.iter().enumerate();
        plans.flat_map(|(plan, results)| {
            results
                .values()
                .map(move |result| (PlanIndex(plan), result))
        })
    }
}

/// The parts of a search for wrong counts. After each one the sums are compared again.
const PARTS: usize = 16;

/// How long such a search may take however short the run was.
const LEAST_SEARCH: Duration = Duration::from_secs(60);

/// A count that is in the sums which contradict what is known.
pub(crate) type Searched = (PlanIndex, RecordedResult);

/// What was counted again, and what is still to be.
pub(crate) struct WrongCountSearch {
    begun: Instant,
    /// How long it may take.
    budget: Duration,
    /// What was not counted again yet.
    left: Vec<Searched>,
    all: usize,
}

impl WrongCountSearch {
    /// Begins a search among all that was counted, with so many workers.
    pub(crate) fn begin(mut counts: Vec<Searched>, workers: usize) -> Self {
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
    pub(crate) const fn counted_again(&self) -> usize {
        self.all - self.left.len()
    }

    /// Whether nothing is left, or the time is over.
    pub(crate) fn is_over(&self) -> bool {
        let late = self.begun.elapsed() >= self.budget;
        self.left.is_empty() || (late && self.counted_again() > 0)
    }

    /// What is to be counted again next. Suspects come first.
    pub(crate) fn next_part(&mut self, is_suspect: impl Fn(&Searched) -> bool) -> Vec<Searched> {
        // They are last in the list.
        self.left.sort_by_key(is_suspect);
        let part = self.all.div_ceil(PARTS).min(self.left.len());
        self.left.split_off(self.left.len() - part)
    }
}
