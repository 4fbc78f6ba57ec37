//! Which tasks of a run are recorded, and which are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::{Division, IndexList, PlanInfo, Shard};
use crate::board::Size;
use crate::engine::{Engine, PlanName, TaskKey, TaskSet};
use crate::telemetry::grouped;

/// Which tasks of the plans of a board are there.
#[derive(Clone, Debug)]
pub struct Coverage {
    n: Size,
    plans: BTreeMap<Engine, Covered>,
}

#[derive(Clone, Debug)]
struct Covered {
    name: PlanName,
    /// The number of tasks of the plan.
    tasks: u64,
    there: TaskSet,
}

impl Coverage {
    /// No task of these plans of the board `n`.
    pub fn none_of(n: Size, plans: &[PlanInfo]) -> Self {
        let none = |plan: &PlanInfo| Covered {
            name: plan.name,
            tasks: plan.tasks,
            there: TaskSet::default(),
        };
        Self {
            n,
            plans: plans.iter().map(|plan| (plan.engine, none(plan))).collect(),
        }
    }

    /// Whether the plans have such a task.
    pub fn is_task(&self, task: TaskKey) -> bool {
        self.plan_of(task)
            .is_some_and(|plan| task.index < plan.tasks)
    }

    /// Adds a task that the plans have; `false` if it was there already.
    pub fn add(&mut self, task: TaskKey) -> bool {
        let is_task = self.is_task(task);
        let plan = self.plans.get_mut(&task.engine).filter(|_| is_task);
        plan.is_some_and(|plan| plan.there.insert(task.index))
    }

    /// Whether the task is there.
    pub fn holds(&self, task: TaskKey) -> bool {
        self.plan_of(task)
            .is_some_and(|plan| plan.there.contains(task.index))
    }

    /// The plan of this board and version that a task belongs to, if there is one.
    fn plan_of(&self, task: TaskKey) -> Option<&Covered> {
        let plan = self.plans.get(&task.engine)?;
        (task.n == self.n && task.version == plan.name.version).then_some(plan)
    }

    /// The tasks of one plan that are there.
    pub fn of(&self, engine: Engine) -> TaskSet {
        let plan = self.plans.get(&engine);
        plan.map(|plan| plan.there.clone()).unwrap_or_default()
    }

    /// Tasks there, of all plans.
    pub fn done(&self) -> u64 {
        self.plans.values().map(|plan| plan.there.len()).sum()
    }

    /// Tasks of all plans.
    pub fn tasks(&self) -> u64 {
        self.plans.values().map(|plan| plan.tasks).sum()
    }

    /// Whether every task of every plan is there.
    pub fn is_whole(&self) -> bool {
        self.plans
            .values()
            .all(|plan| plan.there.len() == plan.tasks)
    }

    /// Whether every task of `shard` is there.
    pub fn is_whole_for(&self, shard: Shard, division: &Division) -> bool {
        self.is_whole() || self.absent().all(|task| !division.holds(shard, task))
    }

    /// What is missing of a run that is divided in this way. Shards without any task are listed by
    /// their numbers.
    pub fn missing(&self, division: &Division) -> Missing {
        let shard_of = |task: TaskKey| division.index_of(task) as usize;
        let shards = division.shard();
        let mut absent = vec![shards.count() > 1; shards.count() as usize];
        for task in self.iter() {
            absent[shard_of(task)] = false;
        }
        let mut of_shards = BTreeMap::<usize, u64>::new();
        let mut ranges: Vec<TaskRange> = Vec::new();
        for task in self.absent() {
            let shard = shard_of(task);
            if absent[shard] {
                *of_shards.entry(shard).or_default() += 1;
            } else if let Some(last) = ranges.last_mut()
                && (last.engine, last.last + 1) == (task.engine, task.index)
            {
                last.last = task.index;
            } else {
                let (engine, index) = (task.engine, task.index);
                ranges.push(TaskRange {
                    engine,
                    first: index,
                    last: index,
                });
            }
        }
        let is_absent = |shard: &Shard| of_shards.contains_key(&(shard.index() as usize));
        Missing {
            shards: shards.all().filter(is_absent).collect(),
            of_shards: of_shards.values().sum(),
            ranges,
        }
    }

    /// The positions of the shards that lack a task.
    pub fn shards_lacking(&self, division: &Division) -> BTreeSet<u64> {
        self.absent().map(|task| division.index_of(task)).collect()
    }

    /// The tasks that are there, in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = TaskKey> {
        self.plans.values().flat_map(|plan| {
            let there = plan.there.iter();
            there.map(|index| plan.key(self.n, index))
        })
    }

    /// The tasks that are not there, in canonical order.
    fn absent(&self) -> impl Iterator<Item = TaskKey> {
        self.plans.values().flat_map(|plan| {
            (0..plan.tasks)
                .filter(|index| !plan.there.contains(*index))
                .map(|index| plan.key(self.n, index))
        })
    }
}

impl Covered {
    fn key(&self, n: Size, index: u64) -> TaskKey {
        TaskKey {
            n,
            engine: self.name.engine,
            version: self.name.version,
            index,
        }
    }
}

/// Tasks of one engine: `first`, `first + 1`, … `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRange {
    /// The engine.
    pub engine: Engine,
    /// The first task.
    pub first: u64,
    /// The last task.
    pub last: u64,
}

impl TaskRange {
    /// How many tasks it holds.
    pub const fn tasks(&self) -> u64 {
        self.last - self.first + 1
    }
}

impl fmt::Display for TaskRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (engine, first, last) = (self.engine, self.first, self.last);
        match self.tasks() {
            1 => write!(f, "{engine} {first} (1 task)"),
            tasks => write!(f, "{engine} {first}..={last} ({tasks} tasks)"),
        }
    }
}

/// The tasks that a run lacks. Shown with one range a line; long lists are cut short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Shards of which no task is there.
    pub shards: Vec<Shard>,
    /// How many tasks these have.
    pub of_shards: u64,
    /// All other missing tasks.
    pub ranges: Vec<TaskRange>,
}

impl Missing {
    /// Lines shown; a last line says how many more there are.
    const LINES: usize = 20;

    /// Whether nothing is missing.
    pub fn is_empty(&self) -> bool {
        self.shards.is_empty() && self.ranges.is_empty()
    }

    /// How many tasks are missing.
    pub fn tasks(&self) -> u64 {
        let ranges = self.ranges.iter().map(TaskRange::tasks);
        self.of_shards + ranges.sum::<u64>()
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = shards_line(&self.shards)
            .into_iter()
            .chain(self.ranges.iter().map(TaskRange::to_string))
            .collect();
        let (shown, rest) = lines.split_at(lines.len().min(Self::LINES));
        write!(f, "{}", shown.join("\n"))?;
        if !rest.is_empty() {
            write!(f, "\nand {} ranges more", rest.len())?;
        }
        Ok(())
    }
}

/// `1 of 6,400 shards; missing 0-16,18-6399`; nothing if none is missing. Long lists are cut short.
fn shards_line(missing: &[Shard]) -> Option<String> {
    let all = missing.first()?.count();
    let list: IndexList = missing.iter().map(|shard| shard.index()).collect();
    let (there, list) = (grouped(all - list.len()), list.to_string());
    let runs: Vec<_> = list.split(',').collect();
    let (shown, rest) = runs.split_at(runs.len().min(Missing::LINES));
    let more = match rest.len() {
        0 => String::new(),
        more => format!(" and {more} ranges more"),
    };
    let (all, shown) = (grouped(all), shown.join(","));
    Some(format!("{there} of {all} shards; missing {shown}{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coverage(chain: u64, census: u64) -> Coverage {
        let plan = |engine, tasks| PlanInfo {
            engine,
            name: PlanName { engine, version: 1 },
            tasks,
            hash: String::new(),
            canary: None,
        };
        Coverage::none_of(
            n(),
            &[plan(Engine::Chain, chain), plan(Engine::Census, census)],
        )
    }

    fn n() -> Size {
        Size::new(20).unwrap()
    }

    fn key(engine: Engine, index: u64) -> TaskKey {
        TaskKey {
            n: n(),
            engine,
            version: 1,
            index,
        }
    }

    fn chain(index: u64) -> TaskKey {
        key(Engine::Chain, index)
    }

    #[test]
    fn a_task_is_there_once_it_is_added() {
        let mut set = coverage(130, 1);
        assert!(set.add(chain(129)) && !set.add(chain(129)));
        assert!(set.holds(chain(129)) && !set.holds(chain(128)) && !set.holds(chain(900)));
        assert!(set.is_task(chain(129)) && !set.is_task(chain(130)));
        assert_eq!((set.done(), set.tasks()), (1, 131));
    }

    #[test]
    fn what_is_missing_is_listed_as_ranges() {
        let mut set = coverage(20, 2);
        for index in (3..9).chain([12, 14, 15, 16, 17, 18]) {
            set.add(chain(index));
        }
        let lines = set.missing(&Division::none()).to_string();
        assert_eq!(
            lines,
            "chain 0..=2 (3 tasks)\nchain 9..=11 (3 tasks)\n\
             chain 13 (1 task)\nchain 19 (1 task)\ncensus 0..=1 (2 tasks)"
        );
        assert_eq!(set.missing(&Division::none()).tasks(), 10);
    }

    #[test]
    fn a_missing_shard_is_named() {
        let mut set = coverage(20, 1);
        let [first, second, _] = [0, 1, 2].map(|i| Shard::new(i, 3).unwrap());
        let division = Division::new(second, &[]);
        for index in 0..20 {
            if division.holds(first, chain(index)) && index != 6 {
                set.add(chain(index));
            }
        }
        set.add(key(Engine::Census, 0));
        assert_eq!(
            set.missing(&division).to_string(),
            "1 of 3 shards; missing 1-2\nchain 6 (1 task)"
        );
        assert_eq!(set.missing(&division).tasks(), 14);
        assert!(!set.is_whole_for(first, &division));
        set.add(chain(6));
        assert!(
            set.is_whole_for(first, &division)
                && !set.is_whole_for(second, &division)
                && !set.is_whole()
        );
    }

    #[test]
    fn one_line_tells_which_of_thousands_of_shards_are_missing() {
        let line = |missing: &[u64]| {
            let shard = |index: &u64| Shard::new(*index, 6400).unwrap();
            shards_line(&missing.iter().map(shard).collect::<Vec<_>>())
        };
        let all_but_one: Vec<u64> = (0..6400).filter(|shard| *shard != 17).collect();
        assert_eq!(
            line(&all_but_one).unwrap(),
            "1 of 6,400 shards; missing 0-16,18-6399"
        );
        assert_eq!(line(&[3]).unwrap(), "6,399 of 6,400 shards; missing 3");
        let even: Vec<u64> = (0..3200).map(|half| 2 * half).collect();
        assert!(line(&even).unwrap().ends_with("36,38 and 3180 ranges more"));
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn long_lists_are_cut_short_and_nothing_missing_is_empty() {
        let mut set = coverage(1000, 1);
        let mut step = 1;
        let mut index = 0;
        while index < 1000 {
            set.add(chain(index));
            step += 1;
            index += step;
        }
        let text = set.missing(&Division::none()).to_string();
        assert_eq!(text.lines().count(), Missing::LINES + 1);
        assert!(text.ends_with("ranges more"), "{text}");
        let mut set = coverage(1, 1);
        set.add(chain(0));
        set.add(key(Engine::Census, 0));
        assert!(set.is_whole() && set.missing(&Division::none()).is_empty());
    }
}
