//! Which tasks of a run are counted.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::actors::{EventKind, Part};
use crate::engine::{Engine, TaskKey, TaskSet};

/// The most cells of a map.
const MOST_CELLS: u64 = 2048;

/// Which tasks of a run are counted, in cells of neighbouring tasks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskMap {
    /// All tasks of the run: those of one plan after those of another.
    pub tasks: u64,
    /// Tasks of each cell; the last one may have fewer.
    pub each: u64,
    /// For each cell, its tasks that were recorded before the run began.
    pub before: Vec<u64>,
    /// For each cell, its tasks that this run counted.
    pub counted: Vec<u64>,
    /// Cells with a task that a CPU worker counts now.
    pub counting: BTreeSet<u64>,
    /// Cells with a task of which two counts differed, or that is to be counted again because its worker counts wrongly.
    pub differed: BTreeSet<u64>,
}

/// Keeps the map of a run.
#[derive(Debug, Default)]
pub(crate) struct MapKeeper {
    /// Of each plan, the engine, the tasks of the plans before it, and which of its tasks belong to the run.
    parts: Vec<(Engine, u64, Part)>,
    map: TaskMap,
}

/// The tasks of a run that one plan has: its engine and number of tasks, which of these belong to the run, and which are
/// recorded.
pub(crate) type Mapped = (Engine, u64, Part, std::sync::Arc<TaskSet>);

impl MapKeeper {
    /// For a run that begins with these.
    pub(crate) fn new(plans: &[Mapped]) -> Self {
        let mut keeper = Self::default();
        for (engine, tasks, part, _) in plans {
            let first = keeper.map.tasks;
            keeper.parts.push((*engine, first, part.clone()));
            keeper.map.tasks += part.count(*tasks);
        }
        let map = &mut keeper.map;
        map.each = map.tasks.div_ceil(MOST_CELLS).max(1);
        let cells = map.tasks.div_ceil(map.each) as usize;
        map.before = vec![0; cells];
        map.counted = vec![0; cells];
        for (engine, _, _, recorded) in plans {
            for index in recorded.iter() {
                if let Some(cell) = keeper.cell(*engine, index) {
                    keeper.map.before[cell as usize] += 1;
                }
            }
        }
        keeper
    }

    /// Takes in the next event.
    pub(crate) fn note(&mut self, event: &EventKind) {
        match event {
            EventKind::TaskCounted(result) => self.count(result.key),
            EventKind::Corrected(count) => {
                let TaskKey { engine, index, .. } = count.wrong.key;
                self.map.differed.extend(self.cell(engine, index));
            }
            _ => {}
        }
    }

    /// A task is counted.
    pub(crate) fn count(&mut self, key: TaskKey) {
        if let Some(cell) = self.cell(key.engine, key.index) {
            self.map.counted[cell as usize] += 1;
        }
    }

    /// The map, where workers count these tasks.
    pub(crate) fn map(&self, counting: impl Iterator<Item = TaskKey>) -> TaskMap {
        TaskMap {
            counting: counting
                .filter_map(|key| self.cell(key.engine, key.index))
                .collect(),
            ..self.map.clone()
        }
    }

    fn cell(&self, engine: Engine, index: u64) -> Option<u64> {
        let (_, first, part) = self.parts.iter().find(|(of, ..)| *of == engine)?;
        let cell = (first + part.position(index)?) / self.map.each;
        (cell < self.map.counted.len() as u64).then_some(cell)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::board::Size;

    fn key(engine: Engine, index: u64) -> TaskKey {
        TaskKey {
            n: Size::new(20).unwrap(),
            engine,
            version: 1,
            index,
        }
    }

    fn set(tasks: impl IntoIterator<Item = u64>) -> Arc<TaskSet> {
        let mut set = TaskSet::default();
        for task in tasks {
            set.insert(task);
        }
        Arc::new(set)
    }

    #[test]
    fn each_task_of_the_run_has_its_place() {
        let shard = Part::Spaced {
            residues: 1..2,
            spacing: 2,
        };
        // The tasks 1, 3, 5, 7, 9 of one plan and 4 of another; task 2 belongs to another shard.
        let mut keeper = MapKeeper::new(&[
            (Engine::Colour, 10, shard, set([2, 3])),
            (Engine::Census, 10, Part::Listed([4].into()), set([])),
        ]);
        for index in [2, 9] {
            keeper.count(key(Engine::Colour, index));
        }
        keeper.count(key(Engine::Census, 4));
        keeper.count(key(Engine::Chain, 4));
        let counting = [(Engine::Colour, 1), (Engine::Census, 0)].map(|(of, at)| key(of, at));
        let map = keeper.map(counting.into_iter());
        assert_eq!((map.tasks, map.each), (6, 1));
        assert_eq!(map.before, [0, 1, 0, 0, 0, 0]);
        assert_eq!(map.counted, [0, 0, 0, 0, 1, 1]);
        assert_eq!(map.counting, BTreeSet::from([0]));
    }

    #[test]
    fn many_tasks_share_cells() {
        let keeper = MapKeeper::new(&[(Engine::Chain, 5000, Part::WHOLE, set(0..4))]);
        let map = keeper.map([key(Engine::Chain, 4999)].into_iter());
        assert_eq!((map.each, map.counted.len()), (3, 1667));
        assert_eq!(map.before[..3], [3, 1, 0]);
        assert_eq!(map.counting, BTreeSet::from([1666]));
        let none = MapKeeper::new(&[]).map(std::iter::empty());
        assert_eq!((none.tasks, none.counted.len()), (0, 0));
    }
}
