//! Files and folders.

#![expect(unsafe_code, reason = "calls of Windows")]

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_TOO_MANY_OPEN_FILES,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_OPEN_REPARSE_POINT, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;

/// Options that follow no link.
pub fn no_detours() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
    options
}

/// Opens a regular file to read it.
///
/// # Errors
/// It is something else, or cannot be read.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(
            "no regular file; copy what it gives into one",
        )),
    }
}

/// Opens a file to write it. A pipe without a reader cannot be opened here.
///
/// # Errors
/// It cannot be written.
pub fn open_to_write(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.open(path)
}

/// A file without a name: there is none here.
pub fn unnamed(_: &Path) -> Option<File> {
    None
}

/// Gives an [`unnamed`] file its name.
///
/// # Errors
/// There is none.
pub fn give_name(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A new name in a directory: Windows has no call that waits until it is on the disk. NTFS writes it to its
/// journal before anything that is later written to the file.
///
/// # Errors
/// None.
pub fn sync_directory(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Locks the file for this process alone. Others can still read it.
///
/// # Errors
/// Another process has a lock; the file system has none.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    lock(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// As [`try_lock`], but other processes may do the same.
///
/// # Errors
/// Another process has the file for itself; the file system has no locks.
pub fn try_lock_shared(file: &File) -> Result<(), TryLockError> {
    lock(file, 0)
}

/// Locks one byte far behind the text of the file: nobody can read what is locked.
fn lock(file: &File, how: u32) -> Result<(), TryLockError> {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.OffsetHigh = 0x4000_0000;
    let how = how | LOCKFILE_FAIL_IMMEDIATELY;
    // SAFETY: the file is open, and `place` lives until the call returns, which does not wait.
    match unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &mut place) } {
        0 => {
            let error = io::Error::last_os_error();
            match error.raw_os_error().map(|code| code as u32) {
                Some(ERROR_LOCK_VIOLATION | ERROR_IO_PENDING) => Err(TryLockError::WouldBlock),
                _ => Err(TryLockError::Error(error)),
            }
        }
        _ => Ok(()),
    }
}

/// Whether the file system, and not this file, is the reason that a lock failed.
pub fn has_no_locks(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::Unsupported
}

/// Whether the process has as many open files as it may.
pub fn is_open_limit(error: &io::Error) -> bool {
    error.raw_os_error() == Some(ERROR_TOO_MANY_OPEN_FILES as i32)
}

/// Whether both are of one file: nobody renames a ledger that is open, because SQLite does not share that
/// right.
pub fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Whether the open file has no name any more: nobody can remove a ledger that is open.
pub fn is_removed(_: &Metadata) -> bool {
    false
}

/// Whether the disk of `file` has space for a file that is mapped into memory. Where it has none, that is
/// an error of the call that makes the file longer.
pub fn has_space(_: &Path, _: u64) -> bool {
    true
}

/// Whether the file system of `dir` has room for the name of another file.
pub fn has_inodes(_: &Path) -> bool {
    true
}

/// Why others can read the file. Access lists are not looked at.
pub fn why_not_secret(_: &Metadata) -> Option<String> {
    None
}

/// Why somebody else than the present user may have written what is in the file. Windows lets nobody write to the
/// folders of others, and access lists are not looked at.
pub fn why_not_own(_: &Metadata, _: bool) -> Option<String> {
    None
}

/// Makes sure that files can be made in the folder. Only trying would tell.
///
/// # Errors
/// None.
pub fn check_writable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Lets whoever may read the file run it. Here the name of a file decides.
///
/// # Errors
/// None.
pub fn make_secret(_: &Path) -> io::Result<()> {
    Ok(())
}

/// See the module for Unix.
///
/// # Errors
/// None.
pub fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}
