//! What the whole plan will take, with a confidence interval.

use serde::Serialize;

use super::draw::Stratum;
use super::{Draw, quantile};

/// An expected value with its 95 % confidence interval: it contains the true value in 95 of 100
/// cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The expected value.
    pub expected: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// All three numbers times `factor`.
    pub fn scaled(self, factor: f64) -> Self {
        Self {
            low: self.low * factor,
            expected: self.expected * factor,
            high: self.high * factor,
        }
    }
}

/// How long counting a whole plan is expected to take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// The CPU time of all threads that count, in seconds.
    pub core_seconds: Interval,
    /// The mean CPU seconds of a task.
    pub mean_task: f64,
    /// The CPU seconds of the longest task of the sample.
    pub longest_task: f64,
    /// The share of the whole work that is in the sample, 0 to 1.
    pub share: f64,
}

impl Total {
    /// The wall time of `workers` that count at the same time, each as fast as the threads of the
    /// sample, in seconds.
    ///
    /// When no task is left to start, each worker is somewhere in its last task. Several workers
    /// therefore take half a mean task longer on average, and the longest task longer at worst.
    pub fn wall_seconds(&self, workers: usize) -> Interval {
        let at_once = workers.max(1) as f64;
        let last = if workers > 1 { 1.0 } else { 0.0 };
        let Interval {
            low,
            expected,
            high,
        } = self.core_seconds;
        Interval {
            low: low / at_once,
            expected: expected / at_once + last * self.mean_task / 2.0,
            high: high / at_once + last * self.longest_task,
        }
    }
}

/// An estimated sum with its variance and degrees of freedom.
#[derive(Clone, Copy, Debug, Default)]
struct Estimated {
    sum: f64,
    variance: f64,
    freedom: f64,
}

/// How much the seconds of a task for a unit of its cost vary from task to task, as a standard deviation relative to
/// their mean: what is taken for it while fewer tasks are counted than show it. Of the colour engine it is 0.2 to
/// 0.3, and tasks of the chain with equal costs differ by a factor of 2.
const UNKNOWN_SPREAD: f64 = 0.5;

/// Tasks that show how much they vary.
const SHOWS_SPREAD: usize = 4;

impl Draw {
    /// The total of the plan, from the CPU seconds of the tasks drawn in the order of
    /// [`tasks`](Self::tasks). `None` stands for a task that was not counted, and for a total without any task that
    /// was. `speed` is the standard deviation of the CPU time of the same work, relative to its mean.
    ///
    /// # Panics
    /// The number of seconds differs from the number of tasks drawn.
    pub fn estimate(&self, seconds: &[Option<f64>], speed: f64) -> Option<Total> {
        assert_eq!(seconds.len(), self.tasks().len(), "seconds of each task");
        let counted: Vec<f64> = seconds.iter().flatten().copied().collect();
        let Estimated {
            sum,
            variance,
            freedom,
        } = match counted.len() {
            all if all == seconds.len() => self.total(&counted),
            0 => return None,
            _ => self.total_of_some(seconds),
        };
        let speed = (speed * sum).powi(2);
        // The variance of the speed counts as known exactly, because it is at least what many runs
        // showed.
        let freedom = freedom * ((variance + speed) / variance.max(f64::MIN_POSITIVE)).powi(2);
        // A plan without partitions certainly takes no time.
        let error = if sum > 0.0 {
            quantile(freedom) * (variance + speed).sqrt()
        } else {
            0.0
        };
        let taken: f64 = counted.iter().sum();
        let tasks: usize = self.strata.iter().map(|stratum| stratum.tasks).sum();
        Some(Total {
            core_seconds: Interval {
                low: (sum - error).max(0.0),
                expected: sum,
                high: sum + error,
            },
            mean_task: sum / (tasks as f64 * self.scale).max(1.0),
            longest_task: counted.iter().copied().fold(0.0, f64::max),
            share: if sum > 0.0 {
                (taken / sum).min(1.0)
            } else {
                1.0
            },
        })
    }

    /// The ratio estimator for a sample that ended early. The tasks were counted in random order, so that those
    /// that are counted are a random part of the sample, each with the weight that it has there. Their strata are
    /// too thin for variances of their own. Of the tasks in hand at the end, long ones more often than short ones, those
    /// are left out of which little was counted: with k tasks counted on each thread that makes the total wrong by some
    /// k-th part of the squared [spread](UNKNOWN_SPREAD), much less than the interval.
    fn total_of_some(&self, seconds: &[Option<f64>]) -> Estimated {
        let mut drawn = vec![0_usize; self.strata.len()];
        for task in self.tasks() {
            drawn[task.stratum] += 1;
        }
        let counted: Vec<(f64, f64)> = self
            .tasks()
            .iter()
            .zip(seconds)
            .filter_map(|(task, seconds)| {
                let weight = self.strata[task.stratum].tasks as f64 / drawn[task.stratum] as f64;
                seconds.map(|seconds| (weight * task.cost, weight * seconds))
            })
            .collect();
        let cost: f64 = counted.iter().map(|(cost, _)| cost).sum();
        let taken: f64 = counted.iter().map(|(_, seconds)| seconds).sum();
        let ratio = taken / cost;
        let squares: f64 = counted
            .iter()
            .map(|(cost, seconds)| (seconds - ratio * cost).powi(2))
            .sum();
        let tasks = counted.len() as f64;
        // Relative to the square of the total.
        let seen = tasks / (tasks - 1.0).max(1.0) * squares / taken.powi(2).max(f64::MIN_POSITIVE);
        let (variance, freedom) = if counted.len() < SHOWS_SPREAD {
            let known = UNKNOWN_SPREAD.powi(2) / tasks;
            (seen.max(known), f64::INFINITY)
        } else {
            (seen, tasks - 1.0)
        };
        let listed: f64 = self.strata.iter().map(|stratum| stratum.cost).sum();
        let sum = self.scale * ratio * listed;
        Estimated {
            sum,
            variance: variance * sum.powi(2) + ratio * ratio * self.cost_variance,
            freedom,
        }
    }

    /// The combined ratio estimator of stratified double sampling (Cochran, Sampling Techniques,
    /// 1977, sections 6.11 and 12.9), with finite-population corrections, and Satterthwaite's
    /// degrees of freedom (section 5.4).
    fn total(&self, seconds: &[f64]) -> Estimated {
        let mut samples: Vec<Vec<(f64, f64)>> = vec![Vec::new(); self.strata.len()];
        for (task, seconds) in self.tasks().iter().zip(seconds) {
            samples[task.stratum].push((task.cost, *seconds));
        }
        // How many tasks of its stratum each task of the sample stands for.
        let weight = |stratum: &Stratum, drawn: usize| stratum.tasks as f64 / drawn as f64;
        let (mut cost, mut taken) = (0.0, 0.0);
        for (stratum, sample) in self.strata.iter().zip(&samples) {
            let weight = weight(stratum, sample.len());
            cost += weight * sample.iter().map(|(cost, _)| cost).sum::<f64>();
            taken += weight * sample.iter().map(|(_, seconds)| seconds).sum::<f64>();
        }
        if cost <= 0.0 {
            return Estimated::default();
        }
        let ratio = taken / cost;
        let (mut variance, mut uncertain) = (0.0, 0.0);
        for (stratum, sample) in self.strata.iter().zip(&samples) {
            let (tasks, drawn) = (stratum.tasks as f64, sample.len() as f64);
            if drawn < 2.0 {
                continue;
            }
            let residual = |(cost, seconds): &(f64, f64)| seconds - ratio * cost;
            let mean = sample.iter().map(residual).sum::<f64>() / drawn;
            let squares: f64 = sample.iter().map(|of| (residual(of) - mean).powi(2)).sum();
            let own = tasks * (tasks - drawn) * squares / (drawn - 1.0) / drawn;
            variance += own;
            uncertain += own * own / (drawn - 1.0);
        }
        let listed: f64 = self.strata.iter().map(|stratum| stratum.cost).sum();
        let scale = self.scale * listed / cost;
        variance *= scale * scale;
        uncertain *= scale.powi(4);
        let listing = ratio * ratio * self.cost_variance;
        Estimated {
            sum: self.scale * ratio * listed,
            variance: variance + listing,
            freedom: if uncertain > 0.0 {
                (variance + listing).powi(2) / uncertain
            } else {
                f64::INFINITY
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::{GivenBoard, Size};
    use crate::engine::{Counter, CounterSettings, Engine, Plan, PlanName, Task};
    use crate::estimate::sample::{SPEED, TELLS};
    use fastrand::Rng;

    /// A plan whose tasks take known times, which their costs predict badly: a cost may be half or
    /// twice what it should be, and grows too slowly.
    struct InventedPlan {
        tasks: Vec<(f64, f64)>,
    }

    impl InventedPlan {
        fn new(tasks: u64) -> Self {
            let mut random = Rng::with_seed(7);
            let mut unit = || random.f64();
            let task = |index: u64| {
                if index.is_multiple_of(10) {
                    return (0.0, 0.0);
                }
                let cost = (4.0 * unit() * unit()).exp();
                (cost, 0.01 * cost.powf(1.2) * (2.0 * unit() - 1.0).exp2())
            };
            Self {
                tasks: (0..tasks).map(task).collect(),
            }
        }

        fn seconds(&self, draw: &Draw) -> Vec<f64> {
            let of = |task: &crate::estimate::draw::DrawnTask| self.tasks[task.index as usize].1;
            draw.tasks().iter().map(of).collect()
        }

        /// The seconds of the first tasks of the draw, which alone are counted.
        fn first(&self, draw: &Draw, counted: usize) -> Vec<Option<f64>> {
            let seconds = self.seconds(draw).into_iter().enumerate();
            seconds
                .map(|(place, seconds)| (place < counted).then_some(seconds))
                .collect()
        }

        fn truth(&self) -> f64 {
            self.tasks.iter().map(|(_, seconds)| seconds).sum()
        }
    }

    impl Plan for InventedPlan {
        fn name(&self) -> PlanName {
            PlanName {
                engine: Engine::Colour,
                version: 1,
            }
        }

        fn given(&self) -> GivenBoard {
            Size::new(8).unwrap().into()
        }

        fn tasks(&self) -> u64 {
            self.tasks.len() as u64
        }

        fn task(&self, index: u64) -> Task {
            Task {
                key: self.key(index),
                ranks: index..index + 1,
                cost: self.tasks[index as usize].0,
            }
        }

        fn total_cost(&self) -> f64 {
            self.tasks.iter().map(|(cost, _)| cost).sum()
        }

        fn counter(&self, _: &CounterSettings) -> Box<dyn Counter> {
            unimplemented!("nothing is counted")
        }

        fn oracle(&self) -> Box<dyn Counter> {
            unimplemented!("nothing is counted")
        }
    }

    /// The share of 400 seeds whose interval contains the truth, without the allowance for the
    /// speed of the machine, because these times never vary.
    fn coverage(plan: &InventedPlan, sample: usize) -> f64 {
        let covered = (0..400).filter(|&seed| {
            let draw = Draw::new(plan, sample, seed);
            let Estimated {
                sum,
                variance,
                freedom,
            } = draw.total(&plan.seconds(&draw));
            (sum - plan.truth()).abs() <= quantile(freedom) * variance.sqrt()
        });
        covered.count() as f64 / 400.0
    }

    #[test]
    fn the_interval_contains_the_truth_about_19_times_in_20() {
        for (tasks, sample) in [(300, 24), (3000, 64), (3000, 200), (100_000, 64)] {
            let covered = coverage(&InventedPlan::new(tasks), sample);
            assert!(
                (0.915..=0.985).contains(&covered),
                "{tasks}, {sample}: {covered}"
            );
        }
    }

    #[test]
    fn the_interval_of_a_sample_that_ends_early_is_wider_and_contains_the_truth() {
        let plan = InventedPlan::new(3000);
        let of = |counted: usize, seed| {
            let draw = Draw::new(&plan, 64, seed);
            draw.estimate(&plan.first(&draw, counted), 0.0).unwrap()
        };
        let width = |total: Total| total.core_seconds.high - total.core_seconds.low;
        let mut wider = 0;
        for counted in [1, 2, 5, 12, 40] {
            let covered = (0..400).filter(|&seed| {
                let Interval { low, high, .. } = of(counted, seed).core_seconds;
                (low..=high).contains(&plan.truth())
            });
            let covered = covered.count() as f64 / 400.0;
            assert!(covered >= 0.9, "{counted}: {covered}");
            wider += usize::from(width(of(counted, 1)) > width(of(64, 1)));
        }
        assert_eq!(wider, 5);
        let draw = Draw::new(&plan, 64, 1);
        assert_eq!(draw.estimate(&plan.first(&draw, 0), 0.0), None);
    }

    /// The time cuts it after so many of many tasks as it happens to allow, and the task in hand is left out, or taken for
    /// what it would take in all.
    #[test]
    fn a_sample_that_the_time_cuts_is_unbiased_and_its_interval_contains_the_truth() {
        let plan = InventedPlan::new(3000);
        for tasks in [10.0, 30.0, 300.0] {
            let (mut covered, mut sum) = (0, 0.0);
            for seed in 0..400 {
                let draw = Draw::new(&plan, 1024, seed);
                let all = plan.seconds(&draw);
                let mean = all.iter().sum::<f64>() / all.len() as f64;
                let mut left = tasks * mean;
                let cut = all.iter().map(|seconds| {
                    let share = (left / seconds).clamp(0.0, 1.0);
                    left -= seconds;
                    (share >= TELLS).then_some(*seconds)
                });
                let cut: Vec<_> = cut.collect();
                let Interval {
                    low,
                    expected,
                    high,
                } = draw.estimate(&cut, 0.0).unwrap().core_seconds;
                covered += usize::from((low..=high).contains(&plan.truth()));
                sum += expected / plan.truth();
            }
            assert!(covered >= 350, "{tasks}: {covered}");
            // Long tasks are in hand more often than short ones: that makes less than the interval by far.
            let bias = (sum / 400.0 - 1.0).abs();
            assert!(bias < 0.6 / tasks + 0.01, "{tasks}: {bias}");
        }
    }

    #[test]
    fn a_sample_of_everything_leaves_only_the_speed_uncertain() {
        let plan = InventedPlan::new(200);
        let draw = Draw::new(&plan, 1000, 1);
        assert_eq!(draw.tasks().len(), 180);
        let total = draw.estimate(&plan.first(&draw, 180), SPEED).unwrap();
        let Interval { expected, high, .. } = total.core_seconds;
        assert!((expected / plan.truth() - 1.0).abs() < 1e-9);
        assert!((high / expected - 1.0 - 1.96 * SPEED).abs() < 1e-6);
        assert!((total.share - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_seed_repeats_its_sample() {
        let plan = InventedPlan::new(1000);
        assert_eq!(Draw::new(&plan, 64, 5), Draw::new(&plan, 64, 5));
        assert_ne!(Draw::new(&plan, 64, 5), Draw::new(&plan, 64, 6));
    }

    #[test]
    fn no_task_is_drawn_twice() {
        for (tasks, sample) in [(10, 8), (100, 64), (100, 99), (40_000, 333)] {
            let plan = InventedPlan::new(tasks);
            let mut drawn: Vec<_> = Draw::new(&plan, sample, 2)
                .tasks()
                .iter()
                .map(|task| task.index)
                .collect();
            drawn.sort_unstable();
            drawn.dedup();
            let there = plan.tasks.iter().filter(|(cost, _)| *cost > 0.0).count();
            assert_eq!(drawn.len(), sample.min(there));
        }
    }

    #[test]
    fn several_workers_wait_for_the_last_task() {
        let total = Total {
            core_seconds: Interval {
                low: 90.0,
                expected: 100.0,
                high: 110.0,
            },
            mean_task: 2.0,
            longest_task: 5.0,
            share: 0.1,
        };
        assert_eq!(total.wall_seconds(1), total.core_seconds);
        assert_eq!(
            total.wall_seconds(10),
            Interval {
                low: 9.0,
                expected: 11.0,
                high: 16.0
            }
        );
    }
}
