//! Which tasks are counted a second time, and the bound on what that costs.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

/// Seconds that recounts may take, for each second of counting and unit of the share.
const COST_PER_SHARE: f64 = 8.0;

/// How much slower than the first count a recount is taken to be until one was measured.
const SLOWER: f64 = 4.0;

/// Draws the tasks that a worker recounts.
///
/// Each task is drawn with the probability of the share, so that the share holds by cost as well.
/// A recount may be many times as slow as the count, so a drawn task is passed over as long as its
/// recount would exceed the bound, and the next one that does not is taken in its stead.
pub(super) struct Audit {
    share: f64,
    random: u64,
    /// Drawn, and not yet made up for.
    owed: u64,
    counting: Duration,
    recounted: Duration,
    recounting: Duration,
}

impl Audit {
    pub(super) fn new(share: f64) -> Self {
        Self {
            share,
            random: RandomState::new().hash_one(0) | 1,
            owed: 0,
            counting: Duration::ZERO,
            recounted: Duration::ZERO,
            recounting: Duration::ZERO,
        }
    }

    /// Whether to recount a task whose count took this long.
    pub(super) fn draw(&mut self, took: Duration) -> bool {
        self.counting += took;
        if self.share <= 0.0 {
            return false;
        }
        if self.share >= 1.0 {
            return true;
        }
        self.owed += u64::from(self.random() < self.share);
        let slower = if self.recounted.is_zero() {
            SLOWER
        } else {
            self.recounting.as_secs_f64() / self.recounted.as_secs_f64()
        };
        let after = self.recounting.as_secs_f64() + slower * took.as_secs_f64();
        let bound = COST_PER_SHARE * self.share * self.counting.as_secs_f64();
        self.owed > 0 && after <= bound
    }

    /// Notes a recount and what the first count took.
    pub(super) fn note(&mut self, took: Duration, recount: Duration) {
        self.owed = self.owed.saturating_sub(1);
        self.recounted += took;
        self.recounting += recount;
    }

    /// From 0 to 1, by xorshift64.
    fn random(&mut self) -> f64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Recounts among `tasks` of random length, each `slower` than its count, and the share of the
    /// counting time that they took.
    fn simulate(share: f64, tasks: u32, slower: f64) -> (u32, f64) {
        let mut audit = Audit::new(share);
        let mut lengths = Audit::new(share);
        let (mut recounts, mut counting, mut recounting) = (0, 0.0, 0.0);
        for _ in 0..tasks {
            let took = 1e-3 + lengths.random();
            counting += took;
            if audit.draw(Duration::from_secs_f64(took)) {
                let recount = took * slower;
                audit.note(
                    Duration::from_secs_f64(took),
                    Duration::from_secs_f64(recount),
                );
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
