//! The directory of a job array.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Array, Script};
use crate::ledger::{LedgerError, RunInfo, Shard, expect_outside, has_ledger, hex, read_text};
use crate::system::file_kind::replace;
use crate::system::files::make_secret;

/// The file that describes an array.
pub(super) const DESCRIPTION: &str = "array.json";

/// The secret key of an array whose hosts share nothing. It signs what they send.
pub const KEY: &str = "array.key";

/// The longest file that is read, in bytes. A description has some hundred, or thousands where many hosts count again.
const LONGEST: u64 = 1 << 24;

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
                    "{} holds the array of {}, not of {array}: name another directory, or give the same --shards as at first",
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

    /// The host that counted the shard in this directory before, if it is one of an array and counts a second time.
    ///
    /// # Errors
    /// The array is not one of this program.
    pub fn counted_before(run: &Path) -> Result<Option<String>, LedgerError> {
        let run = fs::canonicalize(run).unwrap_or_else(|_| run.to_owned());
        let Some(path) = Self::of_shard(&run) else {
            return Ok(None);
        };
        let index = run.file_name().and_then(|name| name.to_str()?.parse().ok());
        let array = Self::open(path)?.array;
        Ok(index.and_then(|index| array.shard(index)?.again.clone()))
    }

    /// Whether the hosts of the array share nothing: what they count comes home in files that the key of the array signs.
    pub fn shares_nothing(&self) -> bool {
        self.file(KEY).exists() || self.key_of_scripts().is_some()
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

    /// The secret key that scripts carry.
    fn key_of_scripts(&self) -> Option<String> {
        Script::all(self).find_map(|script| {
            let script = self.read(&script.name()).ok()??;
            let mut lines = script.lines();
            lines.find_map(|line| Some(line.strip_prefix("key=")?.to_owned()))
        })
    }

    /// The secret key of the array, in hexadecimal digits. If there is none, it is that of the scripts, or a new one.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn key(&self) -> Result<String, LedgerError> {
        if let Some(key) = self.read(KEY)? {
            return Ok(key.trim_end().to_owned());
        }
        if let Some(key) = self.key_of_scripts() {
            self.write_secret(KEY, &format!("{key}\n"))?;
            return Ok(key);
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
        if self.array.is_of(info) && shard == Some(info.shard) {
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
    /// A folder cannot be read.
    pub(super) fn files(&self, from: &[PathBuf]) -> Result<Vec<PathBuf>, LedgerError> {
        let mut files = Vec::new();
        for path in [self.file("shards")].iter().chain(from) {
            let failed = |source| LedgerError::io(path, source);
            if !path.is_dir() {
                files.push(path.clone());
                continue;
            }
            if has_ledger(path)? || Self::is_there(path) {
                let what = "a run directory or job array, and not a folder of certificates: `gather` with --into gathers runs";
                return Err(unfit(path, what));
            }
            for entry in fs::read_dir(path).map_err(failed)? {
                let file = entry.map_err(failed)?.path();
                let is_certificate = file.extension().is_some_and(|ending| ending == "cert");
                files.extend(is_certificate.then_some(file));
            }
        }
        files.sort_unstable();
        files.dedup();
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
        let own = self.array.has(info.shard).then_some(info.shard);
        self.expect(path, info, own, "a shard of", "remove it")
    }
}
