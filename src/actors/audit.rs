//! Which tasks are counted a second time, and the bound on what that costs.

use std::time::Duration;

use fastrand::Rng;

use crate::engine::{
    CountedBy, KernelName, Mismatch, NotCounted, Plan, Tally, Task, TaskWatch, second_counter,
};

/// Seconds that recounts may take, for each second of counting and unit of the share.
///
/// A recount by the kernel of another instruction set takes up to some 4 times as long as the count.
/// With 8, all tasks drawn can then be recounted. An oracle may take hundreds of times as long; then
/// this is the bound: with the usual share of 0.001, recounts take at most 0.8 % of the time.
const COST_PER_SHARE: f64 = 8.0;

/// How much slower than the count a recount is expected to be until one was measured: as above.
const SLOWER: f64 = 4.0;

/// Draws the tasks that are recounted. There is one for all CPU workers together, because the bound
/// of a single worker would seldom leave room for a recount, and one for each device.
///
/// Each task is drawn with the probability of the share, whatever it costs. If its recount would
/// exceed the bound, the next task whose recount does not is taken instead.
pub(super) struct TaskAudit {
    share: f64,
    random: Rng,
    /// Tasks drawn and not recounted yet.
    owed: u64,
    counting: Duration,
    recounted: Duration,
    recounting: Duration,
}

impl TaskAudit {
    pub(super) fn new(share: f64) -> Self {
        Self {
            share,
            random: Rng::new(),
            owed: 0,
            counting: Duration::ZERO,
            recounted: Duration::ZERO,
            recounting: Duration::ZERO,
        }
    }

    /// Whether to recount a task whose count took this long. If so, returns how long the recount is
    /// expected to take; [note](Self::note) afterwards how long it did.
    pub(super) fn draw(&mut self, took: Duration) -> Option<Duration> {
        self.counting += took;
        if self.share <= 0.0 {
            return None;
        }
        self.owed += u64::from(self.share < 1.0 && self.random.f64() < self.share);
        let slower = if self.recounted.is_zero() {
            SLOWER
        } else {
            self.recounting.as_secs_f64() / self.recounted.as_secs_f64()
        };
        let expected = took.mul_f64(slower);
        let after = self.recounting + expected;
        let bound = self.counting.mul_f64(COST_PER_SHARE * self.share);
        if self.share < 1.0 && (self.owed == 0 || after > bound) {
            return None;
        }
        self.owed = self.owed.saturating_sub(1);
        self.recounted += took;
        self.recounting = after;
        Some(expected)
    }

    /// Notes how long a recount took.
    pub(super) fn note(&mut self, expected: Duration, recount: Duration) {
        self.recounting = (self.recounting + recount).saturating_sub(expected);
    }
}

/// Counts a task a second time by another kernel than `counted_by`, which gave `tally`. Returns the
/// name of that kernel, `None` if the plan has no other.
///
/// # Errors
/// The counts differ, or `watch` asks to give up.
pub(super) fn recount(
    plan: &dyn Plan,
    task: &Task,
    (tally, counted_by): (&Tally, &CountedBy),
    watch: &TaskWatch,
) -> Result<Option<KernelName>, NotCounted> {
    let Some(mut second) = second_counter(plan, counted_by) else {
        return Ok(None);
    };
    let again = second.count_watched(task, watch)?;
    if again.agrees_with(tally) {
        return Ok(Some(second.backend().into()));
    }
    let differs = Mismatch(format!(
        "the audit found another count: {} by {}, {} by {}",
        tally.exact(),
        counted_by.backend(),
        again.exact(),
        second.backend()
    ));
    Err(differs.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recounts among `tasks` of random length, each `slower` than its count, and the share of the
    /// counting time that they took.
    fn simulate(share: f64, tasks: u32, slower: f64) -> (u32, f64) {
        let mut audit = TaskAudit::new(share);
        let mut lengths = Rng::new();
        let (mut recounts, mut counting, mut recounting) = (0, 0.0, 0.0);
        for _ in 0..tasks {
            let took = 1e-3 + lengths.f64();
            counting += took;
            if let Some(expected) = audit.draw(Duration::from_secs_f64(took)) {
                let recount = took * slower;
                audit.note(expected, Duration::from_secs_f64(recount));
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
}
