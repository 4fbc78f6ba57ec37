//! Positions and sets of tasks: constant memory, or a bit per task.

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

/// A set of tasks of one plan, one bit each.
#[derive(Clone, Debug)]
pub(super) struct TaskSet {
    words: Vec<u64>,
    len: u64,
}

impl TaskSet {
    /// The empty set of tasks `0..tasks`.
    pub(super) fn new(tasks: u64) -> Self {
        Self {
            words: vec![0; tasks.div_ceil(64) as usize],
            len: 0,
        }
    }

    pub(super) fn contains(&self, task: u64) -> bool {
        self.words[(task / 64) as usize] >> (task % 64) & 1 != 0
    }

    /// Adds a task; `false` if it was there.
    pub(super) fn insert(&mut self, task: u64) -> bool {
        let new = !self.contains(task);
        self.words[(task / 64) as usize] |= 1 << (task % 64);
        self.len += u64::from(new);
        new
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scattered_order_holds_every_task_once() {
        for tasks in (1..200).chain([4096, 46_508, 46_511]) {
            let scatter = Scatter::new(tasks);
            let mut seen = TaskSet::new(tasks);
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

    #[test]
    fn a_task_is_new_to_a_set_once() {
        let mut set = TaskSet::new(65);
        assert!(set.insert(64));
        assert!(!set.insert(64));
        assert!(set.contains(64) && !set.contains(63));
        assert_eq!(set.len(), 1);
    }
}
