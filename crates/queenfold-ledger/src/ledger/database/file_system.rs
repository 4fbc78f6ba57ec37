//! On which kind of file system a ledger is, and which journal SQLite keeps there.

use std::path::Path;
use std::sync::OnceLock;

/// How SQLite makes a commit whole: by which journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// A write-ahead log. Its index is memory that all readers and writers share, so all of them must be on
    /// one machine, and the file system must be one of that machine.
    WriteAhead,
    /// A rollback journal, cut to nothing after each commit. It needs no shared memory, only locks.
    Rollback,
}

impl Journal {
    /// The journal for a database in `directory`: the write-ahead log where the file system is known to be
    /// local, the rollback journal everywhere else.
    pub fn for_directory(directory: &Path) -> Self {
        if let Some(assumed) = ASSUMED.get() {
            return Self::for_magic(*assumed);
        }
        #[cfg(target_os = "linux")]
        return match rustix::fs::statfs(directory) {
            // The type of the field differs from one kind of machine to another; the numbers have 32 bits.
            Ok(of) => Self::for_magic(of.f_type as u32),
            Err(_) => Self::Rollback,
        };
        // What other systems say of a file system is another story: there, a directory on a network is the
        // user's risk, as docs/FORMATS.md says.
        #[cfg(not(target_os = "linux"))]
        {
            let _ = directory;
            Self::WriteAhead
        }
    }

    fn for_magic(magic: u32) -> Self {
        match LOCAL.iter().any(|(local, _)| *local == magic) {
            true => Self::WriteAhead,
            false => Self::Rollback,
        }
    }

    /// The value of SQLite's `journal_mode`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WriteAhead => "WAL",
            Self::Rollback => "TRUNCATE",
        }
    }
}

/// What tests say of every disk.
static ASSUMED: OnceLock<u32> = OnceLock::new();

/// For tests: from now on, this process takes every disk for one of this `f_type`.
pub fn assume_file_system(magic: u32) {
    let _ = ASSUMED.set(magic);
}

/// File systems that belong to one machine: the `f_type` of statfs(2), and the name. What is missing here, such
/// as NFS, Lustre, GPFS, CephFS, BeeGFS, SMB, 9p and everything through FUSE, may be shared by several.
const LOCAL: [(u32, &str); 16] = [
    (0xef53, "ext2, ext3, ext4"),
    (0x5846_5342, "xfs"),
    (0x9123_683e, "btrfs"),
    (0xca45_1a4e, "bcachefs"),
    (0x2fc1_2fc1, "zfs"),
    (0xf2f5_2010, "f2fs"),
    (0x3153_464a, "jfs"),
    (0x5265_4973, "reiserfs"),
    (0x3434, "nilfs"),
    (0x0102_1994, "tmpfs"),
    (0x8584_58f6, "ramfs"),
    (0x794c_7630, "overlayfs"),
    (0xf15f, "ecryptfs"),
    (0x4d44, "vfat"),
    (0x2011_bab0, "exfat"),
    (0x7366_746e, "ntfs3"),
];

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    /// The numbers of linux/magic.h, and those that Lustre, GPFS and BeeGFS document.
    #[test]
    fn a_file_system_that_several_machines_may_share_gets_a_rollback_journal() {
        for (magic, name) in [
            (0x6969, "NFS"),
            (0x0bd0_0bd0, "Lustre"),
            (0x4750_4653, "GPFS"),
            (0x00c3_6400, "CephFS"),
            (0x1983_0326, "BeeGFS"),
            (0x6573_5546, "FUSE"),
            (0xff53_4d42, "CIFS"),
            (0xfe53_4d42, "SMB 2"),
            (0x0102_1997, "9p"),
            (0x0116_1970, "GFS2"),
            (0x7461_636f, "OCFS2"),
            (0, "unknown"),
        ] {
            assert_eq!(Journal::for_magic(magic), Journal::Rollback, "{name}");
        }
        assert_eq!(
            Journal::for_directory(Path::new("/nowhere")),
            Journal::Rollback
        );
        for (magic, name) in LOCAL {
            assert_eq!(Journal::for_magic(magic), Journal::WriteAhead, "{name}");
        }
    }
}
