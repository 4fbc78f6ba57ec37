//! Which parts of a divided run a directory counts, and how that is written: `0/3`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// One or several neighbours of the parts that a run is divided into to be counted separately: `index/count`, or
/// `first-last/count`.
///
/// Every task of each plan is in exactly one of the parts `0/k` to `(k−1)/k`. They have about the same
/// cost; [`Division`](crate::ledger::Division) says which tasks a part holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    first: u64,
    last: u64,
    count: u64,
    /// Whether tasks are dealt by cost. Runs begun before that deal them by the remainder of their index.
    by_cost: bool,
}

/// What the record of a shard says besides its name if tasks are dealt by cost. The number grows when the
/// costs, or how they are dealt, put tasks into other shards: runs in progress are then refused, because each
/// shard would hold others.
const BY_COST: &str = " by cost 1";

/// A text that names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: write I/K, with K from 1 to {max} and I from 0 to K − 1, as in 0/3, or I-J/K for several", max = Shard::MAX_COUNT)]
pub struct ShardError(String);

impl Shard {
    /// The only shard of a run that is not divided.
    pub const WHOLE: Self = Self {
        first: 0,
        last: 0,
        count: 1,
        by_cost: false,
    };

    /// The most parts there can be: one for each task of the largest boards.
    pub const MAX_COUNT: u64 = 1 << 21;

    /// The shard `index/count`; `None` unless `index < count ≤ MAX_COUNT`.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        Self::of_parts(index, index, count)
    }

    /// The shard `first-last/count`; `None` unless `first ≤ last < count ≤ MAX_COUNT`.
    pub fn of_parts(first: u64, last: u64, count: u64) -> Option<Self> {
        (first <= last && last < count && count <= Self::MAX_COUNT).then_some(Self {
            first,
            last,
            count,
            by_cost: count > 1,
        })
    }

    /// How many parts the run is divided into, at least 1.
    pub const fn count(self) -> u64 {
        self.count
    }

    /// Its parts, at least one.
    pub const fn parts(self) -> Range<u64> {
        self.first..self.last + 1
    }

    /// Whether tasks are dealt to the shards by their cost.
    pub(crate) const fn is_by_cost(self) -> bool {
        self.by_cost
    }

    /// The text that a ledger keeps: its name, and how tasks are dealt.
    pub(crate) fn record(self) -> String {
        format!("{self}{}", if self.by_cost { BY_COST } else { "" })
    }

    /// Reads the text that a ledger keeps, which has one form.
    pub(crate) fn from_record(text: &str) -> Result<Self, ShardError> {
        let name = text.strip_suffix(BY_COST);
        let by_cost = name.is_some();
        let shard: Self = name.unwrap_or(text).parse()?;
        let shard = Self { by_cost, ..shard };
        let is_own = shard.record() == text;
        is_own
            .then_some(shard)
            .ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        text.split_once('/')
            .and_then(|(parts, count)| {
                let (first, last) = parts.split_once('-').unwrap_or((parts, parts));
                Self::of_parts(first.parse().ok()?, last.parse().ok()?, count.parse().ok()?)
            })
            .ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.last {
            last if last == self.first => write!(f, "{last}/{}", self.count),
            last => write!(f, "{}-{last}/{}", self.first, self.count),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ledger_keeps_how_tasks_are_dealt() {
        for text in ["0/1", "2/3", "2/3 by cost 1", "1-2/5 by cost 1"] {
            assert_eq!(Shard::from_record(text).unwrap().record(), text);
        }
        assert_eq!(Shard::new(2, 3).unwrap().record(), "2/3 by cost 1");
        assert_eq!(Shard::new(0, 1).unwrap(), Shard::WHOLE);
        assert!(Shard::from_record("2/3 by count").is_err());
        assert!(Shard::from_record("2/3 by cost 2").is_err());
    }

    #[test]
    fn text_that_is_no_shard_is_refused() {
        let too_many = format!("0/{}", Shard::MAX_COUNT + 1);
        for text in [
            "", "3", "3/3", "4/3", "0/0", "-1/3", "1/3/5", "a/b", &too_many, "2-1/3", "1-3/3",
            "1-/3",
        ] {
            let error = text.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
    }
}
