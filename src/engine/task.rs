//! Engines by name, the key that names a task everywhere, and a task.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::board::Size;

/// A way to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// Carry chain: queens are placed on the border, one placement per symmetry class, and the rest
    /// of the board is searched.
    Chain,
    /// Join: pairs of half boards that fit together, one set of columns of the top half at a time.
    Join,
    /// The symmetric solutions alone: those fixed by a half turn, and by a quarter turn.
    Census,
    /// An engine that a program which uses this library brings along, to count all solutions.
    Own,
}

impl Engine {
    /// The engines of this library.
    pub const ALL: [Self; 3] = [Self::Chain, Self::Join, Self::Census];

    /// Whether it counts all solutions, not only the symmetric ones.
    pub const fn counts_all(self) -> bool {
        !matches!(self, Self::Census)
    }

    /// The name used on the command line, in the configuration and in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chain => "chain",
            Self::Join => "join",
            Self::Census => "census",
            Self::Own => "own",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no engine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an engine")]
pub struct EngineError(String);

impl FromStr for Engine {
    type Err = EngineError;

    fn from_str(name: &str) -> Result<Self, EngineError> {
        let mut engines = Self::ALL.into_iter().chain([Self::Own]);
        engines
            .find(|engine| engine.name() == name)
            .ok_or_else(|| EngineError(name.to_owned()))
    }
}

/// An engine and the version of its plans: `chain-1`.
///
/// The version is raised when the order of partitions or a task boundary changes. So two plans of
/// one board with the same name have the same tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanName {
    /// The engine.
    pub engine: Engine,
    /// The version of the plans that the engine makes.
    pub version: u32,
}

impl fmt::Display for PlanName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.engine, self.version)
    }
}

/// A text that names no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a plan: use ENGINE-VERSION, as in chain-1")]
pub struct PlanNameError(String);

impl FromStr for PlanName {
    type Err = PlanNameError;

    fn from_str(text: &str) -> Result<Self, PlanNameError> {
        text.split_once('-')
            .and_then(|(engine, version)| {
                Some(Self {
                    engine: engine.parse().ok()?,
                    version: version.parse().ok()?,
                })
            })
            .filter(|name| name.to_string() == text)
            .ok_or_else(|| PlanNameError(text.to_owned()))
    }
}

impl TryFrom<String> for PlanName {
    type Error = PlanNameError;

    fn try_from(text: String) -> Result<Self, PlanNameError> {
        text.parse()
    }
}

impl From<PlanName> for String {
    fn from(name: PlanName) -> Self {
        name.to_string()
    }
}

/// Names a task everywhere and for good: the same key is the same task on every machine, whatever
/// the workers, devices or instruction set.
///
/// ```
/// use queenfold::board::Size;
/// use queenfold::engine::{Engine, Plan};
/// use queenfold::job::plan;
///
/// let key = plan(Engine::Chain, Size::new(20)?).key(17);
/// assert_eq!(key.to_string(), "chain-1:17 of n = 20");
/// # Ok::<(), queenfold::board::SizeError>(())
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
    fn a_plan_name_is_read_as_it_is_written() {
        for engine in Engine::ALL.into_iter().chain([Engine::Own]) {
            let name = PlanName { engine, version: 7 };
            assert_eq!(name.to_string(), format!("{engine}-7"));
            assert_eq!(name.to_string().parse(), Ok(name));
            let json = serde_json::to_string(&name).unwrap();
            assert_eq!(json, format!("\"{engine}-7\""));
            assert_eq!(serde_json::from_str::<PlanName>(&json).unwrap(), name);
        }
        for text in [
            "", "chain", "chain-", "chain-x", "chain-01", "chain-+1", "chian-1",
        ] {
            let error = text.parse::<PlanName>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

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
