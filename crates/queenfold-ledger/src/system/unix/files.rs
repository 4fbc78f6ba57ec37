//! Files and folders.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{OFlags, StatVfsMountFlags, statvfs};
use rustix::io::Errno;

/// Options that neither follow a link nor wait at a pipe.
pub fn no_detours() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32);
    options
}

/// Opens a regular file to read it, and does not wait at a pipe.
///
/// # Errors
/// It is something else, or cannot be read.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits() as i32)
        .open(path)?;
    let is = file.metadata()?;
    if is.is_file() {
        Ok(file)
    } else if is.is_dir() {
        Err(io::ErrorKind::IsADirectory.into())
    } else {
        Err(io::Error::other(
            "no regular file; copy what it gives into one",
        ))
    }
}

/// Opens a file that is not kept for anybody, but written as it comes: it may be a pipe. Whether somebody reads it
/// is known at once; after that, who writes waits for the reader.
///
/// # Errors
/// Nobody reads the pipe, or the file cannot be written.
pub fn open_to_write(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use rustix::fs::{fcntl_getfl, fcntl_setfl};
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
    let file = options
        .open(path)
        .map_err(|error| match Errno::from_io_error(&error) {
            Some(Errno::NXIO) => io::Error::other("nobody reads this pipe; begin to read it first"),
            _ => error,
        })?;
    let flags = fcntl_getfl(&file)?;
    fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file)
}

/// A file without a name in the folder, which is gone with the process unless [`give_name`] gives it one. `None`
/// where the system or the file system has none.
pub fn unnamed(folder: &Path) -> Option<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{Mode, open};
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::WGRP | Mode::ROTH | Mode::WOTH;
        // Its name is read below.
        let named = Path::new("/proc/self/fd").is_dir();
        named.then(|| open(folder, flags, mode).ok().map(File::from))?
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

/// Gives an [`unnamed`] file its name.
///
/// # Errors
/// There is a file of this name, or the folder cannot be written to.
pub fn give_name(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};
    use std::os::fd::AsRawFd;
    // As open(2) shows it: to link the descriptor itself takes a privilege.
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    linkat(CWD, open, CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(Into::into)
}

/// Makes sure that a new name in the directory survives a power failure.
///
/// # Errors
/// Those of the file system.
pub fn sync_directory(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Locks the file for this process alone. Others can still read it.
///
/// # Errors
/// Another process has a lock; the file system has none.
pub fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// As [`try_lock`], but other processes may do the same.
///
/// # Errors
/// Another process has the file for itself; the file system has no locks.
pub fn try_lock_shared(file: &File) -> Result<(), TryLockError> {
    file.try_lock_shared()
}

/// Whether the file system, and not this file, is the reason that a lock failed.
pub fn has_no_locks(error: &io::Error) -> bool {
    // ENOSYS is what Lustre answers without the mount option `flock`, ENOLCK what NFS does without a lock
    // service.
    error.kind() == io::ErrorKind::Unsupported || Errno::from_io_error(error) == Some(Errno::NOLCK)
}

/// Whether the process, or the system, has as many open files as it may.
pub fn is_open_limit(error: &io::Error) -> bool {
    [Some(Errno::MFILE), Some(Errno::NFILE)].contains(&Errno::from_io_error(error))
}

/// Whether both are of one file.
pub fn is_same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Whether the open file has no name any more.
pub fn is_removed(file: &Metadata) -> bool {
    file.nlink() == 0
}

/// Whether the disk of `file` has so much space, in bytes, for a file that is mapped into memory. Where the
/// disk has no block for a part of one, the system ends the process by SIGBUS.
pub fn has_space(file: &Path, space: u64) -> bool {
    // If the system does not say, whoever needs it finds out.
    let Ok(disk) = statvfs(file) else {
        return true;
    };
    let free = match rustix::process::geteuid().is_root() {
        true => disk.f_bfree,
        false => disk.f_bavail,
    };
    // A file system without a size has no limit.
    disk.f_blocks == 0
        || disk.f_flag.contains(StatVfsMountFlags::RDONLY)
        || free.saturating_mul(disk.f_frsize) >= space
}

/// Whether the file system of `dir` has room for the name of another file.
pub fn has_inodes(dir: &Path) -> bool {
    // Some have as many as they need, and say that they have none at all.
    statvfs(dir).map_or(true, |disk| disk.f_files == 0 || disk.f_ffree > 0)
}

/// Makes sure that there is a file of this name, and that nobody but its owner can use it.
///
/// # Errors
/// Those of the file system.
pub fn make_secret(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let mut how = no_detours();
    let open = how.append(true).create(true).mode(0o600).open(file)?;
    let mut mode = open.metadata()?.permissions();
    mode.set_mode(mode.mode() & 0o700);
    open.set_permissions(mode)
}

/// Why others can read the file, in words, and what keeps them from it; `None` if they cannot.
pub fn why_not_secret(file: &Metadata) -> Option<String> {
    let mode = file.mode() & 0o7777;
    (mode & 0o077 != 0)
        .then(|| format!("others can use it (mode {mode:04o}); `chmod 600` keeps it secret"))
}

/// Why somebody else than the present user, or root if that is allowed, may have written what is in the file, in words;
/// `None` if nobody may.
pub fn why_not_own(file: &Metadata, or_root: bool) -> Option<String> {
    let (owner, mode) = (file.uid(), file.mode() & 0o7777);
    if owner != rustix::process::geteuid().as_raw() && !(or_root && owner == 0) {
        Some(format!("it belongs to another user (uid {owner})"))
    } else if mode & 0o022 != 0 {
        Some(format!(
            "others can write to it (mode {mode:04o}, which `chmod go-w` cures)"
        ))
    } else {
        None
    }
}

/// Makes sure that files can be made in the folder.
///
/// # Errors
/// They cannot.
pub fn check_writable(folder: &Path) -> io::Result<()> {
    use rustix::fs::Access;
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).map_err(Into::into)
}

/// Lets whoever may read the file run it.
///
/// # Errors
/// Those of the file system.
pub fn make_executable(file: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut mode = file.metadata()?.permissions();
    mode.set_mode(mode.mode() | (mode.mode() & 0o444) >> 2);
    std::fs::set_permissions(file, mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_without_locks_is_known_by_its_error() {
        for (error, no_locks) in [
            (Errno::NOSYS, true),
            (Errno::NOLCK, true),
            (Errno::OPNOTSUPP, true),
            (Errno::ACCESS, false),
            (Errno::IO, false),
        ] {
            assert_eq!(has_no_locks(&error.into()), no_locks, "{error}");
        }
    }
}
