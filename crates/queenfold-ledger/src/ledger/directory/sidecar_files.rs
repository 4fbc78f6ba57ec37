//! What a run keeps in its directory beside the ledger, for people who watch it. Nothing of it counts for
//! the result, and all of it may be missing. The directory may come from a stranger.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::ledger::{LedgerError, files};
use crate::system::file_kind::{FileKind, replace};
use crate::system::files::no_detours;

/// What a file of events begins with.
pub const EVENTS_MARK: &str = "{\"queenfold_events\":";

/// The run at the moment: replaced again and again.
const LIVE: &str = "live.json";

/// What happened in the run, and how far it was when.
const HISTORY: &str = "history.jsonl";

/// The longest file that is read, in bytes: one of a run with 1,000 workers has 500,000.
const LONGEST: u64 = 16 << 20;

/// The longest history that is read, in bytes. One of a month has three million.
const LONGEST_HISTORY: u64 = 256 << 20;

/// Replaces the text about the moment. A reader sees the old one or the new one.
///
/// # Errors
/// It cannot be written.
pub fn write_live(dir: &Path, text: &[u8]) -> io::Result<()> {
    replace(&dir.join(LIVE), text)
}

/// The text about the moment; `None` if there is none.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn read_live(dir: &Path) -> io::Result<Option<Vec<u8>>> {
    read(&dir.join(LIVE), LONGEST)
}

/// Opens the history to add lines.
///
/// # Errors
/// It cannot be written, or something else has its name.
pub fn open_history(dir: &Path) -> io::Result<File> {
    let kind = FileKind {
        name: "history of a run",
        marks: &[EVENTS_MARK],
        streams: false,
        is_replaced: false,
    };
    kind.append(&dir.join(HISTORY))
}

/// The history; `None` if there is none.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn read_history(dir: &Path) -> io::Result<Option<Vec<u8>>> {
    read(&dir.join(HISTORY), LONGEST_HISTORY)
}

/// Reads a regular file of at most this many bytes; `None` if there is none.
pub(crate) fn read(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match no_detours().read(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    let mut text = Vec::new();
    file.take(longest + 1).read_to_end(&mut text)?;
    match text.len() as u64 > longest {
        true => Err(io::Error::other(format!("longer than {longest} bytes"))),
        false => Ok(Some(text)),
    }
}

/// As [`read`], a text.
pub(crate) fn read_text(path: &Path, longest: u64) -> Result<Option<String>, LedgerError> {
    files::is_there(path)?;
    let text = read(path, longest).and_then(|text| {
        let text = text.map(String::from_utf8).transpose();
        text.map_err(io::Error::other)
    });
    text.map_err(|error| LedgerError::io(path, error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_neither_read_nor_written_through() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (dir, other) = (dir.path().join("run"), dir.path().join("other"));
        fs::create_dir(&dir).unwrap();
        fs::write(&other, "precious").unwrap();
        for name in [LIVE, HISTORY] {
            symlink(&other, dir.join(name)).unwrap();
        }
        assert!(read_live(&dir).is_err() && read_history(&dir).is_err());
        assert!(open_history(&dir).is_err());
        write_live(&dir, b"{}").unwrap();
        assert_eq!(read_live(&dir).unwrap().unwrap(), b"{}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    }
}
