//! How the tasks of a run are dealt to its shards.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::ledger::Shard;
use queenfold::board::GivenBoard;
use queenfold::engine::{Engine, Plan, PlanName, TaskKey, TaskSet};

/// Plans with more tasks are dealt by remainder. Nothing interrupts a division, so it must be short: so many tasks
/// take less than a second. The more tasks a shard has, the less it matters which.
const MOST_DEALT: u64 = 1 << 18;

/// Steps of an octave in which costs are told apart: 16 are 4 %. Machines whose logarithms differ in the
/// last bit hardly ever disagree on the step, and nothing after it is computed with fractions. If they do,
/// tasks are missing when the shards are merged, which is said, and no number is wrong.
const STEPS: i32 = 16;

/// The most steps below the highest cost, which is 2⁻³¹ of it.
const LOWEST: i32 = 31 * STEPS;

/// Which shard each task belongs to. It depends on the board, the engines, their plan versions and the
/// number of shards alone.
///
/// **By cost**: the tasks of a plan, those of the highest [cost](queenfold::engine::Task::cost) first and equal
/// ones in the order of their indices, go one by one to the shard with the least cost so far, of several the
/// first (Graham, Bounds on multiprocessing timing anomalies, 1969: no shard gets more than 4/3 of what the
/// best division would give it). Costs are rounded to steps of 2^(1/16) below the highest one.
///
/// **By remainder**: the task `i` goes to the shard `i mod k`. So are plans of more than 2¹⁸ tasks dealt,
/// those with no more tasks than shards, and runs that were begun before tasks were dealt by cost.
///
/// Tasks of equal cost are dealt alike by both.
#[derive(Clone, Debug)]
pub struct Division {
    shard: Shard,
    /// The shard of each task, for plans that are dealt by cost.
    by_cost: BTreeMap<Engine, Arc<[u32]>>,
}

/// The last division, by what it depends on: whoever reads the files of a thousand shards divides the run once.
static LAST: Mutex<Option<(Divided, Division)>> = Mutex::new(None);

/// The board, the number of parts, whether they are dealt by cost, and the plans.
type Divided = (GivenBoard, u64, bool, Vec<PlanName>);

impl Division {
    /// How `plans` are divided for the run of `shard`.
    pub fn new(shard: Shard, plans: &[Arc<dyn Plan>]) -> Self {
        let dealt = |plan: &Arc<dyn Plan>| {
            let worth = (shard.count() + 1..=MOST_DEALT).contains(&plan.tasks());
            (shard.is_by_cost() && worth)
                .then(|| (plan.engine(), deal(plan.as_ref(), shard.count()).into()))
        };
        let names = plans.iter().map(|plan| plan.name()).collect();
        let of = plans
            .first()
            .map(|plan| (plan.given(), shard.count(), shard.is_by_cost(), names));
        // Own plans of one name may differ.
        let of = of.filter(|_| plans.iter().all(|plan| plan.engine() != Engine::Own));
        let mut last = LAST.lock();
        match (&of, &*last) {
            (Some(of), Some((divided, there))) if of == divided => Self {
                shard,
                ..there.clone()
            },
            _ => {
                let by_cost = plans.iter().filter_map(dealt).collect();
                let division = Self { shard, by_cost };
                *last = of.map(|of| (of, division.clone()));
                division
            }
        }
    }

    /// A run that is not divided.
    pub const fn none() -> Self {
        Self {
            shard: Shard::WHOLE,
            by_cost: BTreeMap::new(),
        }
    }

    /// A shard of the run, which gives the others their names.
    pub(crate) const fn shard(&self) -> Shard {
        self.shard
    }

    /// The part that a task of the plans belongs to.
    pub fn part_of(&self, task: TaskKey) -> u64 {
        let dealt = self.by_cost.get(&task.engine);
        match dealt.and_then(|dealt| dealt.get(usize::try_from(task.index).ok()?)) {
            Some(&shard) => u64::from(shard),
            None => task.index % self.shard.count(),
        }
    }

    /// Whether `shard` holds the task.
    pub fn holds(&self, shard: Shard, task: TaskKey) -> bool {
        shard.parts().contains(&self.part_of(task))
    }

    /// The tasks of `shard` in a plan that is dealt by cost; `None` for one that is dealt by remainder.
    pub(crate) fn chosen(&self, shard: Shard, engine: Engine) -> Option<TaskSet> {
        let dealt = self.by_cost.get(&engine)?;
        let mut tasks = TaskSet::default();
        let own = dealt
            .iter()
            .zip(0..)
            .filter(|(of, _)| shard.parts().contains(&u64::from(**of)));
        own.for_each(|(_, task)| {
            tasks.insert(task);
        });
        Some(tasks)
    }
}

/// The shard of each task.
fn deal(plan: &dyn Plan, shards: u64) -> Vec<u32> {
    let costs: Vec<f64> = (0..plan.tasks()).map(|task| plan.task(task).cost).collect();
    let highest = costs.iter().copied().fold(0.0, f64::max);
    let mut tasks: Vec<(i32, usize)> = costs
        .iter()
        .enumerate()
        .map(|(task, &cost)| (steps_below(highest, cost), task))
        .collect();
    tasks.sort_unstable();
    let mut loads: BinaryHeap<_> = (0..shards).map(|shard| Reverse((0, shard))).collect();
    let mut dealt = vec![0; costs.len()];
    for (steps, task) in tasks {
        if let Some(mut least) = loads.peek_mut() {
            let Reverse((load, shard)) = &mut *least;
            *load += weight(steps);
            dealt[task] = *shard as u32;
        }
    }
    dealt
}

/// How many steps a cost is below the highest.
fn steps_below(highest: f64, cost: f64) -> i32 {
    let octaves = (highest / cost).log2() * f64::from(STEPS);
    // A cost of zero is infinitely far below. If all are zero this is no number, which `min` takes for that.
    octaves.round().min(f64::from(LOWEST)) as i32
}

/// What a task weighs whose cost is so many steps below the highest: 2³² · 2^(−steps/16), rounded down.
fn weight(steps: i32) -> u64 {
    /// 2^(32 − i/16), rounded down.
    const OCTAVE: [u64; STEPS as usize] = [
        0x1_0000_0000,
        0xf525_7d15,
        0xeac0_c6e7,
        0xe0cc_deec,
        0xd744_fcca,
        0xce24_8c15,
        0xc567_2a11,
        0xbd08_a39f,
        0xb504_f333,
        0xad58_3eea,
        0xa5fe_d6a9,
        0x9ef5_3260,
        0x9837_f051,
        0x91c3_d373,
        0x8b95_c1e3,
        0x85aa_c367,
    ];
    OCTAVE[(steps % STEPS) as usize] >> (steps / STEPS)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use queenfold::board::Size;
    use queenfold::census::CensusPlan;
    use queenfold::colour::ColourPlan;
    use queenfold::engine::{Canary, Counter, CounterSettings, Task};
    use queenfold::system::ThreadClock;

    fn plans(n: u32) -> Vec<Arc<dyn Plan>> {
        let n = Size::new(n).unwrap();
        vec![Arc::new(ColourPlan::new(n)), Arc::new(CensusPlan::new(n))]
    }

    /// A plan of so many tasks of uneven cost.
    fn uneven(tasks: u64) -> Costs {
        Costs((0..tasks).map(|i| ((i % 32) as f64 / 4.0).exp2()).collect())
    }

    fn shard(index: u64, count: u64) -> Shard {
        Shard::new(index, count).unwrap()
    }

    /// The highest cost of a shard of the first plan, relative to the mean.
    fn highest(plan: &dyn Plan, division: &Division, count: u64) -> f64 {
        let mut costs = vec![0.0; count as usize];
        for task in 0..plan.tasks() {
            costs[division.part_of(plan.key(task)) as usize] += plan.task(task).cost;
        }
        let mean = costs.iter().sum::<f64>() / count as f64;
        costs.into_iter().fold(0.0, f64::max) / mean
    }

    #[test]
    fn every_task_is_in_exactly_one_shard() {
        for (n, count) in [(16, 3), (18, 16), (20, 64), (20, 2000)] {
            let mut plans = plans(n);
            plans.push(Arc::new(uneven(5000)));
            let division = Division::new(shard(1, count), &plans);
            for plan in &plans {
                let mut held = 0;
                for of in (0..count).map(|index| shard(index, count)) {
                    let tasks = (0..plan.tasks()).filter(|&i| division.holds(of, plan.key(i)));
                    let tasks: Vec<_> = tasks.collect();
                    held += tasks.len() as u64;
                    if let Some(chosen) = division.chosen(of, plan.engine()) {
                        assert!(chosen.iter().eq(tasks));
                    }
                }
                assert_eq!(held, plan.tasks(), "n = {n}, {count} shards");
            }
        }
    }

    #[test]
    fn shards_have_about_the_same_cost() {
        let plans: [Arc<dyn Plan>; 1] = [Arc::new(uneven(40_000))];
        for (count, most) in [(16, 1.01), (64, 1.02), (512, 1.06)] {
            let by_cost = highest(
                plans[0].as_ref(),
                &Division::new(shard(0, count), &plans),
                count,
            );
            let old = Division::new(format!("0/{count}").parse().unwrap(), &[]);
            let by_remainder = highest(plans[0].as_ref(), &old, count);
            assert!(by_cost < most, "{count} shards: {by_cost}");
            assert!(by_remainder > 1.2, "{count} shards: {by_remainder}");
        }
    }

    /// Runs of two versions of this program must agree on what a shard is. If a change of the costs of a
    /// plan changes these numbers, it changes shards: ledgers must then tell which division they follow
    /// (`Shard::record`).
    #[test]
    fn the_division_is_fixed() {
        let digest = |plan: &dyn Plan, count| {
            let dealt = deal(plan, count);
            let bytes = dealt.iter().flat_map(|shard| (*shard as u16).to_le_bytes());
            let bytes: Vec<u8> = bytes.collect();
            blake3::hash(&bytes).to_hex()[..16].to_owned()
        };
        let boards = [(18, 16), (20, 64), (22, 512), (24, 512)];
        let dealt = boards.map(|(n, count)| digest(plans(n)[0].as_ref(), count));
        assert_eq!(
            dealt,
            [
                "a1d0ed4b3774cc32",
                "5e04c58d0b004a77",
                "eb9dff18f0be2e96",
                "c980efaba2662e5e"
            ]
        );
        let dealt = [7, 64, 512].map(|count| digest(&uneven(40_000), count));
        assert_eq!(
            dealt,
            ["1c33ba65168fcfcc", "fabc4a4e1d7ef093", "c9c444af216f4ab4"]
        );
    }

    /// A stop waits for a division that has begun.
    #[test]
    fn the_largest_plans_are_divided_in_a_second() {
        let given = |n, queens| GivenBoard::parse(Size::new(n).unwrap(), queens, "").unwrap();
        let boards = [Size::new(25).unwrap().into(), Size::new(26).unwrap().into()];
        let boards = boards.into_iter().chain([
            given(28, "c3,e10,h20,p15,z9"),
            given(27, "c3"),
            given(28, "c3,e10,h20"),
        ]);
        for board in boards {
            let plans: [Arc<dyn Plan>; 1] = [Arc::new(ColourPlan::new(board))];
            let begin = ThreadClock::now();
            let division = Division::new(shard(1, 10_000.min(plans[0].tasks() - 1)), &plans);
            let took = begin.elapsed();
            let dealt = division.by_cost.len();
            let board = board.in_words();
            assert!(
                took < Duration::from_secs(1),
                "{board}: {dealt} by cost in {took:?}"
            );
        }
    }

    /// A plan whose tasks have these costs.
    struct Costs(Vec<f64>);

    impl Plan for Costs {
        fn name(&self) -> PlanName {
            PlanName {
                engine: Engine::Own,
                version: 1,
            }
        }

        fn given(&self) -> GivenBoard {
            Size::new(8).unwrap().into()
        }

        fn tasks(&self) -> u64 {
            self.0.len() as u64
        }
        fn task(&self, index: u64) -> Task {
            Task {
                key: self.key(index),
                ranks: index..index + 1,
                cost: self.0[index as usize],
            }
        }
        fn total_cost(&self) -> f64 {
            self.0.iter().sum()
        }
        fn counter(&self, _: &CounterSettings) -> Box<dyn Counter> {
            unreachable!("nothing is counted")
        }
        fn oracle(&self) -> Box<dyn Counter> {
            unreachable!("nothing is counted")
        }
        fn canary(&self) -> Option<Canary> {
            None
        }
    }

    #[test]
    fn the_dearest_tasks_are_dealt_first() {
        assert_eq!(deal(&Costs(vec![1.0, 4.0, 2.0, 1.0]), 2), [1, 0, 1, 1]);
        // Equal ones are dealt as by remainder.
        assert_eq!(deal(&Costs(vec![0.0; 4]), 2), [0, 1, 0, 1]);
        assert_eq!(deal(&Costs(vec![2.0; 4]), 2), [0, 1, 0, 1]);
        assert_eq!(deal(&Costs(vec![2.0; 70_000]), 69_999)[69_998], 69_998);
    }
}
