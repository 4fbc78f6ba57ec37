//! An engine and the version of its plans.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Engine, TaskKey};
use crate::board::Size;

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

impl PlanName {
    /// The key of the task at position `index` of the plan for a board of size `n`.
    pub const fn key(self, n: Size, index: u64) -> TaskKey {
        TaskKey {
            n,
            engine: self.engine,
            version: self.version,
            index,
        }
    }
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
}
