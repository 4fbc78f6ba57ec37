//! The directory of a job array.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::sizes::{parts_for, sizes};
use super::{IndexList, Script};
use crate::board::{GivenBoard, Size};
use crate::engine::{Engine, Plan, PlanName};
use crate::job::plan;
use crate::ledger::{LedgerError, RunInfo, Shard, expect_outside, hex, is_there, read_text};
use crate::system::file_kind::replace;
use crate::system::files::make_secret;
use crate::telemetry::several;

/// The file that describes an array.
pub(super) const DESCRIPTION: &str = "array.json";

/// The secret key of an array whose hosts share nothing. It signs what they send.
pub const KEY: &str = "array.key";

/// The version of the description.
const FORMAT: u32 = 2;

/// The longest file that is read, in bytes. A description has some hundred, or thousands where many hosts count again.
const LONGEST: u64 = 1 << 24;

/// What a job array counts: a board, divided into parts of about the same cost, and the shards that array tasks count, each
/// of neighbouring parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    board: GivenBoard,
    /// The plan that counts all solutions, and that of the census if unique solutions are counted too.
    plans: Vec<PlanName>,
    parts: u64,
    batches: Vec<Batch>,
    /// Shards that need not be counted: smaller ones took their place.
    replaced: IndexList,
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
    /// The hosts that counted these parts before: this is a second count. Empty: a first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    again: Vec<String>,
}

/// Parts that are to be counted, by the hosts that did so before.
type Groups = BTreeMap<Vec<String>, BTreeSet<u64>>;

/// Which parts of an array are to be counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Those that lack the count of a task.
    pub first: BTreeSet<u64>,
    /// Those with a task that no second host has counted, each with the hosts that counted it.
    pub second: BTreeMap<u64, BTreeSet<String>>,
}

/// What an array task counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayShard {
    /// The parts.
    pub shard: Shard,
    /// The hosts that counted them before: this is a second count, for another host. Empty: a first one.
    pub again: Vec<String>,
}

impl ArrayShard {
    /// Its parts that are to be counted.
    fn lacks<'a>(&'a self, lacking: &'a Lacking) -> impl Iterator<Item = u64> + 'a {
        let is_second = !self.again.is_empty();
        let lacks = move |part: &u64| {
            lacking.first.contains(part) || is_second && lacking.second.contains_key(part)
        };
        self.shard.parts().filter(lacks)
    }
}

/// An array as its file says it.
#[derive(Serialize, Deserialize)]
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
    plans: Vec<PlanName>,
    parts: u64,
    shards: Vec<Batch>,
    #[serde(default, skip_serializing_if = "IndexList::is_empty")]
    replaced: IndexList,
}

impl Array {
    /// The array that counts a board, of a size or with something given on it, by `engine` in so many shards;
    /// with the solutions up to symmetry if `unique`.
    ///
    /// # Errors
    /// There are more shards than tasks, or than [`Shard::MAX_COUNT`], or none.
    pub fn new(
        board: impl Into<GivenBoard>,
        engine: Engine,
        unique: bool,
        shards: u64,
    ) -> Result<Self, LedgerError> {
        let board = board.into();
        let counting = plan(engine, board);
        let most = counting.tasks().min(Shard::MAX_COUNT);
        if !(1..=most).contains(&shards) {
            return Err(LedgerError::Unfit(format!(
                "{} by {} has {}, so an array of it has 1 to {most} shards, not {shards}",
                board.in_words(),
                counting.name(),
                several(counting.tasks(), "task")
            )));
        }
        let census = unique.then(|| plan(Engine::Census, board).name());
        let parts = parts_for(shards, most);
        let array = Self {
            board,
            plans: [Some(counting.name()), census]
                .into_iter()
                .flatten()
                .collect(),
            parts,
            batches: Vec::new(),
            replaced: IndexList::default(),
            shards: Vec::new(),
        };
        let all = [(Vec::new(), (0..parts).collect())];
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
        self.plans[0].engine
    }

    /// Whether solutions up to symmetry are counted too.
    pub fn is_unique(&self) -> bool {
        self.plans.len() > 1
    }

    /// The parts that its shards are made of.
    pub const fn parts(&self) -> u64 {
        self.parts
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
        !self.replaced.contains(index)
    }

    /// The numbers of the shards that are to be counted.
    pub fn to_count(&self) -> impl Iterator<Item = u64> {
        (0..self.shards()).filter(|index| self.is_to_count(*index))
    }

    /// Whether this array came of `other` by more shards.
    fn extends(&self, other: &Self) -> bool {
        let same = (&self.board, &self.plans, self.parts);
        same == (&other.board, &other.plans, other.parts)
            && self.batches.starts_with(&other.batches)
    }

    /// Whether a part of the shard of this number is to be counted.
    pub fn lacks(&self, index: u64, lacking: &Lacking) -> bool {
        self.shard(index)
            .is_some_and(|of| of.lacks(lacking).next().is_some())
            && self.is_to_count(index)
    }

    /// Whether nothing is left to count.
    pub fn is_done(&self, lacking: &Lacking) -> bool {
        lacking.first.is_empty() && !(0..self.shards()).any(|index| self.lacks(index, lacking))
    }

    /// With smaller shards in the place of those of the numbers `replaced`, of the parts that they lack, and of those that no
    /// other shard counts for the first time any more.
    #[must_use]
    pub fn with_rest(mut self, replaced: &IndexList, lacking: &Lacking, shards: u64) -> Self {
        let mut rest = Groups::from([(Vec::new(), lacking.first.clone())]);
        self.replaced = self.replaced.iter().chain(replaced.iter()).collect();
        for index in 0..self.shards() {
            let Some(of) = self.shard(index) else {
                continue;
            };
            match (replaced.contains(index), of.again.is_empty()) {
                (true, false) => rest
                    .entry(of.again.clone())
                    .or_default()
                    .extend(of.lacks(lacking)),
                (false, true) if self.is_to_count(index) => {
                    let first = rest.entry(Vec::new()).or_default();
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
        for (part, hosts) in &lacking.second {
            // Of several hosts the others follow, when this one's tasks are counted.
            let host: Vec<String> = hosts.iter().take(1).cloned().collect();
            if !lacking.first.contains(part) {
                groups.entry(host).or_default().insert(*part);
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
        let new = added.iter().flat_map(|batch| batch.shards(self.parts));
        self.shards.extend(new);
        self.batches.extend(added);
        self
    }

    /// The plans, the counting one first.
    pub fn plans(&self) -> Vec<Arc<dyn Plan>> {
        let engines = self.plans.iter().map(|name| name.engine);
        engines.map(|engine| plan(engine, self.board)).collect()
    }

    /// The text of its file.
    #[expect(clippy::expect_used, reason = "numbers and text have a form in JSON")]
    pub(super) fn text(&self) -> String {
        let [queens, holes] = self.board.names();
        let description = Description {
            format: FORMAT,
            n: self.board.size(),
            queens,
            holes,
            plans: self.plans.clone(),
            parts: self.parts,
            shards: self.batches.clone(),
            replaced: self.replaced.clone(),
        };
        serde_json::to_string(&description).expect("plain values") + "\n"
    }

    /// The array that a file describes, or why there is none.
    fn read(text: &str) -> Result<Self, String> {
        let format: Format = serde_json::from_str(text)
            .map_err(|error| format!("it describes no array: {error}"))?;
        if format.format != FORMAT {
            return Err(format!(
                "format {}, and this program reads format {FORMAT}",
                format.format
            ));
        }
        let of: Description = serde_json::from_str(text)
            .map_err(|error| format!("it describes no array: {error}"))?;
        let board = GivenBoard::parse(of.n, &of.queens, &of.holes);
        let shards = of.shards.iter().flat_map(|batch| batch.shards(of.parts));
        let array = Self {
            board: board.map_err(|error| error.to_string())?,
            plans: of.plans,
            parts: of.parts,
            shards: shards.collect(),
            batches: of.shards,
            replaced: of.replaced,
        };
        array.defect().map_or(Ok(array), Err)
    }

    /// What is wrong with it, if it was read from a file.
    fn defect(&self) -> Option<String> {
        let engines: Vec<_> = self.plans.iter().map(|name| name.engine).collect();
        let counts = match engines[..] {
            [engine] | [engine, Engine::Census] => engine.counts_all() && engine != Engine::Own,
            _ => false,
        };
        let firsts = self.shards.iter().filter(|of| of.again.is_empty());
        let parts: BTreeSet<u64> = firsts.flat_map(|of| of.shard.parts()).collect();
        if !counts || self.parts == 0 || !parts.into_iter().eq(0..self.parts) {
            return Some("it describes no array that this program makes".to_owned());
        }
        let own = self.plans().into_iter().map(|plan| plan.name());
        let mut pairs = self.plans.iter().zip(own);
        let (theirs, own) = pairs.find(|(theirs, own)| *theirs != own)?;
        Some(format!(
            "it was made for plan {theirs}, and this program has {own}: finish it with the program that \
             made it"
        ))
    }
}

/// The version of a description, whatever else it says.
#[derive(Deserialize)]
struct Format {
    format: u32,
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
        let plans: Vec<_> = self.plans.iter().map(PlanName::to_string).collect();
        let shards = several(self.to_count().count() as u64, "shard");
        let board = self.board.in_words();
        write!(f, "{board} by {} in {shards}", plans.join(" and "))
    }
}

/// The directory of an array: its description, the scripts that schedulers run, a run directory for each shard
/// below `shards`, what they print in `logs`, and in `whole` the ledger of all.
#[derive(Clone, Debug)]
pub struct ArrayDirectory {
    path: PathBuf,
    array: Array,
}

/// Something in a directory of an array is not what it must be.
pub(super) fn unfit(path: &Path, what: &str) -> LedgerError {
    LedgerError::Unfit(format!("{}: {what}", path.display()))
}

impl ArrayDirectory {
    /// Whether there is the description of an array in `path`.
    pub fn is_there(path: &Path) -> bool {
        path.join(DESCRIPTION).exists()
    }

    /// Makes the directory of `array`, or finds it: the same array may be made again.
    ///
    /// # Errors
    /// Something else is there: another array, a run, or any other file. It cannot be written.
    pub fn make(path: &Path, array: &Array) -> Result<Self, LedgerError> {
        if Self::is_there(path) {
            let there = Self::open(path)?;
            return match there.array.extends(array) {
                true => Ok(there),
                false => Err(LedgerError::Unfit(format!(
                    "{} holds the array of {}, not of {array}: name another directory",
                    path.display(),
                    there.array
                ))),
            };
        }
        let failed = |source| LedgerError::io(path, source);
        match fs::read_dir(path) {
            Ok(mut entries) => {
                if entries.next().is_some() {
                    let why = "not empty, and no job array; name a new directory";
                    return Err(unfit(path, why));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
        }
        expect_outside(path)?;
        for folder in ["shards", "logs"] {
            fs::create_dir_all(path.join(folder)).map_err(failed)?;
        }
        let path = fs::canonicalize(path).map_err(failed)?;
        let made = Self {
            path,
            array: array.clone(),
        };
        made.write(DESCRIPTION, &array.text())?;
        Ok(made)
    }

    /// The hosts that counted the shard in this directory before, if it is one of an array and counts a second time.
    ///
    /// # Errors
    /// The array is not one of this program.
    pub fn counted_before(run: &Path) -> Result<Vec<String>, LedgerError> {
        let run = fs::canonicalize(run).unwrap_or_else(|_| run.to_owned());
        let Some(path) = Self::of_shard(&run) else {
            return Ok(Vec::new());
        };
        let index = run.file_name().and_then(|name| name.to_str()?.parse().ok());
        let array = Self::open(path)?.array;
        let shard = index.and_then(|index| array.shard(index));
        Ok(shard.map(|of| of.again.clone()).unwrap_or_default())
    }

    /// Whether the hosts of the array share nothing: what they count comes home in files that the key of the array signs.
    pub fn shares_nothing(&self) -> bool {
        self.file(KEY).exists()
    }

    /// Finds the array in `path`.
    ///
    /// # Errors
    /// There is none, or it is not one of this program.
    pub fn open(path: &Path) -> Result<Self, LedgerError> {
        let file = path.join(DESCRIPTION);
        if !Self::is_there(path) {
            return Err(unfit(path, "no job array; `queenfold array` makes one"));
        }
        let text = read_text(&file, LONGEST)?.unwrap_or_default();
        let array = Array::read(&text).map_err(|reason| unfit(&file, &reason))?;
        let path = fs::canonicalize(path).map_err(|source| LedgerError::io(path, source))?;
        Ok(Self { path, array })
    }

    /// What is counted.
    pub const fn array(&self) -> &Array {
        &self.array
    }

    /// Where it is: an absolute path without links.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of the array that `run` is a shard of, as its name says it.
    pub fn of_shard(run: &Path) -> Option<&Path> {
        let shards = run.parent().filter(|parent| parent.ends_with("shards"))?;
        shards.parent().filter(|path| Self::is_there(path))
    }

    /// The file of this name.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The run directory of the shard of this number.
    pub fn shard(&self, index: u64) -> PathBuf {
        self.path.join("shards").join(index.to_string())
    }

    /// The run directory with the records of all shards.
    pub fn whole(&self) -> PathBuf {
        self.path.join("whole")
    }

    /// The secret key of the array, in hexadecimal digits. It is made if there is none.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn key(&self) -> Result<String, LedgerError> {
        if let Some(key) = self.read(KEY)? {
            return Ok(key.trim_end().to_owned());
        }
        let random = Path::new("/dev/urandom");
        let mut bytes = [0; 32];
        let read = fs::File::open(random).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(|source| LedgerError::io(random, source))?;
        let key = hex(&bytes);
        self.write_secret(KEY, &format!("{key}\n"))?;
        Ok(key)
    }

    /// The line of a script that says what the array is.
    pub(super) fn description_line(&self) -> String {
        let text = self.array.text();
        format!("description='{}'", text.trim_end().replace('\'', r"'\''"))
    }

    /// Keeps `array`, which came of this one by more shards, in the description and in scripts that say it.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn replace(&mut self, array: Array) -> Result<(), LedgerError> {
        let text = array.text();
        if text.len() as u64 > LONGEST || Array::read(&text).is_err() {
            return Err(unfit(
                &self.path,
                "so many shards are not kept: give fewer --shards",
            ));
        }
        self.array = array;
        for name in Script::all(self).map(Script::name) {
            let script = self.read(&name)?.unwrap_or_default();
            let line = |line: &str| match line.split_once('=') {
                Some(("description", _)) => self.description_line() + "\n",
                Some(("most", _)) => format!("most={}\n", self.array.shards() - 1),
                Some((option @ ("#SBATCH --array" | "#HQ --array"), _)) => {
                    format!("{option}=0-{}\n", self.array.shards() - 1)
                }
                _ => format!("{line}\n"),
            };
            self.write(&name, &script.lines().map(line).collect::<String>())?;
        }
        self.write(DESCRIPTION, &text)
    }

    /// The text of a file of the directory; `None` if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is a link or no regular file.
    pub fn read(&self, name: &str) -> Result<Option<String>, LedgerError> {
        read_text(&self.file(name), LONGEST)
    }

    /// Replaces a file of the directory: whoever reads it sees the old text or the new one.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, text: &str) -> Result<(), LedgerError> {
        let file = self.file(name);
        replace(&file, text.as_bytes()).map_err(|source| LedgerError::io(&file, source))
    }

    /// As [`write`](Self::write), and nobody else can read it.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_secret(&self, name: &str, text: &str) -> Result<(), LedgerError> {
        let file = self.file(name);
        // What replaces a file gets its mode.
        make_secret(&file).map_err(|source| LedgerError::io(&file, source))?;
        self.write(name, text)
    }

    /// Checks that the run in [`whole`](Self::whole) is that of this array.
    pub(super) fn check_whole(&self, info: &RunInfo) -> Result<(), LedgerError> {
        let what = "what was gathered from";
        self.expect(
            &self.whole(),
            info,
            Some(Shard::WHOLE),
            what,
            "move it away and gather again",
        )
    }

    /// Checks that a run counts the board of this array by its plans, and this shard of it.
    fn expect(
        &self,
        path: &Path,
        info: &RunInfo,
        shard: Option<Shard>,
        what: &str,
        helps: &str,
    ) -> Result<(), LedgerError> {
        let plans: Vec<_> = info.plans.iter().map(|plan| plan.name).collect();
        let is_like = info.board == self.array.board && plans == self.array.plans;
        if is_like && shard == Some(info.shard) {
            return Ok(());
        }
        let there = match info.shard {
            Shard::WHOLE => "a run".to_owned(),
            shard => format!("shard {shard}"),
        };
        Err(LedgerError::Unfit(format!(
            "{} holds {there} of {}, and should hold {what} the array of {}: {helps}",
            path.display(),
            info.subject(),
            self.array
        )))
    }

    /// The certificates of shards: those beside the directories of shards, and of `from` the files and what is in folders, by
    /// name.
    ///
    /// # Errors
    /// A folder cannot be read, or one of them is no regular file.
    pub(super) fn files(&self, from: &[PathBuf]) -> Result<Vec<PathBuf>, LedgerError> {
        let mut files = Vec::new();
        for path in [self.file("shards")].iter().chain(from) {
            let failed = |source| LedgerError::io(path, source);
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            for entry in fs::read_dir(path).map_err(failed)? {
                let file = entry.map_err(failed)?.path();
                let is_certificate = file.extension().is_some_and(|ending| ending == "cert");
                files.extend(is_certificate.then_some(file));
            }
        }
        files.sort_unstable();
        files.iter().try_for_each(|file| is_there(file).map(drop))?;
        Ok(files)
    }

    /// Checks that the run in the directory of a shard is that shard of this array.
    pub(super) fn check_shard(&self, index: u64, info: &RunInfo) -> Result<(), LedgerError> {
        let shard = self.array.shard(index).map(|of| of.shard);
        let what = shard.map(|shard| format!("shard {shard} of"));
        let helps = "remove it and submit that shard again";
        self.expect(
            &self.shard(index),
            info,
            shard,
            &what.unwrap_or_default(),
            helps,
        )
    }

    /// Checks that the run in a file is a shard of this array.
    pub(super) fn check_file(&self, path: &Path, info: &RunInfo) -> Result<(), LedgerError> {
        let mut shards = self.array.shards.iter().map(|of| of.shard);
        let own = shards.find(|own| *own == info.shard);
        self.expect(path, info, own, "a shard of", "remove it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    fn array(n: u32, shards: u64) -> Array {
        Array::new(size(n), Engine::Colour, true, shards).unwrap()
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
        let given = Array::new(board, Engine::Chain, false, 2).unwrap();
        let text = given.text();
        assert!(
            text.contains(r#""n":16,"queens":"c3","holes":"d9,a1","plans""#),
            "{text}"
        );
        assert_eq!(Array::read(&text), Ok(given));
        let wrong = Array::read(&text.replace("c3", "q17")).unwrap_err();
        assert!(wrong.contains("`q17` names no square"), "{wrong}");
    }
}
