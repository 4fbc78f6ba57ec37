//! What the whole plan will take, with a confidence interval.

use super::draw::Stratum;
use super::{Draw, quantile};

/// An expected value with its 95 % confidence interval: it contains the true value in 95 of 100
/// cases.
#[derive(Clone, Copy, Debug, PartialEq)]
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

impl Draw {
    /// The total of the plan, from the CPU seconds of the tasks drawn in the order of
    /// [`tasks`](Self::tasks). `speed` is the standard deviation of the CPU time of the same work,
    /// relative to its mean.
    ///
    /// # Panics
    /// The number of seconds differs from the number of tasks drawn.
    pub fn estimate(&self, seconds: &[f64], speed: f64) -> Total {
        let Estimated {
            sum,
            variance,
            freedom,
        } = self.total(seconds);
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
        let taken: f64 = seconds.iter().sum();
        let tasks: usize = self.strata.iter().map(|stratum| stratum.tasks).sum();
        Total {
            core_seconds: Interval {
                low: (sum - error).max(0.0),
                expected: sum,
                high: sum + error,
            },
            mean_task: sum / (tasks as f64 * self.scale).max(1.0),
            longest_task: seconds.iter().copied().fold(0.0, f64::max),
            share: if sum > 0.0 {
                (taken / sum).min(1.0)
            } else {
                1.0
            },
        }
    }

    /// The combined ratio estimator of stratified double sampling (Cochran, Sampling Techniques,
    /// 1977, sections 6.11 and 12.9), with finite-population corrections, and Satterthwaite's
    /// degrees of freedom (section 5.4).
    fn total(&self, seconds: &[f64]) -> Estimated {
        assert_eq!(seconds.len(), self.tasks().len(), "seconds of each task");
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
    use crate::board::Size;
    use crate::engine::{Counter, CounterSettings, Engine, Plan, Task};
    use crate::estimate::sample::SPEED;
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

        fn truth(&self) -> f64 {
            self.tasks.iter().map(|(_, seconds)| seconds).sum()
        }
    }

    impl Plan for InventedPlan {
        fn engine(&self) -> Engine {
            Engine::Colour
        }

        fn version(&self) -> u32 {
            1
        }

        fn size(&self) -> Size {
            Size::new(8).unwrap()
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
    fn a_larger_sample_gives_a_narrower_interval() {
        let plan = InventedPlan::new(5000);
        let width = |sample| {
            let draw = Draw::new(&plan, sample, 3);
            draw.total(&plan.seconds(&draw)).variance.sqrt() / plan.truth()
        };
        assert!(width(64) < 0.08, "{}", width(64));
        assert!(width(1024) < 0.35 * width(64));
    }

    #[test]
    fn a_sample_of_everything_leaves_only_the_speed_uncertain() {
        let plan = InventedPlan::new(200);
        let draw = Draw::new(&plan, 1000, 1);
        assert_eq!(draw.tasks().len(), 180);
        let total = draw.estimate(&plan.seconds(&draw), SPEED);
        let Interval { expected, high, .. } = total.core_seconds;
        assert!((expected / plan.truth() - 1.0).abs() < 1e-9);
        assert!((high / expected - 1.0 - 1.96 * SPEED).abs() < 1e-6);
        assert!((total.share - 1.0).abs() < 1e-9);
    }

    #[test]
    fn one_task_is_a_plan_too() {
        let plan = InventedPlan {
            tasks: vec![(1.0, 2.0)],
        };
        let total = Draw::new(&plan, 64, 0).estimate(&[2.0], SPEED);
        assert!((total.core_seconds.expected - 2.0).abs() < 1e-12);
        assert!(total.core_seconds.high < 2.4);
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
