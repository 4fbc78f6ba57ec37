//! Which tasks an estimate counts: a stratified random sample.

use fastrand::Rng;

use crate::engine::Plan;

/// The largest number of tasks listed. Their mean cost is within about 1 % of that of a longer
/// plan; the interval allows for that.
const LISTED: u64 = 1 << 15;

/// The number of tasks drawn from each stratum: few, so that there are many strata of similar
/// tasks, but enough to estimate the variance within a stratum.
const PER_STRATUM: usize = 4;

/// A sample of the tasks of a plan, and what it stands for.
///
/// Strata are intervals of the list sorted by cost. Each has about the same part of the total cost,
/// so that costly tasks are drawn more often than cheap ones. Tasks of equal cost are in the order
/// of the plan, where neighbours are similar.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    pub(super) strata: Vec<Stratum>,
    /// How many tasks of the plan each listed task stands for.
    pub(super) scale: f64,
    /// The variance of the plan's total cost as computed from the list.
    pub(super) cost_variance: f64,
    /// In random order, so that a machine that becomes slower in the meantime makes the times of
    /// all strata vary, instead of making the costly tasks look costlier.
    drawn: Vec<DrawnTask>,
}

/// A task of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DrawnTask {
    /// Its index in the plan.
    pub index: u64,
    /// Its cost according to the plan, in core-seconds.
    pub cost: f64,
    /// The number of its stratum.
    pub(super) stratum: usize,
}

/// Tasks of similar cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stratum {
    /// The number of listed tasks, including those drawn.
    pub(super) tasks: usize,
    /// The sum of their costs.
    pub(super) cost: f64,
}

impl Draw {
    /// Draws `sample` tasks of `plan`, or all if there are fewer. The same `seed` draws the same
    /// tasks.
    pub fn new(plan: &dyn Plan, sample: usize, seed: u64) -> Self {
        let mut random = Rng::with_seed(seed);
        let tasks = plan.tasks();
        let listed = tasks.min(LISTED);
        let mut list: Vec<(f64, u64)> = (0..listed)
            .map(|place| {
                // One task of each of as many equal parts of the plan.
                let edge =
                    |place| (u128::from(place) * u128::from(tasks) / u128::from(listed)) as u64;
                let (start, end) = (edge(place), edge(place + 1));
                let index = random.u64(start..end);
                (plan.task(index).cost, index)
            })
            .collect();
        let scale = tasks as f64 / listed as f64;
        let mean = list.iter().map(|(cost, _)| cost).sum::<f64>() / listed as f64;
        let squares: f64 = list.iter().map(|(cost, _)| (cost - mean).powi(2)).sum();
        let spread = squares / (listed.max(2) - 1) as f64;
        let cost_variance = spread * tasks as f64 * (scale - 1.0);
        // Tasks of cost 0 have no partition, so that counting them takes no time.
        list.retain(|(cost, _)| *cost > 0.0);
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (strata, mut drawn) = stratify(&mut list, sample, &mut random);
        random.shuffle(&mut drawn);
        Self {
            strata,
            scale,
            cost_variance,
            drawn,
        }
    }

    /// The tasks drawn, in the order in which they should be counted.
    pub fn tasks(&self) -> &[DrawnTask] {
        &self.drawn
    }
}

/// Divides the sorted list into strata, the costliest tasks first, and draws from each.
fn stratify(
    mut list: &mut [(f64, u64)],
    sample: usize,
    random: &mut Rng,
) -> (Vec<Stratum>, Vec<DrawnTask>) {
    let mut left = sample.min(list.len());
    let (mut strata, mut drawn) = (Vec::new(), Vec::new());
    while left > 0 {
        let more = (left / PER_STRATUM).max(1);
        let count = left / more;
        let fair = list.iter().map(|(cost, _)| cost).sum::<f64>() / more as f64;
        let mut cost = 0.0;
        let enough = list.iter().rev().position(|(of, _)| {
            cost += of;
            cost >= fair
        });
        // The rest must be long enough for the other strata.
        let most = list.len() - (left - count);
        let tasks = match enough {
            Some(last) if more > 1 => (last + 1).clamp(count, most),
            _ => list.len(),
        };
        let (rest, stratum) = list.split_at_mut(list.len() - tasks);
        random.shuffle(stratum);
        drawn.extend(stratum[..count].iter().map(|&(cost, index)| DrawnTask {
            index,
            cost,
            stratum: strata.len(),
        }));
        strata.push(Stratum {
            tasks,
            cost: stratum.iter().map(|(cost, _)| cost).sum(),
        });
        list = rest;
        left -= count;
    }
    (strata, drawn)
}
