//! How fast a run counted in the last minutes, part by part. Other programs come and go, processors get hot: the time
//! left follows the speed of these minutes, and it is as uncertain as they differ.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use crate::estimate::quantile;

/// The shortest part of the time.
const SHORTEST: Duration = Duration::from_millis(500);

/// The longest one. They go back five minutes, then.
const LONGEST: Duration = Duration::from_secs(16);

/// The most parts. When there are more, each two become one of twice the length, up to the longest.
const MOST: usize = 20;

/// With fewer parts, nothing is known of how the speed varies.
const ENOUGH: usize = 5;

/// The cost that was counted of each plan in a part of the time.
#[derive(Clone, Debug, Default)]
struct Part {
    /// Seconds, and seconds of all workers together.
    wall: f64,
    workers: f64,
    costs: Vec<f64>,
}

impl Part {
    fn add(&mut self, other: &Self) {
        self.wall += other.wall;
        self.workers += other.workers;
        self.costs
            .resize(self.costs.len().max(other.costs.len()), 0.0);
        for (sum, more) in self.costs.iter_mut().zip(&other.costs) {
            *sum += more;
        }
    }

    /// Work for each second of a worker, in seconds of one worker as tasks measure it: 1 where workers do nothing
    /// but count, as fast as on the mean of all tasks.
    fn speed(&self, seconds_per_cost: &[f64]) -> f64 {
        let work = self.costs.iter().zip(seconds_per_cost);
        work.map(|(cost, ratio)| cost * ratio).sum::<f64>() / self.workers
    }
}

/// The costs that a run counted in the last minutes.
#[derive(Clone, Debug)]
pub(super) struct RecentSpeed {
    /// The length of a part.
    each: Duration,
    parts: VecDeque<Part>,
    /// The part that is not full.
    open: Part,
    /// All of the run.
    all: Part,
    /// When the costs were noted last, and what was counted of each plan then, if that was measured. `None` while
    /// the run does not count.
    last: Option<(Instant, Vec<Option<f64>>)>,
}

/// A speed, in parts of the mean speed within tasks, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SpeedLevel {
    /// The speed that is expected from now on.
    pub(super) speed: f64,
    /// Half the width of its 95 % interval.
    pub(super) uncertainty: f64,
}

impl RecentSpeed {
    pub(super) fn new() -> Self {
        Self {
            each: SHORTEST,
            parts: VecDeque::new(),
            open: Part::default(),
            all: Part::default(),
            last: None,
        }
    }

    /// Notes the cost that is counted of each plan; `None` for one that is not measured yet.
    pub(super) fn note(&mut self, now: Instant, workers: usize, costs: Vec<Option<f64>>) {
        if workers == 0 {
            self.last = None;
            return;
        }
        if let Some((since, before)) = &self.last {
            let wall = now.saturating_duration_since(*since).as_secs_f64();
            let pairs = costs.iter().zip(before);
            // A task that is given up takes back what was counted of it.
            let more = pairs.map(|(now, before)| match (now, before) {
                (Some(now), Some(before)) => now - before,
                _ => 0.0,
            });
            let part = Part {
                wall,
                workers: wall * workers as f64,
                costs: more.collect(),
            };
            self.open.add(&part);
            self.all.add(&part);
            if self.open.wall >= self.each.as_secs_f64() {
                self.parts.push_back(std::mem::take(&mut self.open));
                self.shorten();
            }
        }
        // Before a plan is measured, its costs are counted in another way.
        self.last = costs.iter().any(Option::is_some).then_some((now, costs));
    }

    /// The run does not count now.
    pub(super) fn interrupt(&mut self) {
        self.last = None;
    }

    fn shorten(&mut self) {
        if self.parts.len() <= MOST {
            return;
        }
        if self.each >= LONGEST {
            self.parts.pop_front();
            return;
        }
        self.each *= 2;
        let parts: Vec<Part> = self.parts.drain(..).collect();
        // Of an odd number, the oldest stands alone.
        let (oldest, pairs) = parts.split_at(parts.len() % 2);
        self.parts.extend(oldest.iter().cloned());
        self.parts.extend(pairs.chunks(2).map(|two| {
            let mut sum = two[0].clone();
            two[1..].iter().for_each(|part| sum.add(part));
            sum
        }));
    }

    /// The speed that is expected from now on, where a worker takes so many seconds per cost of each plan within
    /// tasks. `None` if too little time has passed.
    ///
    /// It lies between the speed of the last third of the minutes and that of the whole run: the more they differ
    /// beyond what chance explains, the nearer it is to the last minutes (the estimator of James and Stein). For
    /// its uncertainty, the future is one part more of those minutes: a load that changes seldom would stay as it
    /// is for the whole rest.
    pub(super) fn level(&self, seconds_per_cost: &[f64]) -> Option<SpeedLevel> {
        let count = self.parts.len();
        if count < ENOUGH {
            return None;
        }
        let speeds: Vec<f64> = self
            .parts
            .iter()
            .map(|part| part.speed(seconds_per_cost))
            .collect();
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let middle = mean(&speeds);
        let squares: f64 = speeds.iter().map(|speed| (speed - middle).powi(2)).sum();
        let variance = squares / (count - 1) as f64;
        let last = (count / 3).max(1);
        let (recent, whole) = (
            mean(&speeds[count - last..]),
            self.all.speed(seconds_per_cost),
        );
        let by_chance = variance / last as f64;
        let difference = recent - whole;
        let weight = (1.0 - by_chance / difference.powi(2).max(by_chance)).max(0.0);
        let weight = if difference == 0.0 { 0.0 } else { weight };
        let speed = whole + weight * difference;
        let spread = variance + by_chance + ((1.0 - weight) * difference).powi(2);
        (speed > 0.0).then(|| SpeedLevel {
            speed,
            uncertainty: quantile((count - 1) as f64) * spread.sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts for so many steps of 0.2 s at a speed that depends on the step.
    fn counting(steps: u32, speed: impl Fn(u32) -> f64) -> RecentSpeed {
        let (mut recent, start) = (RecentSpeed::new(), Instant::now());
        let mut cost = 0.0;
        for step in 0..steps {
            let now = start + step * Duration::from_millis(200);
            recent.note(now, 2, vec![Some(cost), None]);
            cost += 0.4 * speed(step);
        }
        recent
    }

    #[test]
    fn a_steady_speed_is_certain_and_a_change_is_followed() {
        let level = counting(5000, |_| 0.7).level(&[1.0, 9.0]).unwrap();
        assert!((level.speed - 0.7).abs() < 1e-6 && level.uncertainty < 1e-6);
        // For ten minutes alone, then for three minutes beside another program.
        let level = counting(3900, |step| if step < 3000 { 1.0 } else { 0.5 });
        let level = level.level(&[1.0, 9.0]).unwrap();
        assert!((level.speed - 0.5).abs() < 0.05, "{level:?}");
        assert!(level.uncertainty > 0.3, "{level:?}");
        // Nine minutes later, that is the speed.
        let level = counting(6600, |step| if step < 3000 { 1.0 } else { 0.5 });
        let level = level.level(&[1.0, 9.0]).unwrap();
        assert!(
            (level.speed - 0.5).abs() < 0.01 && level.uncertainty < 0.01,
            "{level:?}"
        );
    }

    #[test]
    fn parts_cover_the_whole_of_a_short_run_and_five_minutes_of_a_long_one() {
        assert_eq!(counting(12, |_| 1.0).level(&[1.0, 1.0]), None);
        for (steps, covered) in [(50, 10.0), (500, 100.0), (1400, 280.0), (20_000, 320.0)] {
            let recent = counting(steps, |_| 1.0);
            let wall: f64 = recent.parts.iter().map(|part| part.wall).sum();
            assert!((0.85..1.02).contains(&(wall / covered)), "{steps}: {wall}");
            assert!((MOST / 2..=MOST).contains(&recent.parts.len()));
        }
    }

    #[test]
    fn a_pause_has_no_speed() {
        let mut recent = counting(100, |_| 1.0);
        let before = recent.all.wall;
        recent.interrupt();
        let later = Instant::now() + Duration::from_secs(3600);
        recent.note(later, 2, vec![Some(500.0), None]);
        assert_eq!(recent.all.wall, before);
        let level = recent.level(&[1.0, 1.0]).unwrap();
        assert!((level.speed - 1.0).abs() < 1e-6, "{level:?}");
    }

    /// A second program comes and goes, at random and for 20 seconds on the mean. The speed of the rest lies in the
    /// interval as often as it says.
    #[test]
    fn under_changing_load_the_interval_holds() {
        let mut random = fastrand::Rng::with_seed(7);
        let (mut held, mut told) = (0, 0);
        for _ in 0..60 {
            let mut is_alone = true;
            let speeds: Vec<f64> = (0..1500)
                .map(|_| {
                    is_alone ^= random.u32(0..100) == 0;
                    if is_alone { 1.0 } else { 0.5 }
                })
                .collect();
            for now in [150_u32, 300, 450, 750, 1000] {
                let recent = counting(now, |step| speeds[step as usize]);
                let Some(level) = recent.level(&[1.0, 1.0]) else {
                    panic!("nothing is known after {now} steps");
                };
                let rest = &speeds[now as usize..];
                let truth = rest.iter().sum::<f64>() / rest.len() as f64;
                told += 1;
                held += u32::from((truth - level.speed).abs() <= level.uncertainty);
            }
        }
        assert!(held * 100 >= told * 90, "{held} of {told}");
    }
}
