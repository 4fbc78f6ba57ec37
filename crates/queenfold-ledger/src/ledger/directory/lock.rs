//! The lock that lets only one process write to a run directory.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::ledger::directory::host::host_name;
use crate::ledger::{LedgerError, files};
use crate::system::files::{has_no_locks, no_detours, try_lock, try_lock_shared};

/// The name of the lock file in a run directory.
pub const LOCK_FILE: &str = "lock";

/// How long to wait for a lock: [`is_held`] takes it for an instant.
const PATIENCE: Duration = Duration::from_millis(500);

/// The right to write to a run directory, for as long as it lives.
///
/// It is a lock of the operating system on an open file, so it ends with the process, even if that is
/// killed. NFS and Lustre pass it on to their servers, unless they are mounted so that they do not
/// (docs/FORMATS.md, "Shared file systems"). The file stays: if it were deleted, two processes could lock two files of one name.
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
        let mut file = no_detours()
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
                    let holder = holder(file).map(|holder| format!(" ({holder})"));
                    return Err(LedgerError::Locked {
                        dir: dir.to_owned(),
                        holder: holder.unwrap_or_default(),
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
    open(dir).is_some_and(|file| matches!(try_lock_shared(&file), Err(TryLockError::WouldBlock)))
}

/// Whether this process of this host works on the directory `dir`, or did so last.
pub fn is_held_by(dir: &Path, process: u32, host: &str) -> bool {
    open(dir).and_then(holder) == Some(holder_text(process, host))
}

/// Who works on the directory `dir`, or did so last, in words.
pub fn holder_of(dir: &Path) -> String {
    let holder = open(dir).and_then(holder);
    holder.unwrap_or_else(|| "the process that works on it".to_owned())
}

fn open(dir: &Path) -> Option<File> {
    no_detours().read(true).open(dir.join(LOCK_FILE)).ok()
}

/// What the holder writes into the lock file.
fn holder_text(process: u32, host: &str) -> String {
    format!("process {process} on {host}")
}

/// What a lock file says of its holder.
fn holder(file: File) -> Option<String> {
    let mut text = String::new();
    let read = file.take(400).read_to_string(&mut text);
    matches!(read, Ok(1..)).then(|| text.trim().to_owned())
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
