//! Which tasks are counted a second time, and the bound on what that costs.

use std::time::Duration;

use fastrand::Rng;
use parking_lot::{Mutex, MutexGuard};

use crate::actors::{DeviceIndex, PlanIndex, RunSpec};

/// Seconds that recounts may take, for each second of counting and unit of the share.
///
/// A recount by the kernel of another instruction set takes up to some 4 times as long as the count.
/// With 8, all tasks drawn can then be recounted. An oracle may take hundreds of times as long; then
/// this is the bound: with the usual share of 0.001, recounts take at most 0.8 % of the time.
const COST_PER_SHARE: f64 = 8.0;

/// How much slower than the count a recount is expected to be until one was measured: as above.
const SLOWER: f64 = 4.0;

/// The same of the count of a device, where all tasks of a plan are to be recounted: better too few than hours.
const SLOWER_THAN_DEVICE: f64 = 1000.0;

/// While all tasks of a plan are recounted: how long that may take.
pub(crate) struct WholePlan {
    /// The cost of all tasks of the plan.
    pub(crate) cost: f64,
    /// How long all recounts may be expected to take together.
    pub(crate) budget: Duration,
    /// Whether a device counts the tasks.
    pub(crate) on_device: bool,
}

/// The share of the budget for the recounts of a whole plan that is spent in any case: by then, what they will take is
/// known better than after a first task that may have been interrupted.
const IN_ANY_CASE: f64 = 0.1;

/// Draws the tasks that are recounted. There is one for all CPU workers together, because the bound
/// of a single worker would seldom leave room for a recount, and one for each device.
///
/// While the recounts of the whole plan are expected to keep to their budget, every task is drawn. Otherwise
/// each task is drawn with the probability of the share, whatever it costs. If its recount would
/// exceed the bound, the next task whose recount does not is taken instead.
#[derive(Default)]
pub(crate) struct TaskAudit {
    share: f64,
    whole: Option<WholePlan>,
    random: Rng,
    /// Tasks drawn and not recounted yet.
    owed: u64,
    /// The cost of what was counted, and how long that took.
    cost: f64,
    counting: Duration,
    /// How long recounts took or, until they have, are expected to take.
    recounting: Duration,
    /// How long the counts took of what was recounted so far, and the recounts.
    measured: (Duration, Duration),
}

impl TaskAudit {
    /// Draws this share; all tasks while the recounts of the `whole` plan keep to their budget. A share of 0 draws
    /// none in any case.
    pub(crate) fn new(share: f64, whole: Option<WholePlan>) -> Self {
        Self {
            share,
            whole,
            ..Self::default()
        }
    }

    /// Whether to recount a task of this cost whose count took this long. If so, returns how long the recount
    /// is expected to take; [note](Self::note) afterwards how long it did.
    pub(crate) fn draw(&mut self, took: Duration, cost: f64) -> Option<Duration> {
        self.counting += took;
        self.cost += cost;
        if self.share <= 0.0 {
            return None;
        }
        let all = self.share >= 1.0 || self.covers_whole_plan();
        self.owed += u64::from(!all && self.random.f64() < self.share);
        let expected = took.mul_f64(self.slower(SLOWER));
        let after = self.recounting + expected;
        let bound = self.counting.mul_f64(COST_PER_SHARE * self.share);
        if !all && (self.owed == 0 || after > bound) {
            return None;
        }
        self.owed = self.owed.saturating_sub(1);
        self.recounting = after;
        Some(expected)
    }

    /// How much slower than the counts the recounts were; `unmeasured` before the first one.
    fn slower(&self, unmeasured: f64) -> f64 {
        let (counts, recounts) = self.measured;
        match counts.is_zero() {
            true => unmeasured,
            false => recounts.div_duration_f64(counts),
        }
    }

    /// Whether recounts of the whole plan are expected to keep to their budget.
    fn covers_whole_plan(&self) -> bool {
        self.whole.as_ref().is_some_and(|whole| {
            let slower = self.slower(match whole.on_device {
                true => SLOWER_THAN_DEVICE,
                false => SLOWER,
            });
            let plans = if self.cost > 0.0 {
                whole.cost / self.cost
            } else {
                1.0
            };
            let of_counted = self.counting.as_secs_f64() * slower;
            let budget = whole.budget.as_secs_f64();
            of_counted * plans <= budget || of_counted <= budget * IN_ANY_CASE
        })
    }

    /// Notes how long the recount of a task took whose count took so long.
    pub(crate) fn note(&mut self, count: Duration, expected: Duration, recount: Duration) {
        self.measured.0 += count;
        self.measured.1 += recount;
        self.recounting = (self.recounting + recount).saturating_sub(expected);
    }
}

/// All that draws tasks in a run.
pub(crate) struct Audits {
    /// From what CPU workers count of each plan.
    of_plans: Vec<Mutex<TaskAudit>>,
    /// From what each device counts of the plan of the devices.
    of_devices: Vec<Mutex<TaskAudit>>,
}

impl Audits {
    /// For so many CPU workers, and devices that count this plan.
    pub(crate) fn new(
        spec: &RunSpec,
        cpu_workers: usize,
        (devices, plan): (usize, Option<PlanIndex>),
    ) -> Self {
        let of = |plan: PlanIndex, on_device: bool| {
            let all = !spec.audit_all.is_zero();
            let whole = all.then(|| WholePlan {
                cost: spec.plans[plan.0].total_cost(),
                budget: spec.audit_all.saturating_mul(cpu_workers.max(1) as u32),
                on_device,
            });
            Mutex::new(TaskAudit::new(spec.audit, whole))
        };
        let of_device = |_| Some(of(plan?, true));
        Self {
            of_plans: (0..spec.plans.len())
                .map(|plan| of(PlanIndex(plan), false))
                .collect(),
            of_devices: (0..devices).filter_map(of_device).collect(),
        }
    }

    /// What draws from the tasks of a plan that a device counts, or the CPU workers.
    pub(crate) fn of(
        &self,
        plan: PlanIndex,
        device: Option<DeviceIndex>,
    ) -> MutexGuard<'_, TaskAudit> {
        device
            .map_or(&self.of_plans[plan.0], |device| &self.of_devices[device.0])
            .lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recounts among `tasks` of random length, each `slower` than its count, and the share of the
    /// counting time that they took.
    fn simulate(share: f64, tasks: u32, slower: f64) -> (u32, f64) {
        let mut audit = TaskAudit::new(share, None);
        let mut lengths = Rng::new();
        let (mut recounts, mut counting, mut recounting) = (0, 0.0, 0.0);
        for _ in 0..tasks {
            let took = 1e-3 + lengths.f64();
            counting += took;
            if let Some(expected) = audit.draw(Duration::from_secs_f64(took), took) {
                let recount = took * slower;
                let took = Duration::from_secs_f64(took);
                audit.note(took, expected, Duration::from_secs_f64(recount));
                recounts += 1;
                recounting += recount;
            }
        }
        (recounts, recounting / counting)
    }

    #[test]
    fn a_thousandth_of_the_tasks_is_recounted_where_that_is_cheap() {
        let (recounts, _) = simulate(1e-3, 1_000_000, 2.5);
        assert!((850..1150).contains(&recounts), "{recounts}");
    }

    #[test]
    fn recounts_cost_less_than_a_hundredth_however_slow() {
        for slower in [1.0, 2.5, 8.0, 50.0, 400.0] {
            let (recounts, cost) = simulate(1e-3, 300_000, slower);
            assert!(recounts > 0 && cost < 0.01, "{slower}: {recounts}, {cost}");
        }
    }

    #[test]
    fn the_whole_and_nothing_are_exact() {
        assert_eq!(simulate(1.0, 100, 50.0).0, 100);
        assert_eq!(simulate(0.0, 100, 0.1).0, 0);
    }

    /// How many of 1000 equal tasks of 10 ms are recounted, each recount taking 8 times as long, if all recounts may
    /// take so many seconds, and how many of them before the first that is not.
    fn drawn_within(share: f64, seconds: u64) -> (u32, u32) {
        let whole = WholePlan {
            cost: 2000.0,
            budget: Duration::from_secs(seconds),
            on_device: false,
        };
        let mut audit = TaskAudit::new(share, Some(whole));
        let took = Duration::from_millis(10);
        let (mut drawn, mut first) = (0, None);
        for task in 0..1000 {
            match audit.draw(took, 2.0) {
                Some(expected) => {
                    audit.note(took, expected, took * 8);
                    drawn += 1;
                }
                None => _ = first.get_or_insert(task),
            }
        }
        (drawn, first.unwrap_or(1000))
    }

    #[test]
    fn all_tasks_are_recounted_where_that_keeps_to_its_budget() {
        assert_eq!(drawn_within(1e-3, 81), (1000, 1000));
        // Otherwise a tenth of the budget is spent.
        assert_eq!(drawn_within(1e-3, 79), (98, 98));
        assert_eq!(drawn_within(1e-3, 10), (12, 12));
        assert_eq!(drawn_within(0.0, 1000), (0, 0));
    }

    #[test]
    fn a_plan_without_costs_is_recounted_while_what_is_counted_keeps_to_the_budget() {
        let whole = WholePlan {
            cost: 0.0,
            budget: Duration::from_secs(1),
            on_device: false,
        };
        let mut audit = TaskAudit::new(1e-9, Some(whole));
        let drawn = (0..1000).filter(|_| audit.draw(Duration::from_millis(10), 0.0).is_some());
        assert_eq!(drawn.count(), 25);
    }
}
