//! The order in which tasks are handed out, and what some of them cost.

use crate::engine::Plan;

/// An order of all tasks of a plan that scatters them evenly: any stretch of it is a fair sample
/// of the plan, so that what has been counted foretells what is left.
///
/// Position `p` holds task `p · stride mod tasks`, with a stride coprime to the number of tasks
/// near their golden section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scatter {
    tasks: u64,
    stride: u64,
}

impl Scatter {
    pub(super) fn new(tasks: u64) -> Self {
        let golden = (tasks as f64 * 0.618_033_988_749_895) as u64;
        let stride = (golden.max(1)..)
            .find(|&stride| gcd(stride, tasks) == 1)
            .unwrap_or(1);
        Self { tasks, stride }
    }

    /// The task at `position`; `None` past the last.
    pub(super) fn task(&self, position: u64) -> Option<u64> {
        (position < self.tasks).then(|| {
            let product = u128::from(position) * u128::from(self.stride);
            (product % u128::from(self.tasks)) as u64
        })
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Up to so many tasks, their cost is the sum of all.
const SUMMED: u64 = 1 << 20;

/// The number of the tasks of `plan` that are `chosen`, and their cost. Of many tasks, which must be
/// from all over the plan, as those of a shard are, the cost is their share of the whole.
pub(super) fn count_and_cost(plan: &dyn Plan, chosen: impl Fn(u64) -> bool) -> (u64, f64) {
    let tasks = || (0..plan.tasks()).filter(|&task| chosen(task));
    let count = tasks().count() as u64;
    let cost = if count > SUMMED {
        plan.total_cost() * (count as f64 / plan.tasks() as f64)
    } else {
        tasks().map(|task| plan.task(task).cost).sum()
    };
    (count, cost)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::TaskSet;

    #[test]
    fn the_scattered_order_holds_every_task_once() {
        for tasks in (1..200).chain([4096, 46_508, 46_511]) {
            let scatter = Scatter::new(tasks);
            let mut seen = TaskSet::default();
            assert!((0..tasks).all(|p| seen.insert(scatter.task(p).unwrap())));
            assert_eq!(seen.len(), tasks);
            assert_eq!(scatter.task(tasks), None);
        }
    }

    #[test]
    fn any_stretch_of_the_scattered_order_is_spread_over_the_plan() {
        let tasks = 10_000_019;
        let scatter = Scatter::new(tasks);
        for start in [0, 12_345, 9_000_000] {
            let mut part: Vec<_> = (start..start + 1000)
                .map(|p| scatter.task(p).unwrap())
                .collect();
            part.sort_unstable();
            let widest = part.windows(2).map(|pair| pair[1] - pair[0]).max();
            assert!(widest.unwrap() < 4 * tasks / 1000);
        }
    }
}
