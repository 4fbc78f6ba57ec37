//! The lines of a certificate, and the one way in which each is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use queenfold::board::decimal;
use queenfold::board::{GivenBoard, Size};
use queenfold::engine::{Engine, Tally};
use queenfold::outcome::Outcome;

/// The version of the format, and what is given: of a free board, of one on which something is given, and of what lacks
/// tasks. A reader that does not know what is given, or missing, would take the one for the other.
pub(super) fn format(board: &GivenBoard, is_whole: bool) -> (u32, [Option<String>; 2]) {
    let given = board
        .names()
        .map(|names| (!board.is_free()).then_some(names));
    match (is_whole, board.is_free()) {
        (true, true) => (1, given),
        (true, false) => (2, given),
        (false, _) => (3, given),
    }
}

/// The results of a run in the order of the first line, by their names there; none of what lacks tasks.
pub(super) fn results(outcome: Option<&Outcome>) -> [(&'static str, Option<String>); 4] {
    let symmetric = outcome.and_then(|outcome| outcome.symmetric);
    [
        ("total", outcome.map(|outcome| outcome.total)),
        ("unique", outcome.and_then(Outcome::unique)),
        ("r180", symmetric.map(|counts| counts.r180)),
        ("r90", symmetric.map(|counts| counts.r90)),
    ]
    .map(|(name, count)| (name, count.map(|count| count.to_string())))
}

/// The key of a tally for the partitions that were counted. Only shards have it: whoever merges them keeps it.
pub(super) const PARTITIONS: &str = "partitions";

/// The longest line with its end, in bytes.
pub(super) const LONGEST: u64 = 1 << 20;

/// A line. Its fields tell which it is: those that are read most often come first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Line {
    Task(TaskLine),
    Correction(CorrectionLine),
    Origin(OriginLine),
    Head(Head),
    Root(RootLine),
    Signature(SignatureLine),
}

/// The first line: what was counted, and the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub certificate: u32,
    pub program: String,
    pub n: Size,
    /// The names of the given queens and of the holes; only where something is given on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queens: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holes: Option<String>,
    /// The number of tasks of each plan.
    pub plans: BTreeMap<String, u64>,
    /// The shard and how many tasks of it are here; only where tasks of the run are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<u64>,
    /// Only of a whole run.
    pub total: Option<String>,
    pub unique: Option<String>,
    pub r180: Option<String>,
    pub r90: Option<String>,
    /// How many tasks have a second count.
    pub twice: u64,
    pub corrections: u64,
}

impl Head {
    /// The board; `None` if it is not written as this program writes it.
    pub(super) fn board(&self) -> Option<GivenBoard> {
        let given = [self.queens.clone(), self.holes.clone()];
        let [queens, holes] = given
            .each_ref()
            .map(|names| names.as_deref().unwrap_or_default());
        let board = GivenBoard::parse(self.n, queens, holes).ok()?;
        let format = format(&board, self.shard.is_none());
        (format == (self.certificate, given)).then_some(board)
    }
}

/// Who counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OriginLine {
    pub origin: u64,
    pub session: String,
    pub host: String,
    pub processor: String,
    pub program: String,
    pub worker: String,
    pub backend: String,
    pub device: String,
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskLine {
    pub task: u64,
    pub plan: String,
    pub parts: BTreeMap<String, String>,
    pub tally: Counts,
    pub origin: u64,
    pub again: Option<Count>,
}

/// A tally, and the number of its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Count {
    pub tally: Counts,
    pub origin: u64,
}

/// Counts of the task above that differ, and the place of the one that decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CorrectionLine {
    pub correction: u64,
    pub task: u64,
    pub plan: String,
    pub counts: Vec<Count>,
    pub decision: Option<u64>,
    pub method: Option<String>,
}

/// The Merkle root of the lines above.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RootLine {
    pub root: String,
}

/// A signature of the root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SignatureLine {
    pub host: String,
    pub key: String,
    pub signature: String,
}

/// Completions by weight, or symmetric solutions by turn, as decimal text.
pub(super) type Counts = BTreeMap<String, String>;

/// The counts of a tally that are named in `keys`, and those that are not zero.
pub(super) fn counts_of(tally: &Tally, keys: &[String]) -> Counts {
    let weights = ["1", "2", "4", "8"]
        .into_iter()
        .zip(tally.completions.by_weight());
    let all = weights.chain([("r180", tally.r180), ("r90", tally.r90)]);
    let partitions = keys.iter().any(|key| key == PARTITIONS);
    let all = all.chain(partitions.then_some((PARTITIONS, u128::from(tally.partitions))));
    let there = all.filter(|(key, count)| *count > 0 || keys.iter().any(|own| own == key));
    there
        .map(|(key, count)| (key.to_owned(), count.to_string()))
        .collect()
}

/// The keys of the tally of a task: those of its partitions, and in a shard their number.
pub(super) fn keys_of(parts: &Counts, is_whole: bool) -> Vec<String> {
    let mut keys: Vec<String> = parts.keys().cloned().collect();
    keys.extend((!is_whole).then(|| PARTITIONS.to_owned()));
    keys.sort_unstable();
    keys
}

/// The tally that counts stand for; `None` if they are not written as this program writes them, or if
/// no board has them.
pub(super) fn tally_of(engine: Engine, counts: &Counts) -> Option<Tally> {
    let mut tally = Tally::default();
    for (key, text) in counts {
        let count = decimal::read(text).filter(|count: &u128| *count < 1 << 80)?;
        match (key.as_str(), engine.counts_all()) {
            ("r180", false) => tally.r180 = count,
            ("r90", false) => tally.r90 = count,
            (PARTITIONS, _) => tally.partitions = i64::try_from(count).ok()?.unsigned_abs(),
            ("1" | "2" | "4" | "8", true) => tally.completions.add(key.parse().ok()?, count),
            _ => return None,
        }
    }
    Some(tally)
}

/// A value as canonical JSON in ASCII: no blanks, fields in order, all other characters escaped.
///
/// # Errors
/// Never for the lines of this file.
pub(super) fn canonical(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string(value)?;
    let is_plain = |byte| matches!(byte, b' '..=b'~');
    if text.bytes().all(is_plain) {
        return Ok(text);
    }
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, ' '..='~') {
            line.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                line += &format!("\\u{unit:04x}");
            }
        }
    }
    Ok(line)
}
