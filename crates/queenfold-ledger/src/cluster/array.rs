//! What a job array counts: shards of a board.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::IndexList;
use super::sizes::{parts_for, sizes};
use crate::ledger::{LedgerError, RunInfo, Shard};
use queenfold::board::{GivenBoard, Size};
use queenfold::engine::{Engine, Plan, PlanName};
use queenfold::job::plans;
use queenfold::words::several;

/// The version of the description.
const FORMAT: u32 = 2;

/// What a job array counts: a board, divided into parts of about the same cost, and the shards that array tasks count, each
/// of neighbouring parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    board: GivenBoard,
    file: Description,
    /// Those that the file says, each by itself.
    shards: Vec<ArrayShard>,
}

/// Neighbours among the shards of an array, as its file says them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Batch {
    /// Their parts.
    parts: IndexList,
    /// The parts of each, from the last one on. Where neighbouring parts end, a shard has fewer.
    size: u64,
    /// The host that counted these parts before: this is a second count. `None`: a first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    again: Option<String>,
}

/// Parts that are to be counted, by the host that did so before.
type Groups = BTreeMap<Option<String>, BTreeSet<u64>>;

/// Which parts of an array are to be counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Those that lack the count of a task.
    pub first: BTreeSet<u64>,
    /// Those with a task that no second host has counted, each with the host that did. Of several the others follow, when what
    /// this one counted is counted again.
    pub second: BTreeMap<u64, String>,
}

/// What an array task counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayShard {
    /// The parts.
    pub shard: Shard,
    /// The host that counted them before: this is a second count, for another host. `None`: a first one.
    pub again: Option<String>,
}

impl ArrayShard {
    /// Its parts that are to be counted.
    fn lacks<'a>(&'a self, lacking: &'a Lacking) -> impl Iterator<Item = u64> + 'a {
        let is_second = self.again.is_some();
        let lacks = move |part: &u64| {
            lacking.first.contains(part) || is_second && lacking.second.contains_key(part)
        };
        self.shard.parts().filter(lacks)
    }
}

/// An array as its file says it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    format: u32,
    n: Size,
    /// The names of the given queens and of the holes, separated by commas. They are left out where there are none, so that a
    /// program that does not know them refuses a given board only.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    queens: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    holes: String,
    /// The plan that counts all solutions, and that of the census, which arrays of earlier versions may lack.
    plans: Vec<PlanName>,
    parts: u64,
    shards: Vec<Batch>,
    /// Shards that need not be counted: smaller ones took their place.
    #[serde(default, skip_serializing_if = "IndexList::is_empty")]
    replaced: IndexList,
}

impl Array {
    /// The array that counts a board, of a size or with something given on it, by `engine` in so many shards.
    ///
    /// # Errors
    /// There are more shards than tasks, or than [`Shard::MAX_COUNT`], or none.
    pub fn new(
        board: impl Into<GivenBoard>,
        engine: Engine,
        shards: u64,
    ) -> Result<Self, LedgerError> {
        let board = board.into();
        let plans = plans(board, [engine, Engine::Census]);
        let counting = &plans[0];
        let most = counting.tasks().min(Shard::MAX_COUNT);
        if !(1..=most).contains(&shards) {
            return Err(LedgerError::Unfit(format!(
                "{} by {} has {}, so an array of it has 1 to {most} shards, not {shards}",
                board.in_words(),
                counting.name(),
                several(counting.tasks(), "task")
            )));
        }
        let parts = parts_for(shards, most);
        let [queens, holes] = board.names();
        let names = plans.iter().map(|plan| plan.name());
        let array = Self {
            board,
            file: Description {
                format: FORMAT,
                n: board.size(),
                queens,
                holes,
                plans: names.collect(),
                parts,
                shards: Vec::new(),
                replaced: IndexList::default(),
            },
            shards: Vec::new(),
        };
        let all = [(None, (0..parts).collect())];
        Ok(array.with_shards(all.into(), shards))
    }

    /// The board.
    pub const fn board(&self) -> &GivenBoard {
        &self.board
    }

    /// The board in a file name: `n24`, or `n24-given` if something is given on it.
    pub fn short_name(&self) -> String {
        let given = if self.board.is_free() { "" } else { "-given" };
        format!("n{}{given}", self.board.size())
    }

    /// The engine that counts all solutions.
    pub fn engine(&self) -> Engine {
        self.file.plans[0].engine
    }

    /// Whether solutions up to symmetry are counted too.
    pub fn is_unique(&self) -> bool {
        self.file.plans.len() > 1
    }

    /// The parts that its shards are made of.
    pub const fn parts(&self) -> u64 {
        self.file.parts
    }

    /// The shard that the array task of this number counts.
    pub fn shard(&self, index: u64) -> Option<&ArrayShard> {
        self.shards.get(usize::try_from(index).ok()?)
    }

    /// How many shards there are, at least 1, with those that were replaced.
    pub fn shards(&self) -> u64 {
        self.shards.len() as u64
    }

    /// Whether the shard of this number is to be counted: all are but those that were replaced by smaller ones.
    pub fn is_to_count(&self, index: u64) -> bool {
        !self.file.replaced.contains(index)
    }

    /// The numbers of the shards that are to be counted.
    pub fn to_count(&self) -> impl Iterator<Item = u64> {
        (0..self.shards()).filter(|index| self.is_to_count(*index))
    }

    /// Whether this array came of `other` by more shards.
    pub(super) fn extends(&self, other: &Self) -> bool {
        let same = (&self.board, &self.file.plans, self.file.parts);
        same == (&other.board, &other.file.plans, other.file.parts)
            && self.file.shards.starts_with(&other.file.shards)
    }

    /// Whether this run counts the same board by the same plans.
    pub(super) fn is_of(&self, info: &RunInfo) -> bool {
        let plans = info.plans.iter().map(|plan| &plan.name);
        info.board == self.board && plans.eq(&self.file.plans)
    }

    /// Whether the array has this very shard, replaced or not.
    pub(super) fn has(&self, shard: Shard) -> bool {
        self.shards.iter().any(|of| of.shard == shard)
    }

    /// Whether a part of the shard of this number is to be counted.
    pub fn lacks(&self, index: u64, lacking: &Lacking) -> bool {
        self.shard(index)
            .is_some_and(|of| of.lacks(lacking).next().is_some())
            && self.is_to_count(index)
    }

    /// Whether nothing is left to count: on two hosts, if there are shards for that.
    pub fn is_done(&self, lacking: &Lacking) -> bool {
        let has_second = self.shards.iter().any(|of| of.again.is_some());
        lacking.first.is_empty() && (!has_second || lacking.second.is_empty())
    }

    /// With smaller shards in the place of those of the numbers `replaced` that have several parts: of the parts that they lack,
    /// and of those that no other shard counts for the first time any more.
    #[must_use]
    pub fn with_rest(mut self, replaced: &IndexList, lacking: &Lacking, shards: u64) -> Self {
        let parts = |index: &u64| self.shard(*index).map_or(0, |of| of.shard.parts().count());
        let replaced: IndexList = replaced.iter().filter(|index| parts(index) > 1).collect();
        let mut rest = Groups::from([(None, lacking.first.clone())]);
        self.file.replaced = self.file.replaced.iter().chain(replaced.iter()).collect();
        for index in 0..self.shards() {
            let Some(of) = self.shard(index) else {
                continue;
            };
            match (replaced.contains(index), of.again.is_some()) {
                (true, true) => rest
                    .entry(of.again.clone())
                    .or_default()
                    .extend(of.lacks(lacking)),
                (false, false) if self.is_to_count(index) => {
                    let first = rest.entry(None).or_default();
                    of.shard.parts().for_each(|part| _ = first.remove(&part));
                }
                _ => {}
            }
        }
        self.with_shards(rest, shards)
    }

    /// With shards that count a second time what was counted once, each on another host.
    #[must_use]
    pub fn with_again(self, lacking: &Lacking, shards: u64) -> Self {
        let mut groups = Groups::new();
        for (part, host) in &lacking.second {
            if !lacking.first.contains(part) {
                groups.entry(Some(host.clone())).or_default().insert(*part);
            }
        }
        for of in self.to_count().filter_map(|index| self.shard(index)) {
            if let Some(parts) = groups.get_mut(&of.again) {
                of.shard.parts().for_each(|part| _ = parts.remove(&part));
            }
        }
        self.with_shards(groups, shards)
    }

    /// With about so many more shards of these parts, the largest first.
    fn with_shards(mut self, groups: Groups, shards: u64) -> Self {
        let all: usize = groups.values().map(BTreeSet::len).sum();
        let mut added = Vec::new();
        for (again, parts) in groups {
            // The last parts of a plan are the dearest, so they come first.
            let mut parts = parts.into_iter().rev();
            // The certificate of a shard that is the whole run would be that of the run, which is not gathered.
            let share = (shards * parts.len() as u64)
                .div_ceil(all.max(1) as u64)
                .max(2);
            for batch in sizes(parts.len() as u64, share).chunk_by(u64::eq) {
                let size = batch[0];
                added.push(Batch {
                    parts: parts.by_ref().take(batch.len() * size as usize).collect(),
                    size,
                    again: again.clone(),
                });
            }
        }
        added.sort_by_key(|batch| Reverse(batch.size));
        let new = added.iter().flat_map(|batch| batch.shards(self.file.parts));
        self.shards.extend(new);
        self.file.shards.extend(added);
        self
    }

    /// The plans, the counting one first.
    pub fn plans(&self) -> Vec<Arc<dyn Plan>> {
        plans(self.board, self.file.plans.iter().map(|name| name.engine))
    }

    /// The text of its file.
    #[expect(clippy::expect_used, reason = "numbers and text have a form in JSON")]
    pub(super) fn text(&self) -> String {
        serde_json::to_string(&self.file).expect("plain values") + "\n"
    }

    /// The array that a file describes, or why there is none.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let no_array = |error| format!("it describes no array: {error}");
        let value: Value = serde_json::from_str(text).map_err(no_array)?;
        let format = &value["format"];
        if format.is_number() && *format != FORMAT {
            return Err(format!(
                "format {format}, and this program reads format {FORMAT}"
            ));
        }
        let file: Description = serde_json::from_value(value).map_err(no_array)?;
        let board = GivenBoard::parse(file.n, &file.queens, &file.holes);
        let shards = file.shards.iter().flat_map(|of| of.shards(file.parts));
        let array = Self {
            board: board.map_err(|error| error.to_string())?,
            shards: shards.collect(),
            file,
        };
        array.defect().map_or(Ok(array), Err)
    }

    /// What is wrong with it, if it was read from a file.
    fn defect(&self) -> Option<String> {
        let engines: Vec<_> = self.file.plans.iter().map(|name| name.engine).collect();
        let counts = match engines[..] {
            [engine] | [engine, Engine::Census] => engine.counts_all() && engine != Engine::Own,
            _ => false,
        };
        let firsts = self.shards.iter().filter(|of| of.again.is_none());
        let parts: BTreeSet<u64> = firsts.flat_map(|of| of.shard.parts()).collect();
        if !counts || self.file.parts == 0 || !parts.into_iter().eq(0..self.file.parts) {
            return Some("it describes no array that this program makes".to_owned());
        }
        let own = self.plans().into_iter().map(|plan| plan.name());
        let mut pairs = self.file.plans.iter().zip(own);
        let (theirs, own) = pairs.find(|(theirs, own)| *theirs != own)?;
        Some(format!(
            "it was made for plan {theirs}, and this program has {own}: finish it with the program that \
             made it"
        ))
    }
}

impl Batch {
    /// The shards, of a run of so many parts.
    fn shards(&self, of: u64) -> impl Iterator<Item = ArrayShard> {
        let size = self.size.max(1);
        let runs = self.parts.runs().rev();
        let shards = runs.flat_map(move |(first, last)| {
            let ends = (first..=last).rev().step_by(size as usize);
            ends.filter_map(move |end| {
                let start = first.max((end + 1).saturating_sub(size));
                Shard::of_parts(start, end, of)
            })
        });
        shards.map(|shard| ArrayShard {
            shard,
            again: self.again.clone(),
        })
    }
}

/// What is counted, in words: `n = 24 by colour-1 and census-1 in 512 shards`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plans: Vec<_> = self.file.plans.iter().map(PlanName::to_string).collect();
        let of = self.to_count().filter_map(|index| self.shard(index));
        let (firsts, seconds): (Vec<_>, Vec<_>) = of.partition(|of| of.again.is_none());
        let shards = several(firsts.len() as u64, "shard");
        let board = self.board.in_words();
        write!(f, "{board} by {} in {shards}", plans.join(" and "))?;
        match seconds.len() {
            0 => Ok(()),
            again => write!(f, " and {again} of second counts"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    fn array(n: u32, shards: u64) -> Array {
        Array::new(size(n), Engine::Colour, shards).unwrap()
    }

    #[test]
    fn what_describes_no_array_of_this_program_is_refused() {
        for (text, why) in [
            ("{", "it describes no array"),
            (
                r#"{"format":1,"n":8,"plans":["chain-1"],"shards":1}"#,
                "format 1",
            ),
            (
                r#"{"format":2,"n":8,"plans":[],"parts":2,"shards":[{"parts":"0-1","size":1}]}"#,
                "no array that",
            ),
            (
                r#"{"format":2,"n":8,"plans":["chain-1"],"parts":2,"shards":[{"parts":"0","size":1}]}"#,
                "no array that",
            ),
            (
                r#"{"format":2,"n":8,"plans":["census-1"],"parts":2,"shards":[{"parts":"0-1","size":1}]}"#,
                "no array that",
            ),
            (
                r#"{"format":2,"n":8,"plans":["chain-9"],"parts":2,"shards":[{"parts":"0-1","size":1}]}"#,
                "made for plan chain-9",
            ),
        ] {
            let said = Array::read(text).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_given_board_is_described_and_a_free_one_as_before() {
        assert_eq!(
            array(16, 12).text(),
            concat!(
                r#"{"format":2,"n":16,"plans":["colour-1","census-1"],"parts":32,"shards":["#,
                r#"{"parts":"14-31","size":6},{"parts":"8-13","size":3},{"parts":"6-7","size":2},"#,
                r#"{"parts":"0-5","size":1}]}"#,
                "\n"
            )
        );
        let board = GivenBoard::parse(size(16), "c3", "d9,a1").unwrap();
        let given = Array::new(board, Engine::Chain, 2).unwrap();
        let text = given.text();
        assert!(
            text.contains(r#""n":16,"queens":"c3","holes":"d9,a1","plans""#),
            "{text}"
        );
        assert_eq!(Array::read(&text), Ok(given));
        // Earlier versions could leave the census out.
        let alone = Array::read(&text.replace(r#","census-1""#, "")).unwrap();
        assert!(!alone.is_unique());
        let wrong = Array::read(&text.replace("c3", "q17")).unwrap_err();
        assert!(wrong.contains("`q17` names no square"), "{wrong}");
    }
}
