use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::board::Size;
use crate::engine::{PlanName, Tally, TaskKey};
use crate::outcome::Contradiction;
use crate::system::files::{has_inodes, is_open_limit};
use crate::telemetry::several;

/// Why there is no run in `dir`.
fn no_run(dir: &Path) -> String {
    let dir_shown = dir.display();
    match (dir.exists(), dir.is_symlink()) {
        (true, _) => format!("{dir_shown} holds no run: there is no {}", super::FILE),
        (false, true) => format!("{dir_shown} is a link to what does not exist"),
        (false, false) => format!("{dir_shown} does not exist"),
    }
}

/// Why a ledger cannot be used, or must not be believed.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// There is no run in the directory.
    #[error("{}", no_run(dir))]
    NoRun {
        /// The directory.
        dir: PathBuf,
    },
    /// What should be the directory of a run is a file.
    #[error("{} is a file, not a run directory", path.display())]
    NotDirectory {
        /// The file.
        path: PathBuf,
    },
    /// There is a run in the directory already.
    #[error("{} holds a run already", dir.display())]
    Exists {
        /// The directory.
        dir: PathBuf,
    },
    /// A new run is to be in a directory with files of others.
    #[error(
        "{} is not empty: `{file}` is no file of a run; name an empty directory, or one that does not exist",
        dir.display()
    )]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
        /// One of the files.
        file: String,
    },
    /// A new run is to be in the directory of another one.
    #[error("{} is inside {}, which holds a run; name a directory elsewhere", dir.display(), run.display())]
    Inside {
        /// The directory.
        dir: PathBuf,
        /// That of the other run.
        run: PathBuf,
    },
    /// The plan has more tasks than a ledger keeps.
    #[error("{plan} of n = {n} has {tasks} tasks, and a ledger keeps at most {most}")]
    TooLong {
        /// The plan.
        plan: PlanName,
        /// The board.
        n: Size,
        /// Its tasks.
        tasks: u64,
        /// The most that a ledger keeps.
        most: u64,
    },
    /// A file of the directory is a link, a pipe or a device, and was not opened.
    #[error("{} is no regular file, so it is not opened: a run directory holds no links, pipes or devices", path.display())]
    NotRegular {
        /// What it is called.
        path: PathBuf,
    },
    /// Another process works on the directory.
    #[error("{} is in use by another process{holder}", dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// Who holds it, if known: ` (process 17 on host)`.
        holder: String,
    },
    /// The file is not a ledger, or one that this program cannot read.
    #[error("{}: {reason}", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// What was found.
        reason: String,
    },
    /// The run was made with other tasks than this program would count.
    #[error("{}: {reason}", file.display())]
    OtherPlan {
        /// The file.
        file: PathBuf,
        /// Which plan differs, and how.
        reason: String,
    },
    /// Two runs that were to be merged count different boards, or by different engines.
    #[error(
        "{} holds {first}, and {} holds {second}: only runs of the same board by the same engines \
         can be merged or compared", one.display(), other.display()
    )]
    Unlike {
        /// The directory of the first run.
        one: PathBuf,
        /// What it counts.
        first: String,
        /// The directory of another run.
        other: PathBuf,
        /// What that one counts.
        second: String,
    },
    /// The file does not hold what was written to it.
    #[error("{} is damaged: {what}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The first damage found.
        what: String,
    },
    /// The directory of a run was moved or replaced while the run wrote to it.
    #[error("{} was moved or replaced while the run wrote to it; what was counted is in the moved directory", dir.display())]
    Moved {
        /// Where it was.
        dir: PathBuf,
    },
    /// The directory of a run was removed while the run wrote to it.
    #[error("{} was removed while the run wrote to it; {}", dir.display(), saved_in(saved))]
    Removed {
        /// Where it was.
        dir: PathBuf,
        /// Where the records were saved, or why they could not be.
        saved: Result<PathBuf, String>,
    },
    /// Another program has locked the database.
    #[error("{}: another program keeps the ledger locked", file.display())]
    Busy {
        /// The file.
        file: PathBuf,
    },
    /// Two sessions have one id, and say different things: one of them is forged.
    #[error("{}: its session {id} is not the session of this id that is to be merged; one of the two is forged", file.display())]
    OtherSession {
        /// The file of the run that receives.
        file: PathBuf,
        /// The id.
        id: String,
    },
    /// All tasks are there, and together they are no result.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// The counts in a file contradict each other.
    #[error("{}: {what}", file.display())]
    Counts {
        /// The file.
        file: PathBuf,
        /// Which, and where.
        what: String,
    },
    /// The counts of one task in one ledger differ, and its log of corrections does not say why.
    #[error("{}: task {task} contradicts itself: {what}", file.display())]
    Contradicted {
        /// The file.
        file: PathBuf,
        /// The task.
        task: TaskKey,
        /// What differs.
        what: &'static str,
    },
    /// Nobody of that name counted in the run.
    #[error("{}: `{origin}` names no host, device or worker that counted; `queenfold report` shows who did", file.display())]
    NoOrigin {
        /// The file.
        file: PathBuf,
        /// The name.
        origin: String,
    },
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
    /// Two counts of one task differ.
    #[error(
        "task {task} (ranks {}..{}) was counted twice with different results: {} by {}, {} by {}",
        ranks.start, ranks.end,
        counts[0].0.exact(), counts[0].1, counts[1].0.exact(), counts[1].1
    )]
    Disagreement {
        /// The task.
        task: TaskKey,
        /// Its ranks.
        ranks: Range<u64>,
        /// Both tallies, each with what counted it.
        counts: Box<[(Tally, String); 2]>,
    },
    /// Counts of one task of a run that was to be merged.
    #[error("{}: task {task} was counted as {}; nothing is merged", dir.display(), counts.join(", and as "))]
    Refused {
        /// The directory of that run.
        dir: PathBuf,
        /// The task.
        task: TaskKey,
        /// The counts that are known, each with who made it, and the one that was made here, if there is one.
        counts: Vec<String>,
    },
    /// More of its decisions than are counted here differ from what is there.
    #[error(
        "{}: its log decides more tasks than are checked in a minute; nothing is merged: merge it into a new directory, or \
         remove that of what was gathered and gather again", dir.display()
    )]
    TooManyDecisions {
        /// The directory of the run that was to be merged.
        dir: PathBuf,
    },
    /// Sessions that were to be taken out did not come by a merge.
    #[error(
        "{}: not taken out: {} that counted here or came by `gather`: give an id in the place of the directory to take one out: {}",
        dir.display(), several(sessions.len() as u64, "session"), sessions.join(", ")
    )]
    OwnSessions {
        /// The directory.
        dir: PathBuf,
        /// The sessions.
        sessions: Vec<String>,
    },
    /// The process that wrote the ledger was killed in the middle of a commit, on a file system where what it
    /// had begun is undone by the next one that writes.
    #[error(
        "{}: its writer was killed in the middle of a commit; `queenfold resume` undoes that and continues",
        file.display()
    )]
    Interrupted {
        /// The file.
        file: PathBuf,
    },
    /// The file system does not lock files, so nothing would keep two processes from writing to one run.
    #[error(
        "{}: this file system does not lock files (Lustre does if mounted with `flock`): use a directory on \
         another one",
        path.display()
    )]
    NoLocks {
        /// The lock file.
        path: PathBuf,
    },
    /// No space is left for the ledger.
    #[error("{}: {}; what was committed before is safe", file.display(), full(file))]
    DiskFull {
        /// The file.
        file: PathBuf,
    },
    /// Files cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Any other failure of the database.
    #[error("{}: {reason}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// What SQLite said.
        reason: String,
    },
}

impl LedgerError {
    /// Whether counts contradict each other, as opposed to files that cannot be read or written.
    pub const fn is_mismatch(&self) -> bool {
        matches!(
            self,
            Self::Disagreement { .. }
                | Self::Refused { .. }
                | Self::Counts { .. }
                | Self::Contradicted { .. }
                | Self::Contested { .. }
                | Self::Contradiction(_)
        )
    }

    /// Whether the directory cannot be written to, but can perhaps be read: the disk is full, or read-only.
    pub fn is_unwritable(&self) -> bool {
        match self {
            Self::DiskFull { .. } => true,
            Self::Io { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied
            ),
            _ => false,
        }
    }

    /// An input or output error at `path`.
    pub(super) fn io(path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull {
            return Self::DiskFull {
                file: path.to_owned(),
            };
        }
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }

    /// What a failed database call means for `file`.
    pub(super) fn sqlite(file: &Path, error: &rusqlite::Error) -> Self {
        let file = file.to_owned();
        let extended = error.sqlite_error().map(|error| error.extended_code);
        if extended == Some(rusqlite::ffi::SQLITE_READONLY_ROLLBACK) {
            return Self::Interrupted { file };
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::DiskFull { file },
            Some(ErrorCode::DatabaseCorrupt) => Self::Damaged {
                file,
                what: error.to_string(),
            },
            Some(ErrorCode::DatabaseBusy) => Self::Busy { file },
            // SQLite had none left to say so.
            Some(ErrorCode::OutOfMemory) => Self::Database {
                file,
                reason: "out of memory".to_owned(),
            },
            Some(ErrorCode::TooBig) => Self::Damaged {
                file,
                what: "it holds a text that is longer than any that is written".to_owned(),
            },
            Some(ErrorCode::NotADatabase) => Self::Format {
                file,
                reason: "this is no ledger: not an SQLite database, or its header is damaged"
                    .to_owned(),
            },
            Some(ErrorCode::ReadOnly) => Self::Database {
                file,
                reason: "the file or its directory cannot be written".to_owned(),
            },
            Some(ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) if no_files_left(&file) => {
                Self::Database {
                    file,
                    reason: FILE_LIMIT.to_owned(),
                }
            }
            Some(ErrorCode::CannotOpen) if !has_inodes(parent(&file)) => Self::DiskFull { file },
            Some(ErrorCode::CannotOpen) => Self::Database {
                reason: not_opened(parent(&file)),
                file,
            },
            _ => match error {
                // A column holds another type than its declaration allows, or text that is not UTF-8.
                rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::IntegralValueOutOfRange(..)
                | rusqlite::Error::Utf8Error(..) => Self::Damaged {
                    file,
                    what: error.to_string(),
                },
                _ => Self::Database {
                    file,
                    reason: error.to_string(),
                },
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

/// What a disk is out of where there is no space for a file.
fn full(file: &Path) -> &'static str {
    match has_inodes(parent(file)) {
        true => "the disk is full",
        false => "the file system has no inodes left for more files (`df -i`)",
    }
}

/// Whether this process may not open as many files as SQLite needs: the database, its log, the index of
/// the log, and the directory. SQLite does not say so itself.
fn no_files_left(file: &Path) -> bool {
    const NEEDED: usize = 4;
    let opened: Vec<_> = (0..NEEDED).map(|_| File::open(parent(file))).collect();
    opened
        .iter()
        .any(|opened| opened.as_ref().is_err_and(is_file_limit))
}

/// What helps where [`is_file_limit`] holds.
pub const FILE_LIMIT: &str =
    "this process has too many open files; `ulimit -n` shows and raises the limit";

/// Whether the process, or the system, has as many open files as it may.
pub fn is_file_limit(error: &io::Error) -> bool {
    is_open_limit(error)
}

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

fn saved_in(saved: &Result<PathBuf, String>) -> String {
    match saved {
        Ok(dir) => format!("what was counted is saved in {}", dir.display()),
        Err(error) => format!("what was counted could not be saved: {error}"),
    }
}
