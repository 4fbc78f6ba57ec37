//! What a run keeps in its directory beside the ledger, for people who watch it. Nothing of it counts for
//! the result, and all of it may be missing. The directory may come from a stranger.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use super::files;

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
    replace_file(&dir.join(LIVE), &dir.join("live.json.new"), text)
}

/// Replaces `file` by a text that is written to `draft` first. A reader sees the old text or the new one.
///
/// # Errors
/// It cannot be written.
pub fn replace_file(file: &Path, draft: &Path, text: &[u8]) -> io::Result<()> {
    // What stands there may be a link.
    let _ = fs::remove_file(draft);
    let written = files::options()
        .write(true)
        .create_new(true)
        .open(draft)
        .and_then(|mut file| file.write_all(text))
        .and_then(|()| fs::rename(draft, file));
    if written.is_err() {
        // What is left of it is of no use to anybody.
        let _ = fs::remove_file(draft);
    }
    written
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
/// It cannot be written, or is no regular file.
pub fn open_history(dir: &Path) -> io::Result<File> {
    let file = files::options()
        .append(true)
        .create(true)
        .open(dir.join(HISTORY))?;
    regular(&file)?;
    Ok(file)
}

/// The history; `None` if there is none.
///
/// # Errors
/// It cannot be read, or is too long.
pub fn read_history(dir: &Path) -> io::Result<Option<Vec<u8>>> {
    read(&dir.join(HISTORY), LONGEST_HISTORY)
}

/// Reads a regular file of at most this many bytes; `None` if there is none.
pub(super) fn read(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match files::options().read(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    regular(&file)?;
    let mut text = Vec::new();
    file.take(longest + 1).read_to_end(&mut text)?;
    if text.len() as u64 > longest {
        return Err(io::Error::other(format!(
            "it is longer than {longest} bytes"
        )));
    }
    Ok(Some(text))
}

fn regular(file: &File) -> io::Result<()> {
    match file.metadata()?.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is no regular file")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_neither_read_nor_written_through() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let (dir, other) = (dir.path().join("run"), dir.path().join("other"));
        fs::create_dir(&dir).unwrap();
        fs::write(&other, "precious").unwrap();
        for name in [LIVE, HISTORY, "live.json.new"] {
            symlink(&other, dir.join(name)).unwrap();
        }
        assert!(read_live(&dir).is_err() && read_history(&dir).is_err());
        assert!(open_history(&dir).is_err());
        write_live(&dir, b"{}").unwrap();
        assert_eq!(read_live(&dir).unwrap().unwrap(), b"{}");
        assert_eq!(fs::read_to_string(&other).unwrap(), "precious");
    }
}
