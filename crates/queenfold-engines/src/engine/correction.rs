//! Counts of one task that differ, and what was decided about them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::TaskResult;

/// Results of one task that do not all agree. `R` is a result: a [`TaskResult`] while a run counts, a
/// record with its session in a ledger.
///
/// No result is lost in a correction: whatever the decision refuses is still here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Correction<R = TaskResult> {
    /// The result that was recorded until now.
    pub recorded: R,
    /// The other results, in the order in which they were counted, without the one that decides. At
    /// least one of them differs from the recorded one, or the decision does.
    pub others: Vec<R>,
    /// Which result is right. `None`: that is open, so the task is contested, and the run has no total.
    pub decision: Option<Decision<R>>,
}

/// The result that decides between results that differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision<R = TaskResult> {
    /// How it was counted.
    pub method: Method,
    /// What counts from now on. If it agrees with the recorded result, that one stays recorded.
    pub result: R,
}

/// How the count that decides was made, compared with the counts that differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// By the kernel of one of them, on another worker or device.
    SameKernel,
    /// By the kernel of another instruction set.
    OtherKernel,
    /// By the oracle of the engine: slower, and by another method.
    Oracle,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SameKernel => "the same kernel elsewhere",
            Self::OtherKernel => "another kernel",
            Self::Oracle => "the oracle",
        })
    }
}

impl<R> Correction<R> {
    /// All results, the deciding one last.
    pub fn results(&self) -> impl Iterator<Item = &R> {
        let decided = self.decision.as_ref().map(|decision| &decision.result);
        std::iter::once(&self.recorded)
            .chain(&self.others)
            .chain(decided)
    }

    /// The same correction of other results.
    pub fn map<T>(self, mut map: impl FnMut(R) -> T) -> Correction<T> {
        Correction {
            recorded: map(self.recorded),
            others: self.others.into_iter().map(&mut map).collect(),
            decision: self.decision.map(|Decision { result, method }| Decision {
                result: map(result),
                method,
            }),
        }
    }
}

impl<R> Correction<Option<R>> {
    /// The correction, if it has all of its results.
    pub fn whole(self) -> Option<Correction<R>> {
        let decision = match self.decision {
            Some(Decision { method, result }) => Some(Decision {
                method,
                result: result?,
            }),
            None => None,
        };
        Some(Correction {
            recorded: self.recorded?,
            others: self.others.into_iter().collect::<Option<_>>()?,
            decision,
        })
    }
}
