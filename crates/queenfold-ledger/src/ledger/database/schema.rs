//! The layout of the database file (the record format and its version), and the settings of SQLite.
//! `docs/FORMATS.md` explains both.

use std::fs::Metadata;
use std::path::Path;
use std::time::Duration;

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use crate::ledger::database::file_system::Journal;
use crate::ledger::{LedgerError, files};

/// The version of the layout, kept in the file as `user_version`. A change of the tables or of
/// what a digest covers raises it, and `docs/FORMATS.md` says how to read older files. The contexts
/// in `digest.rs` change only if what they cover changes.
pub const FORMAT: i32 = 2;

/// Marks the file as a ledger: `qnfl` in ASCII, kept in the file as `application_id`.
const APPLICATION_ID: i32 = 0x716e_666c;

/// The table that names the program which wrote the file, in every format.
const META: &str = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, blake3 BLOB NOT \
     NULL) STRICT, WITHOUT ROWID";

/// The table of results with this name.
macro_rules! counts {
    ($name:literal) => {
        concat!(
            "CREATE TABLE ",
            $name,
            " (engine TEXT NOT NULL, task INTEGER NOT NULL, weight1 TEXT NOT NULL, \
             weight2 TEXT NOT NULL, weight4 TEXT NOT NULL, weight8 TEXT NOT NULL, r180 TEXT NOT NULL, \
             r90 TEXT NOT NULL, partitions INTEGER NOT NULL, nodes INTEGER NOT NULL, backend TEXT NOT NULL, \
             device TEXT NOT NULL, worker TEXT NOT NULL, audited_by TEXT, session TEXT NOT NULL, \
             duration_us INTEGER NOT NULL, recorded_at INTEGER NOT NULL, blake3 BLOB NOT NULL, \
             PRIMARY KEY (engine, task)) STRICT, WITHOUT ROWID"
        )
    };
}

/// The tables, in the order of their names. SQLite keeps these texts in the file, and a file whose
/// texts differ is refused.
const TABLES: [&str; 5] = [
    "CREATE TABLE correction (engine TEXT NOT NULL, task INTEGER NOT NULL, number INTEGER NOT NULL, \
     correction TEXT NOT NULL, session TEXT NOT NULL, recorded_at INTEGER NOT NULL, blake3 BLOB NOT NULL, \
     PRIMARY KEY (engine, task, number)) STRICT, WITHOUT ROWID",
    META,
    counts!("record"),
    counts!("second"),
    "CREATE TABLE session (id TEXT PRIMARY KEY, facts TEXT NOT NULL, elapsed_ms INTEGER NOT NULL, \
     committed INTEGER NOT NULL, blake3 BLOB NOT NULL) STRICT, WITHOUT ROWID",
];

/// The longest text or row, in bytes. The longest that is written, the configuration, has a few thousand.
const LONGEST: i32 = 1 << 20;

/// The most memory that SQLite takes for all ledgers of this process, in bytes. It needs a tenth.
const MEMORY: i64 = 64 << 20;

/// How long a writer waits for another connection. None holds the file for longer than a commit.
const BUSY: Duration = Duration::from_secs(30);

/// Makes the tables in an empty database.
pub(crate) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", FORMAT)?;
    TABLES.iter().try_for_each(|sql| {
        connection.execute(sql, [])?;
        Ok(())
    })
}

/// Opens the file for writing, durably: see `docs/FORMATS.md` for each setting.
pub(crate) fn open_to_write(file: &Path) -> Result<Connection, LedgerError> {
    if !files::has_space(file) {
        return Err(LedgerError::disk_full(file));
    }
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(files::for_sqlite(file), flags)?;
        common(&connection)?;
        choose_journal(&connection, file.parent().unwrap_or(file))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "fullfsync", true)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true)?;
        Ok(connection)
    };
    open().map_err(|error| LedgerError::sqlite(file, &error))
}

/// Makes a ledger that is gone when it is closed. What does not fit into its cache is in a file without a name.
pub(crate) fn temporary() -> rusqlite::Result<Connection> {
    let connection = Connection::open("")?;
    connection.pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))?;
    common(&connection)?;
    create(&connection)?;
    Ok(connection)
}

/// Makes SQLite keep the journal for a database in `directory`. A ledger that was moved from a local file system to
/// a shared one, or back, changes it here.
pub(crate) fn choose_journal(connection: &Connection, directory: &Path) -> rusqlite::Result<()> {
    let journal = Journal::for_directory(directory);
    let mut is = String::new();
    connection.pragma_update_and_check(None, "journal_mode", journal.name(), |row| {
        is = row.get(0)?;
        Ok(())
    })?;
    if is.eq_ignore_ascii_case(journal.name()) {
        return Ok(());
    }
    // SQLite keeps the other mode while a reader has the file open.
    let busy = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY);
    Err(rusqlite::Error::SqliteFailure(busy, None))
}

/// Opens the file for reading. Another process may write to it meanwhile.
pub(crate) fn open_to_read(file: &Path) -> Result<Connection, LedgerError> {
    let failed = |error| LedgerError::sqlite(file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // If the directory cannot be written, or the disk is full, a reader has no place for the index of the
    // write-ahead log. Without a log nobody writes to the file, and no index is needed.
    let open_unchanging = || {
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        let connection = Connection::open_with_flags(immutable(file), flags)?;
        common(&connection)?;
        Ok(connection)
    };
    if !files::has_space(file) {
        return match has_log(file) {
            true => Err(LedgerError::disk_full(file)),
            false => open_unchanging().map_err(failed),
        };
    }
    let connection = Connection::open_with_flags(files::for_sqlite(file), flags).map_err(failed)?;
    match common(&connection).and_then(|()| first_page(&connection)) {
        Err(error) if needs_a_place(&error) && !has_log(file) => open_unchanging().map_err(failed),
        Err(error) => Err(failed(error)),
        Ok(()) => Ok(connection),
    }
}

fn common(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    // A damaged or forged file must not run any code, mislead the reader of a page, or fill the memory.
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST)?;
    connection.pragma_update_and_check(None, "hard_heap_limit", MEMORY, |_| Ok(()))?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

fn first_page(connection: &Connection) -> rusqlite::Result<()> {
    connection.pragma_query_value(None, "user_version", |_| Ok(()))
}

fn needs_a_place(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(rusqlite::ErrorCode::CannotOpen | rusqlite::ErrorCode::ReadOnly)
    )
}

/// Whether something is in the write-ahead log or the rollback journal of a database file. A file that is not
/// whole without them must not be opened as one that does not change.
fn has_log(file: &Path) -> bool {
    let in_use = |suffix| {
        std::fs::metadata(files::beside(file, suffix)).is_ok_and(|log: Metadata| log.len() > 0)
    };
    in_use("-wal") || in_use("-journal")
}

/// The file as the URI of a database that does not change. Slashes are escaped, too: two at the beginning would name a
/// host.
fn immutable(file: &Path) -> String {
    let escaped: String = file
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|&byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02x}"),
        })
        .collect();
    format!("file:{escaped}?immutable=1")
}

/// Checks that the file is a ledger of the format that this program knows.
pub(crate) fn check(connection: &Connection, file: &Path) -> Result<(), LedgerError> {
    let sqlite = |error| LedgerError::sqlite(file, &error);
    let number = |name: &str| {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, i32>(0))
            .map_err(sqlite)
    };
    let refused = |reason: &str| Err(LedgerError::other(file, reason));
    if number("application_id")? != APPLICATION_ID {
        if std::fs::metadata(file).is_ok_and(|file| file.len() == 0) {
            return refused("this is no ledger: the file is empty");
        }
        return refused("this is no ledger: another program made this database");
    }
    // One more than there may be: a forged file may have any number.
    let tables = connection
        .prepare("SELECT sql FROM sqlite_schema ORDER BY name LIMIT ?1")
        .and_then(|mut statement| {
            statement
                .query_map([TABLES.len() as i64 + 1], |row| {
                    row.get::<_, Option<String>>(0)
                })?
                .collect::<Result<Vec<_>, _>>()
        })
        .map_err(sqlite)?;
    let format = number("user_version")?;
    if format != FORMAT {
        // Nothing is asked of a table before it is known to be one: a view may run for ever.
        let has_meta = tables.iter().flatten().any(|sql| sql == META);
        let program = has_meta.then(|| {
            let sql = "SELECT value FROM meta WHERE key = 'program'";
            connection.query_row(sql, [], |row| row.get(0)).ok()
        });
        let program = program.flatten();
        let program = program.unwrap_or_else(|| "an unknown version".to_owned());
        return refused(&format!(
            "ledger format {format}, written by {program}; this program reads format {FORMAT}: use the \
             program that wrote it, or begin a new run"
        ));
    }
    if !tables.iter().map(Option::as_deref).eq(TABLES.map(Some)) {
        return Err(LedgerError::damaged(
            file,
            "its tables are not those of a ledger",
        ));
    }
    Ok(())
}

/// Checks every page of the file: that it is whole, and in the place where it belongs.
pub(crate) fn check_pages(connection: &Connection, file: &Path) -> Result<(), LedgerError> {
    let verdict: String = connection
        .query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))
        .map_err(|error| LedgerError::sqlite(file, &error))?;
    match verdict.as_str() {
        "ok" => Ok(()),
        wrong => Err(LedgerError::damaged(file, wrong.trim().replace('\n', ": "))),
    }
}
