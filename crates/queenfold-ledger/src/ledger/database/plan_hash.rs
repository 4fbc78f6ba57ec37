//! The hash of a plan, by which a ledger notices that a program would cut other tasks.

use serde::{Deserialize, Serialize};

use crate::ledger::database::digest::{Digest, DigestFields, context};
use queenfold::engine::{Canary, CanaryTask, Engine, Plan, PlanName};

/// How many task boundaries at most go into a plan hash.
const BOUNDARIES: u64 = 1 << 16;

/// How many partitions at most go into a plan hash: to make one from its rank takes a microsecond.
const PARTITIONS: u64 = 1 << 10;

/// What a ledger says about a plan: enough to tell whether the program that reads it makes the same
/// tasks.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlanInfo {
    /// The engine.
    pub engine: Engine,
    /// Engine and version.
    #[serde(rename = "version")]
    pub name: PlanName,
    /// The number of tasks.
    pub tasks: u64,
    /// The plan hash, in hexadecimal.
    pub hash: String,
    /// BLAKE3, in hexadecimal, over the tasks of the canary and their counts, as the program that made the
    /// directory knew them. It is no part of the plan: a later program may have another canary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary: Option<String>,
}

/// Equal plans have the same tasks, whatever their canaries.
impl PartialEq for PlanInfo {
    fn eq(&self, other: &Self) -> bool {
        let of = |info: &Self| (info.engine, info.name, info.tasks);
        of(self) == of(other) && self.hash == other.hash
    }
}

impl Eq for PlanInfo {}

impl PlanInfo {
    /// The description of `plan`.
    pub fn of(plan: &dyn Plan) -> Self {
        Self {
            engine: plan.engine(),
            name: plan.name(),
            tasks: plan.tasks(),
            hash: plan_hash(plan).to_string(),
            canary: plan.canary().map(|canary| canary_hash(&canary).to_string()),
        }
    }
}

/// BLAKE3 over the plan of a canary, and over the ranks and the count of each of its tasks.
fn canary_hash(canary: &Canary) -> Digest {
    let mut fields = DigestFields::new(context::CANARY);
    fields
        .u64(u64::from(canary.size().get()))
        .text(&canary.plan().to_string());
    for CanaryTask { ranks, count } in canary.tasks() {
        fields.u64(ranks.start).u64(ranks.end).u64(*count);
    }
    fields.digest()
}

/// BLAKE3 over board size, engine, plan version, number of tasks and the ranks of the tasks: of
/// all, or of 65,536 spread evenly, the first and the last among them. Where something is given on the
/// board, the names of the given queens and of the holes follow.
///
/// The version names the order of the partitions. The hash catches task boundaries that change
/// while the version stays, and, if the plan tells its partitions, another order: those at the beginning of up to 1,024
/// tasks go into it.
pub fn plan_hash(plan: &dyn Plan) -> Digest {
    let mut fields = DigestFields::new(context::PLAN);
    fields
        .u64(u64::from(plan.size().get()))
        .text(plan.engine().name())
        .text(&plan.name().to_string())
        .u64(plan.tasks());
    for index in spread(plan.tasks(), BOUNDARIES) {
        let ranks = plan.ranks_of(index);
        fields.u64(index).u64(ranks.start).u64(ranks.end);
    }
    for index in spread(plan.tasks(), PARTITIONS) {
        for word in plan.partition_words(plan.ranks_of(index).start) {
            fields.u64(word);
        }
    }
    let given = plan.given();
    if !given.is_free() {
        let [queens, holes] = given.names();
        fields.text(&queens).text(&holes);
    }
    fields.digest()
}

/// The indices of all tasks, or of `most` of them spread evenly, the first and the last among them.
fn spread(tasks: u64, most: u64) -> impl Iterator<Item = u64> {
    let last = tasks - 1;
    let steps = last.min(most - 1);
    // At most 2^61: `last` is below 2^45 for the largest board.
    (0..=steps).map(move |step| (step * last).checked_div(steps).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold::board::{GivenBoard, Size};
    use queenfold::census::CensusPlan;
    use queenfold::chain::ChainPlan;
    use queenfold::colour::ColourPlan;
    use queenfold::engine::{Counter, CounterSettings, Task};

    #[test]
    fn a_plan_stays_the_same_with_another_canary_or_none() {
        let info = PlanInfo::of(&ChainPlan::new(Size::new(12).unwrap()));
        let json = serde_json::to_string(&info).unwrap();
        assert_eq!(info.canary.as_ref().map(String::len), Some(64));
        assert!(json.contains(r#""canary":""#), "{json}");
        let without = PlanInfo {
            canary: None,
            ..info.clone()
        };
        let json = serde_json::to_string(&without).unwrap();
        assert_eq!(serde_json::from_str::<PlanInfo>(&json).unwrap(), info);
        let other = PlanInfo {
            tasks: 5,
            ..info.clone()
        };
        assert_ne!(other, info);
    }

    /// A plan, but for what another version of the program may do otherwise.
    struct Other<P> {
        plan: P,
        cuts_otherwise: bool,
        orders_otherwise: bool,
    }

    impl<P: Plan> Plan for Other<P> {
        fn name(&self) -> PlanName {
            self.plan.name()
        }

        fn given(&self) -> GivenBoard {
            self.plan.given()
        }

        fn tasks(&self) -> u64 {
            self.plan.tasks()
        }
        fn task(&self, index: u64) -> Task {
            let mut task = self.plan.task(index);
            task.ranks.end -= u64::from(self.cuts_otherwise && index == 1);
            task
        }
        fn partition_words(&self, rank: u64) -> Vec<u64> {
            self.plan
                .partition_words(rank ^ u64::from(self.orders_otherwise))
        }
        fn total_cost(&self) -> f64 {
            self.plan.total_cost()
        }
        fn counter(&self, settings: &CounterSettings) -> Box<dyn Counter> {
            self.plan.counter(settings)
        }
        fn oracle(&self) -> Box<dyn Counter> {
            self.plan.oracle()
        }
    }

    #[test]
    fn size_engine_boundaries_and_order_decide_the_hash() {
        let size = |n| Size::new(n).unwrap();
        let hash = plan_hash(&ChainPlan::new(size(14)));
        assert_eq!(hash, plan_hash(&ChainPlan::new(size(14))));
        assert_ne!(hash, plan_hash(&ChainPlan::new(size(15))));
        assert_ne!(hash, plan_hash(&CensusPlan::new(size(14))));
        let [same, cut, ordered] =
            [[false, false], [true, false], [false, true]].map(|otherwise| {
                let [cuts_otherwise, orders_otherwise] = otherwise;
                plan_hash(&Other {
                    plan: ColourPlan::new(size(14)),
                    cuts_otherwise,
                    orders_otherwise,
                })
            });
        assert_eq!(same, plan_hash(&ColourPlan::new(size(14))));
        assert!(same != cut && same != ordered);
    }

    /// The values are those of the first ledgers of format 1: a plan whose hash changes cannot go on
    /// with the runs that exist.
    #[test]
    fn the_smallest_and_the_largest_plan_keep_their_hash() {
        for (n, tasks, hash) in [
            (
                1,
                1,
                "0f8e9195c4e49d05bb8ef491136d41c88fc76080d2193b912d3b77b345d47f1c",
            ),
            (
                32,
                2_246_130_000,
                "bb8a85792ebec4b711b51f04c5bc29462b75a71f72fc7283aeaf46d650fdcd61",
            ),
        ] {
            let plan = ChainPlan::new(Size::new(n).unwrap());
            assert_eq!(plan.tasks(), tasks, "n = {n}");
            assert_eq!(plan_hash(&plan).to_string(), hash, "n = {n}");
        }
    }

    #[test]
    fn what_is_given_is_part_of_the_hash() {
        let board =
            |queens, holes| GivenBoard::parse(Size::new(10).unwrap(), queens, holes).unwrap();
        let boards = [
            board("", ""),
            board("c3", ""),
            board("c4", ""),
            board("", "c3"),
            board("c3", "d9"),
        ];
        // The censuses of these boards have the same tasks but for the mirror image.
        let hashes = boards.map(|board| plan_hash(&CensusPlan::new(board)));
        for (at, hash) in hashes.iter().enumerate() {
            assert!(!hashes[..at].contains(hash));
        }
    }
}
