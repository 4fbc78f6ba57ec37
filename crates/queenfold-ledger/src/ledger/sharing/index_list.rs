//! Lists of shards as Slurm and HyperQueue write them: `3,17-20`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Indices of an array's tasks, or of parts of a run, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct IndexList(Vec<u64>);

impl IndexList {
    /// How many there are.
    pub fn len(&self) -> u64 {
        self.0.len() as u64
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = u64> {
        self.0.iter().copied()
    }

    /// Whether this one is among them.
    pub fn contains(&self, index: u64) -> bool {
        self.0.binary_search(&index).is_ok()
    }

    /// As words of bash: `3 {17..20}`.
    pub fn in_bash(&self) -> String {
        let runs = self.runs().map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{{{first}..{last}}}"),
        });
        runs.collect::<Vec<_>>().join(" ")
    }

    /// The first and the last of each run of neighbours.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let runs = self.0.chunk_by(|one, next| one + 1 == *next);
        runs.map(|run| (run[0], run[run.len() - 1]))
    }
}

impl FromIterator<u64> for IndexList {
    fn from_iter<I: IntoIterator<Item = u64>>(indices: I) -> Self {
        let mut indices: Vec<u64> = indices.into_iter().collect();
        indices.sort_unstable();
        indices.dedup();
        Self(indices)
    }
}

impl From<IndexList> for String {
    fn from(list: IndexList) -> Self {
        list.to_string()
    }
}

impl TryFrom<String> for IndexList {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for IndexList {
    type Err = String;

    /// Ascending numbers below 2²⁴.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut least = 0;
        let run = |run: &str| {
            let (first, last) = run.split_once('-').unwrap_or((run, run));
            let (first, last) = (first.parse::<u64>().ok()?, last.parse().ok()?);
            let is_next = least <= first && first <= last && last < 1 << 24;
            least = last + 1;
            is_next.then_some(first..=last)
        };
        let runs: Option<Vec<_>> = text.split(',').map(run).collect();
        let refused = || format!("`{text}` is no list of numbers such as 3,17-20");
        Ok(runs.ok_or_else(refused)?.into_iter().flatten().collect())
    }
}

impl fmt::Display for IndexList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.runs().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_a_range() {
        for (indices, text) in [
            (&[][..], ""),
            (&[7], "7"),
            (&[0, 1], "0-1"),
            (&[20, 3, 17, 18, 19, 17], "3,17-20"),
            (&[1, 3, 5, 6], "1,3,5-6"),
        ] {
            let list: IndexList = indices.iter().copied().collect();
            assert_eq!(list.to_string(), text);
        }
        let list: IndexList = [3, 17, 18, 19, 20].into_iter().collect();
        assert_eq!(list.in_bash(), "3 {17..20}");
    }
}
