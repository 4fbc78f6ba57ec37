use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Carry chain: border queens placed, one placement per symmetry class, the rest searched.
    Chain,
    /// Join: pairs of half boards that fit together, one set of columns of the top half at a time.
    Join,
    /// The symmetric solutions alone: fixed by a half turn, by a quarter turn.
    Census,
}

impl Engine {
    /// All.
    pub const ALL: [Self; 3] = [Self::Chain, Self::Join, Self::Census];

    /// Whether it counts all solutions, and not the symmetric ones alone.
    pub const fn counts_all(self) -> bool {
        !matches!(self, Self::Census)
    }

    /// The name used on the command line, in configuration and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Join => "join",
            Self::Census => "census",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Names a task within a run: a run has at most one plan of each engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskId {
    /// Whose plan.
    pub engine: Engine,
    /// Position in the plan, from 0.
    pub index: u64,
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.engine, self.index)
    }
}

/// A fixed tile of a plan: a range of partition ranks.
///
/// The same (n, engine, plan version, index) is the same task on every machine, whatever the
/// workers, devices or instruction set.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub id: TaskId,
    /// The ranks of its partitions in the order of the plan. Ranks of illegal prefixes are empty.
    pub ranks: Range<u64>,
    /// Expected work in core-seconds. Ratios within a plan should be good; between plans an order
    /// of magnitude is enough, and the speed of the machine is unknown. Never negative, never NaN.
    pub cost: f64,
}
