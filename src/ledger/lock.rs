//! The lock that lets only one process write to a run directory.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use super::host::host_name;
use super::{LedgerError, files};
use crate::system::files::{has_no_locks, try_lock, try_lock_shared};

/// The name of the lock file in a run directory.
pub const LOCK_FILE: &str = "lock";

/// How long to wait for a lock: [`is_held`] takes it for an instant.
const PATIENCE: Duration = Duration::from_millis(500);

/// The right to write to a run directory, for as long as it lives.
///
/// It is a lock of the operating system on an open file, so it ends with the process, even if that is
/// killed. NFS and Lustre pass it on to their servers, unless they are mounted so that they do not
/// (docs/LEDGER.md, "Shared file systems"). The file stays: if it were deleted, two processes could lock two files of one name.
#[derive(Debug)]
pub struct DirLock {
    _file: File,
}

impl DirLock {
    /// Takes the lock of the directory `dir`, which must exist.
    ///
    /// # Errors
    /// [`LedgerError::Locked`] if another process has it; the file is no regular one, or cannot be
    /// written.
    pub fn take(dir: &Path) -> Result<Self, LedgerError> {
        let path = dir.join(LOCK_FILE);
        files::is_there(&path)?;
        let mut file = files::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|source| LedgerError::io(&path, source))?;
        let since = Instant::now();
        loop {
            match try_lock(&file) {
                Ok(()) => break,
                Err(TryLockError::Error(source)) if has_no_locks(&source) => {
                    return Err(LedgerError::other(
                        &path,
                        "this file system does not lock files (Lustre does if mounted with `flock`): use a directory on \
                         another one",
                    ));
                }
                Err(TryLockError::Error(source)) => return Err(LedgerError::io(&path, source)),
                Err(TryLockError::WouldBlock) if since.elapsed() < PATIENCE => {
                    std::thread::sleep(PATIENCE / 20);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(LedgerError::Locked {
                        dir: dir.to_owned(),
                        holder: holder(&mut file),
                    });
                }
            }
        }
        // Used in the message above only, so a full disk is no reason to stop here.
        let _ = file.set_len(0).and_then(|()| {
            file.rewind()?;
            file.write_all(holder_text(std::process::id(), &host_name()).as_bytes())
        });
        Ok(Self { _file: file })
    }
}

/// Whether a process works on the directory `dir`.
pub fn is_held(dir: &Path) -> bool {
    let file = files::options().read(true).open(dir.join(LOCK_FILE));
    file.is_ok_and(|file| matches!(try_lock_shared(&file), Err(TryLockError::WouldBlock)))
}

/// Whether this process of this host works on the directory `dir`, or did so last.
pub fn is_held_by(dir: &Path, process: u32, host: &str) -> bool {
    let file = files::options().read(true).open(dir.join(LOCK_FILE));
    let expected = holder_text(process, host);
    let mut text = Vec::new();
    file.and_then(|file| file.take(expected.len() as u64 + 1).read_to_end(&mut text))
        .is_ok_and(|_| text == expected.as_bytes())
}

/// Who works on the directory `dir`, or did so last, in words.
pub fn holder_of(dir: &Path) -> String {
    let file = files::options().read(true).open(dir.join(LOCK_FILE));
    let mut text = String::new();
    match file.and_then(|file| file.take(200).read_to_string(&mut text)) {
        Ok(1..) => text.trim().to_owned(),
        _ => "the process that works on it".to_owned(),
    }
}

/// What the holder writes into the lock file.
fn holder_text(process: u32, host: &str) -> String {
    format!("process {process} on {host}")
}

fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.take(200).read_to_string(&mut text) {
        Ok(1..) => format!(" ({})", text.trim()),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_locked_once_and_free_when_the_holder_is_gone() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_held(dir.path()));
        let lock = DirLock::take(dir.path()).unwrap();
        assert!(is_held(dir.path()));
        let error = DirLock::take(dir.path()).unwrap_err().to_string();
        let pid = format!("process {} on ", std::process::id());
        assert!(error.contains("in use") && error.contains(&pid), "{error}");
        drop(lock);
        assert!(!is_held(dir.path()));
        DirLock::take(dir.path()).unwrap();
    }
}
