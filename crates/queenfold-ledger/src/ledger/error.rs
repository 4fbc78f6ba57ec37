//! What can be wrong with a ledger, and what a failure of SQLite or of a disk means for it.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::Store;
use crate::system::files::{has_inodes, is_open_limit};
use queenfold::engine::TaskKey;
use queenfold::outcome::Contradiction;

/// Why there is no run in `dir`.
fn no_run(dir: &Path) -> String {
    let dir_shown = dir.display();
    match (dir.exists(), dir.is_symlink()) {
        (true, _) => format!("{dir_shown} holds no run: there is no {}", super::FILE),
        (false, true) => format!("{dir_shown} is a link to what does not exist"),
        (false, false) => format!("{dir_shown} does not exist"),
    }
}

/// Which run is in `dir`, if that can be read.
fn subject(dir: &Path) -> String {
    Store::open_to_glance(dir).map_or_else(
        |_| String::new(),
        |store| format!(": {}", store.info().subject()),
    )
}

/// Why a ledger cannot be used, or must not be believed. What a caller can act upon has a variant of its own.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// There is no run in this directory.
    #[error("{}", no_run(.0))]
    NoRun(PathBuf),
    /// There is a run in this directory already: it can be continued.
    #[error("{} holds a run already{}", .0.display(), subject(.0))]
    Exists(PathBuf),
    /// What was asked for needs another directory, or other runs: the text says which.
    #[error("{0}")]
    Unfit(String),
    /// Another process works on the directory.
    #[error("{} is in use by another process{holder}", dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// Who holds it, if known: ` (process 17 on host)`.
        holder: String,
    },
    /// Another program has locked the database in this file: it may be free later.
    #[error("{}: another program keeps the ledger locked", .0.display())]
    Busy(PathBuf),
    /// The process that wrote this file was killed in the middle of a commit, on a file system where what it
    /// had begun is undone by the next one that writes.
    #[error("{}: its writer was killed in the middle of a commit; `queenfold resume` undoes that and continues", .0.display())]
    Interrupted(PathBuf),
    /// The file does not hold what was written to it.
    #[error("{} is damaged: {what}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The first damage found.
        what: String,
    },
    /// All tasks are there, and together they are no result.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// Tasks whose counts differ, and no further count has decided which one is right: there is no total.
    #[error(
        "{}: no total, because counts of one task differ, and nothing decides between them: {}",
        file.display(), contested(tasks)
    )]
    Contested {
        /// The file.
        file: PathBuf,
        /// The tasks.
        tasks: Vec<TaskKey>,
    },
    /// A task is recorded with another count.
    #[error("task {task}: {what}")]
    Disagreement {
        /// The task.
        task: TaskKey,
        /// Both counts.
        what: String,
    },
    /// Any other counts that contradict each other.
    #[error("{0}")]
    Counts(String),
    /// Files cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Anything else: a file that is no ledger, or of another program; any other failure of the database.
    #[error("{0}")]
    Other(String),
}

impl LedgerError {
    /// Whether counts contradict each other, as opposed to files that cannot be read or written.
    pub const fn is_mismatch(&self) -> bool {
        matches!(
            self,
            Self::Contradiction(_)
                | Self::Contested { .. }
                | Self::Disagreement { .. }
                | Self::Counts(_)
        )
    }

    /// Whether the directory cannot be written to, but can perhaps be read: the disk is full, or read-only.
    pub fn is_unwritable(&self) -> bool {
        use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
        matches!(self, Self::Io { source, .. }
            if matches!(source.kind(), StorageFull | ReadOnlyFilesystem | PermissionDenied))
    }

    /// An input or output error at `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::StorageFull => Self::disk_full(path),
            _ => Self::Io {
                path: path.to_owned(),
                source,
            },
        }
    }

    /// No space is left for `file`.
    pub(super) fn disk_full(file: &Path) -> Self {
        let why = match has_inodes(parent(file)) {
            true => "the disk is full",
            false => "the file system has no inodes left for more files (`df -i`)",
        };
        let why = format!("{why}; what was committed before is safe");
        Self::Io {
            path: file.to_owned(),
            source: io::Error::new(io::ErrorKind::StorageFull, why),
        }
    }

    /// The file does not hold what was written to it.
    pub(super) fn damaged(file: &Path, what: impl Into<String>) -> Self {
        Self::Damaged {
            file: file.to_owned(),
            what: what.into(),
        }
    }

    /// Anything else, about a file or directory.
    pub(crate) fn other(path: &Path, what: impl fmt::Display) -> Self {
        Self::Other(format!("{}: {what}", path.display()))
    }

    /// What a failed database call means for `file`.
    pub(super) fn sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|error| error.extended_code);
        if extended == Some(rusqlite::ffi::SQLITE_READONLY_ROLLBACK) {
            return Self::Interrupted(file.to_owned());
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::disk_full(file),
            Some(ErrorCode::DatabaseCorrupt) => Self::damaged(file, error.to_string()),
            Some(ErrorCode::DatabaseBusy) => Self::Busy(file.to_owned()),
            // SQLite had none left to say so.
            Some(ErrorCode::OutOfMemory) => Self::other(file, "out of memory"),
            Some(ErrorCode::TooBig) => Self::damaged(
                file,
                "it holds a text that is longer than any that is written",
            ),
            Some(ErrorCode::NotADatabase) => Self::other(
                file,
                "this is no ledger: not an SQLite database, or its header is damaged",
            ),
            Some(ErrorCode::ReadOnly) => {
                Self::other(file, "the file or its directory cannot be written")
            }
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if no_files_left(file) => {
                Self::other(file, FILE_LIMIT)
            }
            Some(ErrorCode::CannotOpen) if !has_inodes(parent(file)) => Self::disk_full(file),
            Some(ErrorCode::CannotOpen) => Self::other(file, not_opened(parent(file))),
            _ => match error {
                // A column holds another type than its declaration allows, or text that is not UTF-8.
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..) => Self::damaged(file, error.to_string()),
                _ => Self::other(file, error),
            },
        }
    }
}

fn parent(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// How many bytes the path of `dir` has, and how many it may have; `None` if it is not too long for SQLite.
fn too_long(dir: &Path) -> Option<(usize, usize)> {
    // `MAX_PATHNAME` of SQLite for Unix, which it compares with the path without links.
    const MOST: usize = 512 - "/ledger.new-journal".len();
    let length = dir.canonicalize().ok()?.as_os_str().len();
    (cfg!(unix) && length > MOST).then_some((length, MOST))
}

/// Why SQLite cannot open a file in `dir`.
fn not_opened(dir: &Path) -> String {
    match too_long(dir) {
        Some((length, most)) => format!(
            "the path of this directory has {length} bytes, and SQLite takes at most {most}; a shorter one is needed"
        ),
        None => "cannot be opened; a ledger that is being written, or whose writer was killed, can be read only where \
                 its directory can be written"
            .to_owned(),
    }
}

/// Whether this process may not open as many files as SQLite needs: the database, its log, the index of
/// the log, and the directory. SQLite does not say so itself.
fn no_files_left(file: &Path) -> bool {
    const NEEDED: usize = 4;
    let opened: Vec<_> = (0..NEEDED).map(|_| File::open(parent(file))).collect();
    let failed = |opened: &io::Result<File>| opened.as_ref().is_err_and(is_open_limit);
    opened.iter().any(failed)
}

/// What helps a process that has as many open files as it may.
pub const FILE_LIMIT: &str =
    "this process has too many open files; `ulimit -n` shows and raises the limit";

/// Some of the tasks that are contested, and how many there are.
fn contested(tasks: &[TaskKey]) -> String {
    const SHOWN: usize = 5;
    let names: Vec<_> = tasks.iter().take(SHOWN).map(TaskKey::to_string).collect();
    let more = match tasks.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", names.join(", "))
}
