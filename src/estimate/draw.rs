use super::random::Random;
use crate::engine::Plan;

/// How many tasks are listed at most. Their mean cost tells that of a longer plan within about
/// 1 %, which the interval allows for.
const LISTED: u64 = 1 << 15;

/// How many tasks are drawn from each stratum: few, so that there are many strata of like tasks,
/// and enough to see how unlike they are.
const PER_STRATUM: usize = 4;

/// Which tasks of a plan are to be counted, and what is known of the others.
///
/// The strata are stretches of the list sorted by cost, each about the same part of the whole
/// cost, so that tasks are drawn the more densely the more work they are. Tasks of equal cost
/// stand in the order of the plan, where neighbours are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Draw {
    pub(super) strata: Vec<Stratum>,
    /// Tasks of the plan for each one listed.
    pub(super) scale: f64,
    /// Variance of the total cost of the plan as the list tells it.
    pub(super) cost_variance: f64,
    /// In random order: a machine that grows slower while they are counted then looks like tasks
    /// that differ, not like costly tasks.
    drawn: Vec<Drawn>,
}

/// A task of the sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    /// Its place in the plan.
    pub index: u64,
    /// Its estimated cost.
    pub cost: f64,
    /// The number of its stratum.
    pub(super) stratum: usize,
}

/// Tasks of like cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stratum {
    /// Tasks listed, those drawn among them.
    pub(super) tasks: usize,
    /// The sum of their costs.
    pub(super) cost: f64,
}

impl Draw {
    /// Draws `sample` tasks of `plan`, or all where there are fewer. The same ones for the same
    /// `seed`.
    pub fn new(plan: &dyn Plan, sample: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let tasks = plan.tasks();
        let listed = tasks.min(LISTED);
        let mut list: Vec<(f64, u64)> = (0..listed)
            .map(|place| {
                // One of each of as many stretches of the plan.
                let edge =
                    |place| (u128::from(place) * u128::from(tasks) / u128::from(listed)) as u64;
                let (start, end) = (edge(place), edge(place + 1));
                let index = start + random.below(end - start);
                (plan.task(index).cost, index)
            })
            .collect();
        let scale = tasks as f64 / listed as f64;
        let mean = list.iter().map(|(cost, _)| cost).sum::<f64>() / listed as f64;
        let squares: f64 = list.iter().map(|(cost, _)| (cost - mean).powi(2)).sum();
        let spread = squares / (listed.max(2) - 1) as f64;
        let cost_variance = spread * tasks as f64 * (scale - 1.0);
        // Tasks of no cost hold no partition: counting them takes no time.
        list.retain(|(cost, _)| *cost > 0.0);
        list.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (strata, mut drawn) = stratify(&mut list, sample, &mut random);
        let count = drawn.len();
        random.choose(&mut drawn, count);
        Self {
            strata,
            scale,
            cost_variance,
            drawn,
        }
    }

    /// The tasks drawn, in the order they should be counted.
    pub fn tasks(&self) -> &[Drawn] {
        &self.drawn
    }
}

/// Cuts the sorted list into strata, from the costliest tasks down, and draws from each.
fn stratify(
    mut list: &mut [(f64, u64)],
    sample: usize,
    random: &mut Random,
) -> (Vec<Stratum>, Vec<Drawn>) {
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
        // What is left must give the other strata their tasks.
        let most = list.len() - (left - count);
        let tasks = match enough {
            Some(last) if more > 1 => (last + 1).clamp(count, most),
            _ => list.len(),
        };
        let (rest, stratum) = list.split_at_mut(list.len() - tasks);
        random.choose(stratum, count);
        drawn.extend(stratum[..count].iter().map(|&(cost, index)| Drawn {
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
