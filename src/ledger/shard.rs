use std::fmt;
use std::str::FromStr;

use crate::engine::TaskKey;

/// One of the parts that a run is divided into to be counted separately: `index/count`.
///
/// Shard `i/k` holds the tasks of every plan whose index leaves the remainder `i` when divided by
/// `k`. Neighbouring tasks have similar costs, so shards have too. Every task is in exactly one of
/// the shards `0/k` to `(k−1)/k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

/// A text that names no shard.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a shard: write I/K, with K from 1 to {max} and I from 0 to K − 1, as in 0/3", max = Shard::MAX_COUNT)]
pub struct ShardError(String);

impl Shard {
    /// The only shard of a run that is not divided.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// The most shards there can be.
    pub const MAX_COUNT: u64 = 1 << 16;

    /// The shard `index/count`; `None` unless `index < count ≤ MAX_COUNT`.
    pub fn new(index: u64, count: u64) -> Option<Self> {
        (index < count && count <= Self::MAX_COUNT).then_some(Self { index, count })
    }

    /// How many shards the run is divided into, at least 1.
    pub const fn count(self) -> u64 {
        self.count
    }

    /// Its position among them.
    pub(super) const fn index(self) -> u64 {
        self.index
    }

    /// Whether it holds the task.
    pub const fn holds(self, task: TaskKey) -> bool {
        task.index % self.count == self.index
    }

    /// How many of the first `tasks` tasks of a plan it holds.
    pub const fn tasks_of(self, tasks: u64) -> u64 {
        tasks / self.count + (tasks % self.count > self.index) as u64
    }

    /// All shards that the run of this one is divided into.
    pub fn all(self) -> impl Iterator<Item = Self> {
        (0..self.count).map(move |index| Self { index, ..self })
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        text.split_once('/')
            .and_then(|(index, count)| Self::new(index.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| ShardError(text.to_owned()))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::Engine;

    #[test]
    fn every_task_is_in_exactly_one_shard() {
        let first: Shard = "0/7".parse().unwrap();
        let task = |index| TaskKey {
            n: Size::new(20).unwrap(),
            engine: Engine::Chain,
            version: 1,
            index,
        };
        for index in 0..100 {
            assert_eq!(first.all().filter(|s| s.holds(task(index))).count(), 1);
        }
        for shard in first.all() {
            for tasks in 0..40 {
                let held = (0..tasks).filter(|&i| shard.holds(task(i))).count() as u64;
                assert_eq!(shard.tasks_of(tasks), held);
            }
        }
    }

    #[test]
    fn text_that_is_no_shard_is_refused() {
        for text in [
            "", "3", "3/3", "4/3", "0/0", "-1/3", "1/3/5", "a/b", "0/65537",
        ] {
            let error = text.parse::<Shard>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
        assert_eq!("2/3".parse::<Shard>().unwrap().to_string(), "2/3");
    }
}
