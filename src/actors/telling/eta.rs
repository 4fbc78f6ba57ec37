//! How far a run is, how fast it counts and when it ends: what the collector tells of the tasks that it has.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::actors::{SupplySize, WorkDone};
use crate::engine::seconds;
use crate::estimate::quantile;

/// Time left, as estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Eta {
    /// Time left.
    #[serde(with = "seconds")]
    pub left: Duration,
    /// How much longer it may be, at the upper end of its [95 % interval](Self::interval). `None` while too little is
    /// measured: then the time left is known from the costs of the plan, within a factor of two or three.
    #[serde(with = "seconds::optional")]
    pub uncertainty: Option<Duration>,
}

impl Eta {
    /// The 95 % interval. What is not known is mostly the speed: the time may be shorter by the same factor as it may
    /// be longer, and not by more than all of it.
    pub fn interval(&self) -> Option<[Duration; 2]> {
        let high = self.left.saturating_add(self.uncertainty?);
        let factor = match high.is_zero() {
            true => 1.0,
            false => self.left.div_duration_f64(high),
        };
        let low = Duration::try_from_secs_f64(self.left.as_secs_f64() * factor);
        Some([low.unwrap_or(self.left), high])
    }
}

/// Counted tasks of a plan, or parts of the last minutes, before their spread is used: with fewer, the 95 % interval is
/// wider than the estimate itself (the quantile of Student's t for 3 degrees of freedom is 3.2).
const ENOUGH: usize = 5;

/// How much of one plan is counted, and how fast that went.
///
/// Counted tasks are a fair sample of the plan (see [`Scatter`](crate::actors::producing::source::Scatter)), so the
/// ratio estimator of survey statistics applies (Cochran, Sampling Techniques, chapter 6): seconds
/// per cost, with an error from the spread of `seconds − ratio · cost`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PlanProgress {
    /// What this run is to count.
    size: SupplySize,
    /// What was counted before this run. It says nothing about its speed.
    before: SupplySize,
    done: u64,
    cost_done: f64,
    /// The cost of the counted tasks, as far as their times are those of work: see [`FASTEST`].
    cost_worked: f64,
    seconds: f64,
    cost_squares: f64,
    seconds_squares: f64,
    products: f64,
    /// What workers did of tasks that are not noted yet.
    in_flight: WorkDone,
    /// Seconds of one worker per unit of cost before anything is measured, if that is known.
    expected: Option<f64>,
}

/// The least seconds of measurement that the expected seconds per cost count as, until enough is
/// counted.
const EXPECTED_FOR: f64 = 1.0;

/// How many times as fast as expected a task may be, until enough is counted.
///
/// A task that was counted in no time has the cost of a mean one, but no partitions. Such tasks are
/// counted at once, while those that were begun with them take minutes or years. And the share that a
/// task in flight reports assumes that its first subtrees take as long as the others. For tasks of years
/// that is wrong by orders of magnitude.
const FASTEST: f64 = 10.0;

/// Half the width of the 95 % interval of a plan that is not measured, in parts of what is left of it.
const ROUGHNESS: f64 = 2.0;

/// The largest share of what is left that may be known from costs alone, if the interval is to be told.
const MOST_ROUGH: f64 = 0.1;

impl PlanProgress {
    /// So much is to be counted, and was counted before, and so many seconds of one worker per unit of cost are expected,
    /// if that is known.
    pub(crate) fn new(size: SupplySize, before: SupplySize, expected: Option<f64>) -> Self {
        Self {
            size,
            before,
            expected: expected.filter(|seconds| *seconds > 0.0),
            ..Self::default()
        }
    }

    /// Tasks that were counted before or are to be counted.
    pub(crate) const fn tasks(&self) -> u64 {
        self.size.tasks + self.before.tasks
    }

    /// Notes a counted task.
    pub(crate) fn add(&mut self, cost: f64, took: Duration) {
        let seconds = took.as_secs_f64();
        self.done += 1;
        self.cost_done += cost;
        self.cost_worked += self.worked(cost, seconds);
        self.seconds += seconds;
        self.cost_squares += cost * cost;
        self.seconds_squares += seconds * seconds;
        self.products += cost * seconds;
    }

    /// The same, with what workers have in flight.
    pub(crate) fn with(self, in_flight: WorkDone) -> Self {
        Self { in_flight, ..self }
    }

    /// The cost that so many seconds of work can be.
    fn worked(&self, cost: f64, seconds: f64) -> f64 {
        self.expected
            .map_or(cost, |expected| cost.min(FASTEST * seconds / expected))
    }

    /// Whether so much is counted that the expectation tells nothing more: tasks with the work of some
    /// mean ones.
    fn is_measured(&self) -> bool {
        let enough = ENOUGH as f64 * self.mean_cost();
        // Sums of the same costs differ by their rounding.
        self.done >= ENOUGH as u64
            && (self.expected.is_none() || self.cost_worked >= 0.999 * enough)
    }

    /// The mean cost of the tasks that this run is to count.
    fn mean_cost(&self) -> f64 {
        self.size.cost / self.size.tasks.max(1) as f64
    }

    /// The cost that is done, tasks in flight included.
    ///
    /// Tasks that were counted in no time count as far as those that were begun with them are done. So
    /// their share of the cost done is as large as in the plan.
    fn cost_so_far(&self) -> f64 {
        if self.is_measured() {
            return self.cost_done + self.in_flight.cost;
        }
        let worked = self.cost_worked + self.worked(self.in_flight.cost, self.in_flight.seconds);
        let begun = self.cost_worked + self.in_flight.begun;
        let share = if begun > 0.0 {
            (worked / begun).min(1.0)
        } else {
            0.0
        };
        worked + share * (self.cost_done - self.cost_worked)
    }

    /// The same, once the costs are measured: before, they are counted in another way.
    pub(crate) fn measured_cost(&self) -> Option<f64> {
        self.is_measured().then(|| self.cost_so_far())
    }

    /// Seconds of one worker per unit of cost; `None` if nothing is known.
    pub(crate) fn seconds_per_cost(&self) -> Option<f64> {
        let (cost, seconds) = (self.cost_so_far(), self.seconds + self.in_flight.seconds);
        match self.expected.filter(|_| !self.is_measured()) {
            Some(expected) => {
                // The expectation counts as a whole task at least.
                let prior = self.mean_cost().max(EXPECTED_FOR / expected);
                Some((seconds + expected * prior) / (cost + prior))
            }
            None => (cost > 0.0).then(|| seconds / cost),
        }
    }

    const fn tasks_left(&self) -> u64 {
        self.size.tasks.saturating_sub(self.done)
    }

    /// The seconds of one worker that are left of the plan, half the width of their 95 % interval, and whether they are
    /// measured; `None` if nothing tells.
    fn left(&self) -> Option<(f64, f64, bool)> {
        let left = self.tasks_left() as f64;
        if left == 0.0 {
            return Some((0.0, 0.0, true));
        }
        let cost_left = (self.size.cost - self.cost_so_far()).max(0.0);
        let (done, is_measured) = (self.done as f64, self.is_measured());
        let known = is_measured || self.expected.is_some();
        let ratio = self.seconds_per_cost().filter(|_| known)?;
        let seconds = ratio * cost_left;
        if !is_measured {
            return Some((seconds, ROUGHNESS * seconds, false));
        }
        let squares =
            self.seconds_squares - 2.0 * ratio * self.products + ratio * ratio * self.cost_squares;
        let spread = squares.max(0.0) / (done - 1.0);
        // The error of the ratio, scaled to the rest, and the spread of the rest itself.
        let scale = cost_left / (self.cost_done / done);
        let variance = spread * (scale * scale / done + left);
        Some((seconds, quantile(done - 1.0) * variance.sqrt(), true))
    }
}

/// The share of the estimated work that is done, 0 to 1. Measured speeds make the costs of several
/// plans comparable.
pub(crate) fn share(plans: &[PlanProgress]) -> f64 {
    if plans.iter().all(|work| work.tasks_left() == 0) {
        return 1.0;
    }
    let measured = plans.iter().any(|work| work.seconds_per_cost().is_some());
    let unknown = if measured { 0.0 } else { 1.0 };
    let (mut done, mut all) = (0.0, 0.0);
    for work in plans {
        let speed = work.seconds_per_cost().unwrap_or(unknown);
        let before = work.before.cost;
        done += speed * (work.cost_so_far() + before);
        all += speed * (work.size.cost + before);
    }
    if all > 0.0 {
        (done / all).clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// When `workers` will have finished, at the present speed if that is known: roughly, until enough tasks are done to
/// tell more. A plan of little work need not be measured for that. `None` if neither costs nor tasks tell.
pub(crate) fn eta(
    plans: &[PlanProgress],
    workers: usize,
    speed: Option<SpeedLevel>,
) -> Option<Eta> {
    let tasks: u64 = plans.iter().map(PlanProgress::tasks_left).sum();
    let (mut seconds, mut rough, mut squares) = (0.0, 0.0, 0.0);
    for work in plans {
        let (left, half_width, is_measured) = work.left()?;
        seconds += left;
        rough += if is_measured { 0.0 } else { left };
        squares += half_width.powi(2);
    }
    let at_once = (workers as u64).min(tasks).max(1) as f64;
    let level = speed.map_or(1.0, |level| level.speed);
    let duration = |seconds: f64| {
        Duration::try_from_secs_f64(seconds / at_once / level).unwrap_or(Duration::MAX)
    };
    let by_speed = speed.map(|level| seconds * level.uncertainty / level.speed);
    let half_width = by_speed
        .filter(|_| rough <= MOST_ROUGH * seconds)
        .map(|by_speed| (squares + by_speed.powi(2)).sqrt());
    Some(Eta {
        left: duration(seconds),
        uncertainty: half_width.or((tasks == 0).then_some(0.0)).map(duration),
    })
}

/// The recent seconds of a run whose work gives its speed.
const RECENT: f64 = 10.0;

/// The seconds between the first moments that are kept.
const SHORTEST: f64 = 0.5;

/// The longest ones. The moments go back five minutes, then.
const LONGEST: f64 = 16.0;

/// The most moments. When there are more, every other one goes, up to the longest time between them.
const MOST: usize = 20;

/// What a run had done at a moment, without its pauses.
#[derive(Clone, Debug, Default)]
struct Moment {
    /// Seconds.
    wall: f64,
    nodes: u64,
    /// Seconds of all workers together, since costs are measured.
    workers: f64,
    /// The cost that was counted of each plan.
    costs: Vec<f64>,
}

impl Moment {
    /// Work for each second of a worker since then, in seconds of one worker as tasks measure it: 1 where workers do
    /// nothing but count, as fast as on the mean of all tasks.
    fn speed_since(&self, then: &Self, seconds_per_cost: &[f64]) -> Option<f64> {
        let work = |of: &Self| {
            let costs = of.costs.iter().zip(seconds_per_cost);
            costs.map(|(cost, ratio)| cost * ratio).sum::<f64>()
        };
        let workers = self.workers - then.workers;
        (workers > 0.0).then(|| (work(self) - work(then)) / workers)
    }
}

/// How fast a run counted in the last minutes. Other programs come and go, processors get hot: the time left follows the
/// speed of these minutes, and it is as uncertain as they differ.
#[derive(Clone, Debug)]
pub(crate) struct RecentSpeed {
    /// Seconds from one moment to the next.
    each: f64,
    moments: VecDeque<Moment>,
    now: Moment,
    /// When work was noted last, the nodes and the cost of each plan then, if that was measured. `None` while the run does
    /// not count.
    last: Option<(Instant, u64, Vec<Option<f64>>)>,
}

/// A speed, in parts of the mean speed within tasks, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SpeedLevel {
    /// The speed that is expected from now on.
    pub(crate) speed: f64,
    /// Half the width of its 95 % interval.
    pub(crate) uncertainty: f64,
}

impl RecentSpeed {
    pub(crate) fn new() -> Self {
        Self {
            each: SHORTEST,
            moments: [Moment::default()].into(),
            now: Moment::default(),
            last: None,
        }
    }

    /// Notes what was done at this time: nodes, and the cost of each plan, if that is measured. While the run does not
    /// count, it has no workers.
    pub(crate) fn note(
        &mut self,
        at: Instant,
        workers: usize,
        nodes: u64,
        costs: Vec<Option<f64>>,
    ) {
        if let Some((since, nodes_then, before)) = self.last.take().filter(|_| workers > 0) {
            let (now, passed) = (&mut self.now, at.saturating_duration_since(since));
            now.wall += passed.as_secs_f64();
            // A task that is given up takes back what was counted of it.
            now.nodes += nodes.saturating_sub(nodes_then);
            if before.iter().any(Option::is_some) {
                now.workers += passed.as_secs_f64() * workers as f64;
            }
            now.costs.resize(costs.len(), 0.0);
            for (sum, (cost, before)) in now.costs.iter_mut().zip(costs.iter().zip(&before)) {
                *sum += cost
                    .zip(*before)
                    .map_or(0.0, |(cost, before)| cost - before);
            }
            let last = self.moments.back().map_or(0.0, |last| last.wall);
            if now.wall - last >= self.each {
                self.moments.push_back(now.clone());
                self.thin_out();
            }
        }
        self.last = (workers > 0).then_some((at, nodes, costs));
    }

    fn thin_out(&mut self) {
        if self.moments.len() <= MOST {
            return;
        }
        if self.each >= LONGEST {
            self.moments.pop_front();
            return;
        }
        self.each *= 2.0;
        let mut is_kept = false;
        self.moments.retain(|_| {
            is_kept = !is_kept;
            is_kept
        });
    }

    /// Nodes per second of all workers, as the mean over ten seconds or a little more: results come in bursts, at most some
    /// 50 ms apart on CPU workers and 3 s on devices. 0 while the run does not count.
    pub(crate) fn nodes_per_second(&self) -> f64 {
        let wall = self.now.wall;
        let mut before = self.moments.iter().rev();
        let then = before
            .find(|then| wall - then.wall >= RECENT)
            .or(self.moments.front());
        let then = then.filter(|then| self.last.is_some() && wall > then.wall);
        then.map_or(0.0, |then| {
            (self.now.nodes - then.nodes) as f64 / (wall - then.wall)
        })
    }

    /// The speed that is expected from now on, by the seconds that a worker takes per cost of each plan within tasks. `None`
    /// if too little time has passed.
    ///
    /// It lies between the speed of the last third of the minutes and that of the whole run: the more they differ
    /// beyond what chance explains, the nearer it is to the last minutes (the estimator of James and Stein). For
    /// its uncertainty, the future is one part more of those minutes: a load that changes seldom would stay as it
    /// is for the whole rest.
    pub(crate) fn level(&self, ratios: &[f64]) -> Option<SpeedLevel> {
        let pairs = self.moments.iter().zip(self.moments.iter().skip(1));
        let speeds = pairs.filter_map(|(then, now)| now.speed_since(then, ratios));
        let speeds: Vec<f64> = speeds.collect();
        let count = speeds.len();
        if count < ENOUGH {
            return None;
        }
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        let middle = mean(&speeds);
        let squares: f64 = speeds.iter().map(|speed| (speed - middle).powi(2)).sum();
        let variance = squares / (count - 1) as f64;
        let last = count / 3;
        let recent = mean(&speeds[count - last..]);
        let whole = self.now.speed_since(&Moment::default(), ratios)?;
        let by_chance = variance / last as f64;
        let difference = recent - whole;
        let weight = match difference == 0.0 {
            true => 0.0,
            false => (1.0 - by_chance / difference.powi(2).max(by_chance)).max(0.0),
        };
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

    /// Workers do nothing but count, as fast as ever.
    const EVEN: Option<SpeedLevel> = Some(SpeedLevel {
        speed: 1.0,
        uncertainty: 0.0,
    });

    fn expecting(tasks: u64, cost: f64, seconds: Option<f64>) -> PlanProgress {
        PlanProgress::new(SupplySize { tasks, cost }, SupplySize::default(), seconds)
    }

    fn nothing_done(tasks: u64, cost: f64) -> PlanProgress {
        expecting(tasks, cost, None)
    }

    fn in_flight(cost: f64, begun: f64, seconds: f64) -> WorkDone {
        WorkDone {
            cost,
            begun,
            seconds,
            ..WorkDone::default()
        }
    }

    fn work(tasks: u64, done: u64, seconds: impl Fn(u64) -> f64) -> PlanProgress {
        let mut work = nothing_done(tasks, tasks as f64);
        for task in 0..done {
            work.add(1.0, Duration::from_secs_f64(seconds(task)));
        }
        work
    }

    #[test]
    fn equal_tasks_leave_no_uncertainty() {
        let plans = [work(100, 25, |_| 2.0)];
        assert!((share(&plans) - 0.25).abs() < 1e-12);
        let eta = eta(&plans, 3, EVEN).unwrap();
        assert!((eta.left.as_secs_f64() - 50.0).abs() < 1e-6);
        assert!(eta.uncertainty.unwrap() < Duration::from_millis(1));
    }

    #[test]
    fn nothing_is_predicted_from_too_few_tasks() {
        assert_eq!(eta(&[work(100, ENOUGH as u64 - 1, |_| 1.0)], 1, EVEN), None);
        assert_eq!(share(&[work(100, 0, |_| 1.0)]), 0.0);
    }

    #[test]
    fn costs_predict_roughly_before_tasks_do() {
        let work = expecting(100, 100.0, Some(2.0));
        let first = eta(&[work], 4, EVEN).unwrap();
        assert_eq!(first.left, Duration::from_secs(50));
        assert_eq!(first.uncertainty, None);
        // A tenth of a task in flight took ten seconds. The expectation counts as a whole task.
        let work = work.with(in_flight(0.1, 1.0, 10.0));
        let second = eta(&[work], 1, EVEN).unwrap();
        let left = (10.0 + 2.0) / (0.1 + 1.0) * 99.9;
        assert!((second.left.as_secs_f64() / left - 1.0).abs() < 1e-9);
        assert!((share(&[work]) - 0.001).abs() < 1e-12);
    }

    /// Three tasks of a year, which tell in their first seconds that nearly all or nothing is done.
    #[test]
    fn shares_of_tasks_in_flight_do_not_outweigh_the_costs() {
        let year = 365.25 * 86_400.0;
        let begun = expecting(3, 3.0 * year, Some(1.0));
        for part in [1e-9, 1e-3, 0.5, 1.0] {
            for hands in [1.0, 3.0] {
                let in_flight = in_flight(hands * part * year, hands * year, hands * 10.0);
                let plans = [begun.with(in_flight)];
                assert!(share(&plans) < 1e-5);
                let eta = eta(&plans, 1, EVEN).unwrap();
                let ratio = eta.left.as_secs_f64() / (3.0 * year);
                assert!((ratio - 1.0).abs() < 1e-4, "{part} {hands}: {ratio}");
                assert_eq!(eta.uncertainty, None);
            }
        }
    }

    /// Two of three tasks have no partitions, and each of the others takes three times the mean. The
    /// times are as expected, so the time left must stay what it is at the beginning: it must neither
    /// begin with a fraction of it nor rise.
    #[test]
    fn tasks_without_work_do_not_shorten_the_time_left() {
        let (mean, tasks, hands) = (350.0, 3_000_000, 2);
        let cost = tasks as f64 * mean;
        let mut work = expecting(tasks, cost, Some(1.0));
        for round in 0..20 {
            for _ in 0..2 * hands {
                work.add(mean, Duration::from_micros(3));
            }
            for part in [0.0, 0.001, 0.1, 0.5, 0.9, 1.0] {
                let hands = f64::from(hands);
                let done = hands * part * mean;
                let work = work.with(in_flight(done, hands * mean, 3.0 * done));
                let left = eta(&[work], 1, EVEN).unwrap().left;
                let ratio = left.as_secs_f64() / cost;
                // When the expectation ends, tasks in flight are a part of few.
                assert!((0.75..1.05).contains(&ratio), "{round} {part}: {ratio}");
            }
            for _ in 0..hands {
                work.add(mean, Duration::from_secs_f64(3.0 * mean));
            }
        }
        assert!(eta(&[work], 1, EVEN).unwrap().uncertainty.is_some());
    }

    #[test]
    fn the_time_left_is_as_uncertain_as_the_speed() {
        let plans = [work(100, 25, |_| 2.0)];
        let level = SpeedLevel {
            speed: 0.5,
            uncertainty: 0.1,
        };
        let eta = eta(&plans, 3, Some(level)).unwrap();
        assert!((eta.left.as_secs_f64() - 100.0).abs() < 1e-6);
        let half = eta.uncertainty.unwrap().as_secs_f64();
        assert!((half - 20.0).abs() < 0.01, "{half}");
        let unknown = super::eta(&plans, 3, None).unwrap();
        assert_eq!((unknown.left.as_secs(), unknown.uncertainty), (50, None));
    }

    #[test]
    fn an_uncertainty_that_is_not_known_is_null() {
        for (uncertainty, text) in [(None, "null"), (Some(Duration::from_millis(1500)), "1.5")] {
            let eta = Eta {
                left: Duration::from_secs(3),
                uncertainty,
            };
            let written = serde_json::to_string(&eta).unwrap();
            assert_eq!(written, format!("{{\"left\":3.0,\"uncertainty\":{text}}}"));
            assert_eq!(serde_json::from_str::<Eta>(&written).unwrap(), eta);
        }
    }

    #[test]
    fn what_was_counted_before_is_done_but_tells_no_speed() {
        let half = SupplySize {
            tasks: 50,
            cost: 50.0,
        };
        let mut work = PlanProgress::new(half, half, None);
        assert_eq!((share(&[work]), work.tasks()), (0.5, 100));
        (0..25).for_each(|_| work.add(1.0, Duration::from_secs(4)));
        assert!((share(&[work]) - 0.75).abs() < 1e-12);
        assert_eq!(eta(&[work], 2, EVEN).unwrap().left, Duration::from_secs(50));
    }

    #[test]
    fn the_end_is_certain() {
        let plans = [work(100, 100, |task| task as f64)];
        assert_eq!(share(&plans), 1.0);
        let eta = eta(&plans, 2, EVEN).unwrap();
        assert_eq!(eta.left, Duration::ZERO);
        assert_eq!(eta.uncertainty, Some(Duration::ZERO));
    }

    #[test]
    fn the_interval_holds_the_truth_about_19_times_in_20() {
        let mut random = fastrand::Rng::with_seed(1);
        let held = (0..1000)
            .filter(|_| {
                let seconds: Vec<f64> = (0..60).map(|_| 1.0 + random.f64().powi(2)).collect();
                let plans = [work(60, 20, |task| seconds[task as usize])];
                let truth: f64 = seconds[20..].iter().sum();
                let eta = eta(&plans, 1, EVEN).unwrap();
                (truth - eta.left.as_secs_f64()).abs() <= eta.uncertainty.unwrap().as_secs_f64()
            })
            .count();
        assert!((930..=975).contains(&held), "{held} of 1000");
    }

    #[test]
    fn a_burst_does_not_look_fast_and_a_change_is_told_soon() {
        let (mut recent, start) = (RecentSpeed::new(), Instant::now());
        let mut note = |millis, nodes| {
            recent.note(start + Duration::from_millis(millis), 2, nodes, vec![None]);
            recent.nodes_per_second()
        };
        note(0, 0);
        // A hundred thousand nodes each 100 ms, told in two parts that are 1 ms apart.
        for step in 1..100 {
            note(step * 100 - 1, step * 100_000 - 50_000);
            let told = note(step * 100, step * 100_000);
            assert!((told / 1e6 - 1.0).abs() < 0.05, "{step}: {told}");
        }
        // A tenth as fast: half a minute later, nothing is left of the past.
        for step in 1..300 {
            let told = note(9_900 + step * 100, 9_900_000 + step * 10_000);
            assert!(
                step < 200 || (told / 1e5 - 1.0).abs() < 0.05,
                "{step}: {told}"
            );
        }
    }

    /// Counts for so many steps of 0.2 s at a speed that depends on the step.
    fn counting(steps: u32, speed: impl Fn(u32) -> f64) -> RecentSpeed {
        let (mut recent, start) = (RecentSpeed::new(), Instant::now());
        let mut cost = 0.0;
        for step in 0..steps {
            let now = start + step * Duration::from_millis(200);
            recent.note(now, 2, (5e5 * cost) as u64, vec![Some(cost), None]);
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
    fn a_pause_has_no_speed() {
        let mut recent = counting(100, |_| 1.0);
        let (before, nodes) = (recent.now.wall, recent.last.as_ref().unwrap().1);
        let told = recent.nodes_per_second();
        assert!((told / 1e6 - 1.0).abs() < 0.01, "{told}");
        let later = Instant::now() + Duration::from_secs(3600);
        recent.note(later, 0, nodes + 1000, vec![Some(500.0), None]);
        assert_eq!(recent.nodes_per_second(), 0.0);
        recent.note(later, 2, nodes + 1000, vec![Some(500.0), None]);
        assert_eq!(recent.now.wall, before);
        assert_eq!(recent.nodes_per_second(), told);
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
