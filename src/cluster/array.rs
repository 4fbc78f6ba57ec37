//! The directory of a job array.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::board::{GivenBoard, Size};
use crate::engine::{Engine, Plan, PlanName};
use crate::job::plan;
use crate::ledger::{LedgerError, RunInfo, Shard, expect_outside, is_there, read_text};
use crate::system::file_kind::replace;
use crate::telemetry::several;

/// The file that describes an array.
pub(super) const DESCRIPTION: &str = "array.json";

/// The version of the description.
const FORMAT: u32 = 1;

/// The longest file that is read, in bytes. A description has a hundred, a script some thousand.
const LONGEST: u64 = 1 << 16;

/// What a job array counts: a board, divided into shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    board: GivenBoard,
    /// The plan that counts all solutions, and that of the census if unique solutions are counted too.
    plans: Vec<PlanName>,
    shards: u64,
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
    shards: u64,
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
        Ok(Self {
            board,
            plans: [Some(counting.name()), census]
                .into_iter()
                .flatten()
                .collect(),
            shards,
        })
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

    /// The number of shards, at least 1.
    pub const fn shards(&self) -> u64 {
        self.shards
    }

    /// The shard at a position.
    pub fn shard(&self, index: u64) -> Option<Shard> {
        Shard::new(index, self.shards)
    }

    /// The plans, the counting one first.
    pub fn plans(&self) -> Vec<Arc<dyn Plan>> {
        let engines = self.plans.iter().map(|name| name.engine);
        engines.map(|engine| plan(engine, self.board)).collect()
    }

    /// The text of its file.
    #[expect(clippy::expect_used, reason = "numbers and text have a form in JSON")]
    fn text(&self) -> String {
        let [queens, holes] = self.board.names();
        let description = Description {
            format: FORMAT,
            n: self.board.size(),
            queens,
            holes,
            plans: self.plans.clone(),
            shards: self.shards,
        };
        serde_json::to_string(&description).expect("plain values") + "\n"
    }

    /// The array that a file describes, or why there is none.
    fn read(text: &str) -> Result<Self, String> {
        let of: Description = serde_json::from_str(text)
            .map_err(|error| format!("it describes no array: {error}"))?;
        if of.format != FORMAT {
            return Err(format!(
                "format {}, and this program reads format {FORMAT}",
                of.format
            ));
        }
        let board = GivenBoard::parse(of.n, &of.queens, &of.holes);
        let array = Self {
            board: board.map_err(|error| error.to_string())?,
            plans: of.plans,
            shards: of.shards,
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
        if !counts || self.shard(0).is_none() {
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

/// What is counted, in words: `n = 24 by colour-1 and census-1 in 512 shards`.
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plans: Vec<_> = self.plans.iter().map(PlanName::to_string).collect();
        let plural = if self.shards == 1 { "" } else { "s" };
        write!(
            f,
            "{} by {} in {} shard{plural}",
            self.board.in_words(),
            plans.join(" and "),
            self.shards
        )
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
            return match there.array == *array {
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

    /// The run directory of the shard at a position. All names have the same length.
    pub fn shard(&self, index: u64) -> PathBuf {
        let width = self.name_width();
        self.path.join("shards").join(format!("{index:0width$}"))
    }

    /// The digits in the name of a shard's directory.
    pub(super) fn name_width(&self) -> usize {
        (self.array.shards - 1).to_string().len()
    }

    /// The run directory with the records of all shards.
    pub fn whole(&self) -> PathBuf {
        self.path.join("whole")
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

    /// The certificates of shards that lie beside the directories of shards, by name.
    ///
    /// # Errors
    /// The folder cannot be read, or one of them is no regular file.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>, LedgerError> {
        let folder = self.path.join("shards");
        let list = || {
            let entries = fs::read_dir(&folder)?.map(|entry| Ok(entry?.path()));
            entries.collect::<io::Result<Vec<_>>>()
        };
        let mut files = match list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            listed => listed.map_err(|error| LedgerError::io(&folder, error))?,
        };
        files.retain(|file| file.extension().is_some_and(|ending| ending == "cert"));
        files.sort_unstable();
        files.iter().try_for_each(|file| is_there(file).map(drop))?;
        Ok(files)
    }

    /// Checks that the run in the directory or file of a shard is that shard of this array.
    pub(super) fn check_shard(
        &self,
        path: &Path,
        index: u64,
        info: &RunInfo,
    ) -> Result<(), LedgerError> {
        let what = format!("shard {index}/{} of", self.array.shards);
        let helps = "remove it and submit that shard again";
        self.expect(path, info, self.array.shard(index), &what, helps)
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
                r#"{"format":2,"n":8,"plans":["chain-1"],"shards":1}"#,
                "format 2",
            ),
            (
                r#"{"format":1,"n":8,"plans":[],"shards":1}"#,
                "no array that",
            ),
            (
                r#"{"format":1,"n":8,"plans":["chain-1"],"shards":0}"#,
                "no array that",
            ),
            (
                r#"{"format":1,"n":8,"plans":["census-1"],"shards":1}"#,
                "no array that",
            ),
            (
                r#"{"format":1,"n":8,"plans":["chain-9"],"shards":1}"#,
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
            "{\"format\":1,\"n\":16,\"plans\":[\"colour-1\",\"census-1\"],\"shards\":12}\n"
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
