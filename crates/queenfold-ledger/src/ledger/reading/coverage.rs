//! Which tasks of a run are recorded, and which are missing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Range;

use crate::ledger::{Division, IndexList, PlanInfo, Shard};
use queenfold::board::Size;
use queenfold::engine::{Engine, PlanName, TaskKey, TaskSet};
use queenfold::words::grouped;

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

    /// Adds the tasks of another one.
    pub fn extend(&mut self, other: &Self) {
        for task in other.iter() {
            self.add(task);
        }
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

    /// What is missing of a run that is divided in this way. Parts without any task are listed by
    /// their numbers.
    pub fn missing(&self, division: &Division) -> Missing {
        let part_of = |task: TaskKey| division.part_of(task) as usize;
        let all = division.shard().count();
        let mut absent = vec![all > 1; all as usize];
        for task in self.iter() {
            absent[part_of(task)] = false;
        }
        let mut parts = BTreeSet::new();
        let mut missing = Missing::default();
        for task in self.absent() {
            missing.tasks += 1;
            let part = part_of(task);
            match missing.ranges.last_mut() {
                _ if absent[part] => _ = parts.insert(part as u64),
                Some((engine, range)) if (*engine, range.end) == (task.engine, task.index) => {
                    range.end += 1;
                }
                _ => missing
                    .ranges
                    .push((task.engine, task.index..task.index + 1)),
            }
        }
        missing.parts = parts.into_iter().collect();
        missing.of = all;
        missing
    }

    /// The parts that lack a task.
    pub fn parts_lacking(&self, division: &Division) -> BTreeSet<u64> {
        self.absent().map(|task| division.part_of(task)).collect()
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

/// The tasks that a run lacks. Shown with one range a line; long lists are cut short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Parts of which no task is there.
    pub parts: IndexList,
    /// How many parts the run has.
    of: u64,
    /// All other missing tasks.
    ranges: Vec<(Engine, Range<u64>)>,
    tasks: u64,
}

impl Missing {
    /// Whether nothing is missing.
    pub const fn is_empty(&self) -> bool {
        self.tasks == 0
    }

    /// How many tasks are missing.
    pub const fn tasks(&self) -> u64 {
        self.tasks
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |(engine, range): &(Engine, Range<u64>)| {
            let (first, last) = (range.start, range.end - 1);
            match range.end - first {
                1 => format!("{engine} {first} (1 task)"),
                tasks => format!("{engine} {first}..={last} ({tasks} tasks)"),
            }
        };
        let lines = parts_line(&self.parts, self.of).into_iter();
        let lines: Vec<String> = lines.chain(self.ranges.iter().map(range)).collect();
        f.write_str(&cut_short(&lines, "\n", "\n"))
    }
}

/// The most ranges shown of a list.
const SHOWN: usize = 20;

/// The first ranges of a list, and how many more there are.
fn cut_short(ranges: &[String], between: &str, before_more: &str) -> String {
    let (shown, rest) = ranges.split_at(ranges.len().min(SHOWN));
    match rest.len() {
        0 => shown.join(between),
        more => format!("{}{before_more}and {more} ranges more", shown.join(between)),
    }
}

/// `1 of 6,400 parts; missing 0-16,18-6399`; nothing if none is missing. Long lists are cut short.
fn parts_line(missing: &IndexList, all: u64) -> Option<String> {
    if missing.is_empty() {
        return None;
    }
    let (there, list) = (grouped(all - missing.len()), missing.to_string());
    let runs: Vec<_> = list.split(',').map(str::to_owned).collect();
    let (all, shown) = (grouped(all), cut_short(&runs, ",", " "));
    Some(format!("{there} of {all} parts; missing {shown}"))
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
    fn a_missing_part_is_named() {
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
            "1 of 3 parts; missing 1-2\nchain 6 (1 task)"
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
    fn one_line_tells_which_of_thousands_of_parts_are_missing() {
        let line = |missing: &[u64]| parts_line(&missing.iter().copied().collect(), 6400);
        let all_but_one: Vec<u64> = (0..6400).filter(|shard| *shard != 17).collect();
        assert_eq!(
            line(&all_but_one).unwrap(),
            "1 of 6,400 parts; missing 0-16,18-6399"
        );
        assert_eq!(line(&[3]).unwrap(), "6,399 of 6,400 parts; missing 3");
        let even: Vec<u64> = (0..3200).map(|half| 2 * half).collect();
        assert!(line(&even).unwrap().ends_with("36,38 and 3180 ranges more"));
        assert_eq!(line(&[]), None);
    }

    #[test]
    fn long_lists_are_cut_short_and_nothing_missing_is_empty() {
        let mut set = coverage(1000, 1);
        for index in (0..500).step_by(7) {
            set.add(chain(index));
        }
        let text = set.missing(&Division::none()).to_string();
        assert_eq!(text.lines().count(), SHOWN + 1);
        assert!(text.ends_with("ranges more"), "{text}");
        let mut set = coverage(1, 1);
        set.add(chain(0));
        set.add(key(Engine::Census, 0));
        assert!(set.is_whole() && set.missing(&Division::none()).is_empty());
    }
}
