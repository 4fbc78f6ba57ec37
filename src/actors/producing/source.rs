//! Where the tasks of a run come from.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::{Plan, Tally, TaskSet, WorkerId};

/// Decides which tasks of a plan a run counts.
pub trait Source: Send + Sync {
    /// What a run starts with. Called once for each plan, before the actors start, so it may take
    /// long: seconds, not minutes, because a run that is stopped meanwhile ends when it returns.
    fn open(&self, plan: &dyn Plan) -> Supply;

    /// The worker that must not count a task of `plan` if there is another CPU worker, because it counted
    /// the task before. Only CPU workers are kept from tasks. Called on the thread of the actors, for each
    /// task; the default is none.
    fn avoided(&self, _plan: &dyn Plan, _task: u64) -> Option<WorkerId> {
        None
    }
}

/// The tasks of one plan that a run counts, and what was counted of the plan before.
pub struct Supply {
    /// Gives the tasks: their indexes in the plan. The producer walks it on the thread of the actors, so a step must
    /// take microseconds. It gives each task of the plan at most once, and none that was counted before.
    pub walk: Box<dyn Iterator<Item = u64> + Send>,
    /// How much the walk gives; the run ends when the walk does.
    pub size: SupplySize,
    /// What was counted before this run.
    pub restored: Restored,
    /// The tasks of the plan that belong to the run, restored ones included.
    pub part: Part,
}

/// Tasks of a plan, each with a position among them.
#[derive(Clone, Debug)]
pub enum Part {
    /// Those whose index is one of `residues` modulo `spacing`.
    Spaced {
        /// At least one, below `spacing`.
        residues: Range<u64>,
        /// At least 1.
        spacing: u64,
    },
    /// These, ascending, and all of them tasks of the plan.
    Listed(Arc<[u64]>),
}

impl Part {
    /// The whole plan.
    pub const WHOLE: Self = Self::Spaced {
        residues: 0..1,
        spacing: 1,
    };

    /// How many tasks of a plan of so many these are.
    pub(crate) fn count(&self, tasks: u64) -> u64 {
        match self {
            Self::Spaced { residues, spacing } => {
                let width = residues.end - residues.start;
                let beyond = (tasks % spacing).saturating_sub(residues.start);
                tasks / spacing * width + beyond.min(width)
            }
            Self::Listed(tasks) => tasks.len() as u64,
        }
    }

    /// The task at this position.
    fn at(&self, position: u64) -> u64 {
        match self {
            Self::Spaced { residues, spacing } => {
                let width = residues.end - residues.start;
                position / width * spacing + residues.start + position % width
            }
            Self::Listed(tasks) => tasks[position as usize],
        }
    }

    /// Where a task is among them; `None` if it is not.
    pub(crate) fn position(&self, task: u64) -> Option<u64> {
        match self {
            Self::Spaced { residues, spacing } => {
                let (round, residue) = (task / spacing, task % spacing);
                let width = residues.end - residues.start;
                let is_among = residues.contains(&residue);
                is_among.then(|| round * width + residue - residues.start)
            }
            Self::Listed(tasks) => Some(tasks.binary_search(&task).ok()? as u64),
        }
    }
}

/// How much the walk of a [`Supply`] gives.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SupplySize {
    /// Tasks.
    pub tasks: u64,
    /// Their cost, in core-seconds by the plan's estimate.
    pub cost: f64,
}

/// Tasks that were counted before a run began.
#[derive(Clone, Debug, Default)]
pub struct Restored {
    /// Which.
    pub tasks: Arc<TaskSet>,
    /// Their sum.
    pub sum: Tally,
    /// Their cost, in core-seconds by the plan's estimate.
    pub cost: f64,
    /// How long CPU workers took for them; zero if that is not known, or if devices counted some of them.
    pub on_cpu: Duration,
}

/// The source of a run that keeps nothing: all tasks of every plan.
pub struct WholePlans;

impl Source for WholePlans {
    fn open(&self, plan: &dyn Plan) -> Supply {
        Supply::of(plan, Part::WHOLE, Restored::default())
    }
}

/// Plans that take a core at most so many seconds, by their own estimate, are walked in order: tasks next
/// to each other share work, and such a run is over before anybody could ask how long it will take.
const SHORT: f64 = 1.0;

impl Supply {
    /// The tasks of this part of `plan` that are not restored, in a scattered order unless the plan is short: if a list
    /// is ascending, any stretch of it is a fair sample of all.
    pub fn of(plan: &dyn Plan, part: Part, restored: Restored) -> Self {
        let count = part.count(plan.tasks());
        let mut order = Scatter::new(count, plan.neighbours());
        if plan.total_cost() <= SHORT {
            (order.group, order.stride) = (1, 1);
        }
        // A restored set may come from elsewhere and name tasks that the plan lacks.
        let among = |task: &u64| *task < plan.tasks() && part.position(*task).is_some();
        let before = || restored.tasks.iter().filter(among);
        let tasks_before = before().count() as u64;
        let is_whole = count == plan.tasks();
        let cost_before = match is_whole && tasks_before == restored.tasks.len() {
            true => restored.cost,
            false => cost_of(plan, before(), tasks_before),
        };
        let cost = match is_whole {
            true => plan.total_cost(),
            false => cost_of(plan, (0..count).map(|at| part.at(at)), count),
        };
        let (counted, of) = (Arc::clone(&restored.tasks), part.clone());
        let walk = order.map(move |at| of.at(at));
        Self {
            walk: Box::new(walk.filter(move |task| !counted.contains(*task))),
            size: SupplySize {
                tasks: count - tasks_before,
                // Both are sums of many costs, in different orders.
                cost: (cost - cost_before).max(0.0),
            },
            restored,
            part,
        }
    }
}

/// The cost of up to so many tasks is the sum of their costs. For more it is their share of the
/// plan, because a plan may take microseconds for the cost of a task.
const SUMMED: u64 = 1 << 16;

/// The cost of `tasks`, of which there are `count`. If there are many they must come from all over
/// the plan, as those of a shard do.
pub fn cost_of(plan: &dyn Plan, tasks: impl Iterator<Item = u64>, count: u64) -> f64 {
    if count > SUMMED {
        plan.total_cost() * (count as f64 / plan.tasks() as f64)
    } else {
        tasks.map(|task| plan.task(task).cost).sum()
    }
}

/// An order of the numbers below `count` that scatters groups of neighbours evenly: any stretch of it is a fair
/// sample of all, so what has been counted tells how long the rest will take.
///
/// Of so many groups, position `p` holds the one with the number `p · stride mod groups`. The stride is coprime to that
/// number and near its golden section, which spreads the first ones most evenly, however many they are (Knuth,
/// The Art of Computer Programming, volume 3, section 6.4, theorem S).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter {
    count: u64,
    /// How many neighbours stay together.
    group: u64,
    stride: u64,
    /// The next position.
    position: u64,
}

/// So many groups there are at least if there are as many numbers.
const LEAST_GROUPS: u64 = 100;

impl Scatter {
    /// Groups have up to so many `neighbours`.
    pub(crate) fn new(count: u64, neighbours: u64) -> Self {
        let group = (count / LEAST_GROUPS).min(neighbours).max(1);
        let groups = count / group;
        let golden = (groups as f64 * 0.618_033_988_749_895) as u64;
        let stride = (golden.max(1)..)
            .find(|&stride| gcd(stride, groups) == 1)
            .unwrap_or(1);
        Self {
            count,
            group,
            stride,
            position: 0,
        }
    }

    /// The number at `position`; `None` past the last.
    fn at(&self, position: u64) -> Option<u64> {
        if position >= self.count {
            return None;
        }
        let groups = self.count / self.group;
        let (at, within) = (position / self.group, position % self.group);
        // What is left over comes last.
        if at == groups {
            return Some(position);
        }
        let product = u128::from(at) * u128::from(self.stride);
        Some((product % u128::from(groups)) as u64 * self.group + within)
    }
}

impl Iterator for Scatter {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let number = self.at(self.position)?;
        self.position += 1;
        Some(number)
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::chain::ChainPlan;

    #[test]
    fn the_scattered_order_holds_every_number_once() {
        for count in (1..200).chain([1012, 4096, 46_508, 46_511]) {
            for neighbours in [1, 8] {
                let scatter = Scatter::new(count, neighbours);
                let mut seen = TaskSet::default();
                assert!((0..count).all(|p| seen.insert(scatter.at(p).unwrap())));
                assert_eq!(seen.len(), count);
                assert_eq!(scatter.at(count), None);
            }
        }
        assert_eq!(Scatter::new(0, 1).at(0), None);
    }

    #[test]
    fn neighbours_stay_together_where_there_are_many() {
        let first = |count| {
            let scatter = Scatter::new(count, 8);
            let first = (0..16).map(|p| scatter.at(p).unwrap());
            let steps = first
                .clone()
                .zip(first.skip(1))
                .map(|(a, b)| b.wrapping_sub(a));
            steps.filter(|step| *step == 1).count()
        };
        assert_eq!((first(10_000), first(400), first(150)), (14, 12, 0));
    }

    #[test]
    fn any_stretch_of_the_scattered_order_is_spread_over_all() {
        let count = 10_000_019;
        let scatter = Scatter::new(count, 1);
        for start in [0, 12_345, 9_000_000] {
            let mut part: Vec<_> = (start..start + 1000)
                .map(|p| scatter.at(p).unwrap())
                .collect();
            part.sort_unstable();
            let widest = part.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(widest.unwrap() < 4 * count / 1000);
        }
    }

    fn spaced((residues, spacing): (Range<u64>, u64)) -> Part {
        Part::Spaced { residues, spacing }
    }

    /// What a walk gives to its end.
    fn all(supply: Supply) -> Vec<u64> {
        let mut tasks: Vec<_> = supply.walk.collect();
        tasks.sort_unstable();
        tasks
    }

    #[test]
    fn the_parts_of_a_plan_are_what_is_not_restored_of_it() {
        let plan = ChainPlan::new(Size::new(15).unwrap());
        let restored = |tasks: &[u64]| {
            let mut set = TaskSet::default();
            for &task in tasks {
                set.insert(task);
            }
            Restored {
                cost: cost_of(&plan, set.iter(), set.len()),
                tasks: Arc::new(set),
                ..Restored::default()
            }
        };
        for (spacing, counted) in [
            (1, vec![]),
            (1, vec![0, 7, 30]),
            (3, vec![]),
            (3, vec![1, 2, 5, 7]),
        ] {
            for residues in (0..spacing).flat_map(|first| [first..first + 1, first..spacing]) {
                let restored = restored(&counted);
                let of = (residues.clone(), spacing);
                let supply = Supply::of(&plan, spaced(of), restored);
                let mine = (0..plan.tasks()).filter(|task| residues.contains(&(task % spacing)));
                let expected: Vec<u64> = mine.filter(|task| !counted.contains(task)).collect();
                let size = supply.size;
                assert_eq!(size.tasks, expected.len() as u64);
                let cost: f64 = expected.iter().map(|&task| plan.task(task).cost).sum();
                assert!((size.cost - cost).abs() < 1e-9 * plan.total_cost());
                assert_eq!(all(supply), expected);
            }
        }
    }

    #[test]
    fn chosen_tasks_are_given_once_unless_they_are_restored() {
        let plan = ChainPlan::new(Size::new(15).unwrap());
        let mut counted = TaskSet::default();
        counted.insert(7);
        let restored = Restored {
            tasks: Arc::new(counted),
            ..Restored::default()
        };
        let part = Part::Listed([1, 4, 7, 30].into());
        let supply = Supply::of(&plan, part, restored);
        let size = supply.size;
        let cost: f64 = [1, 4, 30].iter().map(|&task| plan.task(task).cost).sum();
        assert_eq!(size.tasks, 3);
        assert!((size.cost - cost).abs() < 1e-9 * plan.total_cost());
        assert_eq!(all(supply), [1, 4, 30]);
    }

    #[test]
    fn the_tasks_of_a_part_have_positions_without_gaps() {
        let parts = [
            Part::WHOLE,
            Part::Spaced {
                residues: 2..3,
                spacing: 3,
            },
            Part::Spaced {
                residues: 1..4,
                spacing: 7,
            },
            Part::Listed([1, 4, 9].into()),
        ];
        for part in parts {
            let positions = (0..10).filter_map(|task| part.position(task));
            assert!(positions.eq(0..part.count(10)), "{part:?}");
        }
    }

    #[test]
    fn tasks_that_the_plan_lacks_or_the_part_omits_are_not_counted_as_restored() {
        let plan = ChainPlan::new(Size::new(15).unwrap());
        let mut set = TaskSet::default();
        for task in [1, 7, plan.tasks(), plan.tasks() + 5] {
            set.insert(task);
        }
        for (residues, spacing, before) in [(0..1, 1, 2), (1..2, 3, 2), (1..3, 3, 2), (0..3, 4, 1)]
        {
            let all_of = (0..plan.tasks()).filter(|task| residues.contains(&(task % spacing)));
            let left = all_of.count() as u64 - before;
            let restored = Restored {
                tasks: Arc::new(set.clone()),
                ..Restored::default()
            };
            let supply = Supply::of(&plan, spaced((residues, spacing)), restored);
            assert_eq!(supply.size.tasks, left);
            assert_eq!(all(supply).len() as u64, left);
        }
    }
}
