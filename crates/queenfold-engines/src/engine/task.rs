//! The key that names a task everywhere, and a task.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::board::Size;

/// Names a task everywhere and for good: the same key is the same task on every machine, whatever
/// the workers, devices or instruction set.
///
/// ```
/// # mod queenfold { pub use queenfold_engines::{board::*, engine::*}; }
/// use queenfold::{Engine, Size, TaskKey};
///
/// let key = TaskKey { n: Size::new(20)?, engine: Engine::Chain, version: 1, index: 17 };
/// assert_eq!(key.to_string(), "chain-1:17 of n = 20");
/// # Ok::<(), queenfold::SizeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TaskKey {
    /// The board.
    pub n: Size,
    /// Whose plan.
    pub engine: Engine,
    /// The version of the plan.
    pub version: u32,
    /// Position in the plan, from 0.
    pub index: u64,
}

/// All four values, because a message may be about one of several runs: `chain-1:17 of n = 20`.
impl fmt::Display for TaskKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            n,
            engine,
            version,
            index,
        } = self;
        write!(f, "{engine}-{version}:{index} of n = {n}")
    }
}

/// A fixed tile of a plan: a range of partition ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its name.
    pub key: TaskKey,
    /// The ranks of its partitions in the order of the plan. Ranks of illegal prefixes are empty.
    pub ranks: Range<u64>,
    /// Expected work in core-seconds. Ratios within a plan should be good; between plans an order
    /// of magnitude is enough, and the speed of the machine is unknown. Never negative, never NaN.
    pub cost: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_four_values_on_a_wire() {
        let key = TaskKey {
            n: Size::new(14).unwrap(),
            engine: Engine::Chain,
            version: 1,
            index: 17,
        };
        assert_eq!(key.to_string(), "chain-1:17 of n = 14");
        let json = serde_json::to_string(&key).unwrap();
        assert_eq!(json, r#"{"n":14,"engine":"chain","version":1,"index":17}"#);
        assert_eq!(serde_json::from_str::<TaskKey>(&json).unwrap(), key);
    }
}
