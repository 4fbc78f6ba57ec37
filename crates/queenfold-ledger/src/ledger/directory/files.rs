//! The files of a run directory. The directory may come from a stranger, so what is not a regular file is
//! not opened: a link would lead elsewhere, and a pipe would let the reader wait for ever.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::ledger::{FILE, LedgerError, Store};
use crate::system::files as system;
use crate::system::files::{is_removed, is_same, no_detours};

/// What SQLite adds to the name of a database for the files beside it.
pub(crate) const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Whether there is a ledger in `dir`.
///
/// # Errors
/// It, or a file that SQLite keeps beside it, is no regular file, or `dir` is a file.
pub(crate) fn has_ledger(dir: &Path) -> Result<bool, LedgerError> {
    if dir.is_file() {
        return Err(no_directory(dir));
    }
    let file = dir.join(FILE);
    for suffix in BESIDE {
        is_there(&beside(&file, suffix))?;
    }
    is_there(&file)
}

fn no_directory(path: &Path) -> LedgerError {
    LedgerError::Other(format!("{} is a file, not a run directory", path.display()))
}

/// The file that SQLite keeps beside a database file.
pub(crate) fn beside(file: &Path, suffix: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The path by which SQLite opens a file: to the one that is built in, a name that begins with `file:` is a URI.
pub(crate) fn for_sqlite(file: &Path) -> PathBuf {
    Path::new(".").join(file)
}

/// Whether there is a file of this name.
///
/// # Errors
/// It is no regular file, or the system does not say.
pub(crate) fn is_there(file: &Path) -> Result<bool, LedgerError> {
    match fs::symlink_metadata(file) {
        Ok(meta) if meta.is_file() => Ok(true),
        Ok(_) => Err(LedgerError::Other(format!(
            "{} is no regular file, so it is not opened: a run directory holds no links, pipes or devices",
            file.display()
        ))),
        Err(source) if source.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(LedgerError::io(file, source)),
    }
}

/// What else a directory may hold in which a run begins, besides files that begin with `ledger.` and hidden ones: what a
/// run that was killed at its beginning left there, and what a file system has.
const LEFT: [&str; 5] = [
    "history.jsonl",
    "live.json",
    "lock",
    "lost+found",
    "request",
];

/// Whether a file belongs to a run whose ledger lies beside it, or would if it were there.
pub fn belongs_to_run(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    is_own(&name)
        && crate::system::file_kind::folder_of(file)
            .join(FILE)
            .exists()
}

fn is_own(name: &str) -> bool {
    name.starts_with("ledger.") || LEFT.contains(&name)
}

/// Checks that `dir` holds no files of others: nobody would find them again among those of a run, or tell them apart.
///
/// # Errors
/// There are some, or `dir` cannot be read.
pub(crate) fn expect_no_others(dir: &Path) -> Result<(), LedgerError> {
    let failed = |source| LedgerError::io(dir, source);
    for entry in fs::read_dir(dir).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        let name = name.to_string_lossy();
        if !is_own(&name) && !name.starts_with('.') {
            return Err(LedgerError::Unfit(format!(
                "{} is not empty: `{name}` is no file of a run; name an empty directory, or one that does not exist",
                dir.display()
            )));
        }
    }
    Ok(())
}

/// Checks that `dir`, which need not exist, is not inside the directory of a run.
///
/// # Errors
/// It is.
pub fn expect_outside(dir: &Path) -> Result<(), LedgerError> {
    let path = std::path::absolute(dir).map_err(|source| LedgerError::io(dir, source))?;
    let mut above = path.ancestors().skip(1);
    let above = above.find_map(|above| above.canonicalize().ok());
    let mut above = above.iter().flat_map(|above| above.ancestors());
    match above.find(|above| above.join(FILE).is_file()) {
        None => Ok(()),
        Some(run) => Err(LedgerError::Unfit(format!(
            "{} is inside {}, which holds a run; name a directory elsewhere",
            dir.display(),
            run.display()
        ))),
    }
}

/// Makes the directory `dir` and those above it that are missing, so that they survive a power failure.
///
/// # Errors
/// Those of the file system.
pub(crate) fn make_directory(dir: &Path) -> Result<(), LedgerError> {
    if dir.is_dir() {
        return Ok(());
    }
    // The path `run` is relative to the folder with the empty name, which cannot be opened.
    let above = match dir.parent() {
        Some(above) if above.as_os_str().is_empty() => Some(Path::new(".")),
        above => above,
    };
    if let Some(above) = above {
        make_directory(above)?;
    }
    match fs::create_dir(dir) {
        _ if dir.exists() && !dir.is_dir() => {
            return Err(no_directory(dir));
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && dir.is_symlink() => {
            return Err(LedgerError::NoRun(dir.to_owned()));
        }
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !dir.is_dir() => {
            return Err(LedgerError::io(dir, error));
        }
        _ => {}
    }
    above.map_or(Ok(()), sync_directory)
}

/// Makes sure that the content of the file survives a power failure.
///
/// # Errors
/// Those of the file system.
pub(crate) fn sync_file(file: &Path) -> Result<(), LedgerError> {
    // Windows writes out only what may be written.
    system::no_detours()
        .write(true)
        .open(file)
        .and_then(|file| file.sync_all())
        .map_err(|source| LedgerError::io(file, source))
}

/// Makes sure that a new name in the directory survives a power failure.
///
/// # Errors
/// Those of the file system.
pub(crate) fn sync_directory(dir: &Path) -> Result<(), LedgerError> {
    system::sync_directory(dir).map_err(|source| LedgerError::io(dir, source))
}

/// What SQLite needs at least to open a ledger: the index of the write-ahead log, and a page or two.
const SPACE: u64 = 128 << 10;

/// Whether the disk of `file` has space for the index of the write-ahead log, which SQLite maps into
/// memory.
pub(crate) fn has_space(file: &Path) -> bool {
    system::has_space(file, SPACE)
}

/// The ledger's file by what it is, not by its name.
pub(crate) struct Home {
    dir: PathBuf,
    file: File,
}

impl Home {
    /// The place of the ledger in `dir`, which is open.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn of(dir: &Path) -> Result<Self, LedgerError> {
        let path = dir.join(FILE);
        let file = no_detours().read(true).open(&path);
        Ok(Self {
            dir: dir.to_owned(),
            file: file.map_err(|source| LedgerError::io(&path, source))?,
        })
    }

    /// Checks that the name of the ledger still leads to it. If it was removed, its committed records are
    /// saved in a new file, since no other process could open them any more.
    ///
    /// # Errors
    /// It was.
    pub fn check(&self, store: &Store) -> Result<(), LedgerError> {
        let here = |meta: &Metadata| {
            fs::symlink_metadata(self.dir.join(FILE)).is_ok_and(|named| is_same(meta, &named))
        };
        match self.file.metadata() {
            Ok(meta) if here(&meta) => Ok(()),
            Ok(meta) if is_removed(&meta) => {
                let saved = match self.save(store) {
                    Ok(dir) => format!("what was counted is saved in {}", dir.display()),
                    Err(error) => format!("what was counted could not be saved: {error}"),
                };
                Err(self.gone(&format!("removed while the run wrote to it; {saved}")))
            }
            Ok(_) => Err(self.gone(
                "moved or replaced while the run wrote to it; what was counted is in the moved directory",
            )),
            Err(source) => Err(LedgerError::io(&self.dir.join(FILE), source)),
        }
    }

    fn gone(&self, what: &str) -> LedgerError {
        LedgerError::Other(format!("{} was {what}", self.dir.display()))
    }

    /// Writes the records to the directory, or to one beside it if another ledger is there.
    fn save(&self, store: &Store) -> Result<PathBuf, LedgerError> {
        let mut dir = self.dir.clone();
        while dir.join(FILE).exists() {
            dir.as_mut_os_string().push(".saved");
        }
        make_directory(&dir)?;
        store.save_as(&dir.join(FILE))?;
        Ok(dir)
    }
}
