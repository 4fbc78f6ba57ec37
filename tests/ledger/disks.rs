//! Disks that are full or read-only, and limits on the size of files.

use std::path::Path;
use std::process::Command;

use crate::common::program::{
    PROGRAM, Running, isolated, of, queenfold, said, text, wait_for_more, words,
};
use crate::common::skip::skipped;

/// A separate file system, which only root can mount. It is unmounted when dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(options: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "tmpfs", text(dir.path())])
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            Some(Self(dir))
        } else {
            skipped("only root can mount a file system");
            None
        }
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn remount(&self, options: &str) -> bool {
        Command::new("mount")
            .args(["-o", options, text(self.path())])
            .status()
            .is_ok_and(|status| status.success())
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

#[test]
fn a_full_disk_ends_the_run_and_space_lets_it_go_on() {
    let Some(disk) = SmallDisk::new("size=512k") else {
        return;
    };
    let run = disk.path().join("run");
    let isa = ["--isa", "portable", "--workers", "1"];
    let start = words!("run -n 17 --dir {} --time-limit 100ms", text(&run));
    assert_eq!(of(&[start.as_slice(), &isa].concat()).0, 4);
    // The file system is full to the last byte.
    let filler = disk.path().join("filler");
    let full = std::fs::write(&filler, vec![1; 512 << 10]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let (code, out, err) = of(&[["resume", text(&run)].as_slice(), &isa].concat());
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("disk is full"), "{err}");
    // What needs no space can be read, and nothing more is merged.
    assert_eq!(of(&["status", text(&run)]).0, 0);
    let into = disk.path().join("into");
    let (code, out, err) = of(&["gather", text(&run), "--into", text(&into)]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    std::fs::remove_file(filler).unwrap();
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
    // Nothing has to be written to tell the result once more.
    let _ = std::fs::write(disk.path().join("filler"), vec![1; 512 << 10]);
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");

    // A new run finds no space at all.
    let other = disk.path().join("other");
    let _ = std::fs::write(disk.path().join("filler"), vec![1; 512 << 10]);
    let (code, out, err) = of(&["run", "-n", "12", "--dir", text(&other)]);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
}

#[test]
fn a_file_system_without_inodes_is_not_said_to_be_full() {
    // The root, and two files.
    let Some(disk) = SmallDisk::new("size=1m,nr_inodes=4") else {
        return;
    };
    let run = disk.path().join("run");
    let (code, _, err) = of(&["run", "-n", "8", "--dir", text(&run)]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("no inodes left"), "{err}");
}

/// The index of the write-ahead log is shared memory: where the disk has no block for it, the system ends
/// the process.
#[test]
fn on_a_full_disk_a_log_is_not_read_rather_than_ended_without_a_word() {
    let Some(disk) = SmallDisk::new("size=512k") else {
        return;
    };
    let run = disk.path().join("run");
    let how = ["--engine", "chain", "--isa", "portable", "--workers", "1"];
    let first = Running::start(&[&["run", "-n", "19", "--dir", text(&run)], &how[..]].concat());
    wait_for_more(&run, 0);
    first.send("-KILL");
    first.end();
    let filler = disk.path().join("filler");
    std::fs::write(&filler, vec![1; 512 << 10]).unwrap_err();
    for command in ["status", "verify", "resume"] {
        let (code, out, err) = of(&[command, text(&run)]);
        assert_eq!((code, out.as_str()), (1, ""), "{command}: {err}");
        assert!(err.contains("disk is full"), "{command}: {err}");
    }
    std::fs::remove_file(filler).unwrap();
    assert_eq!(of(&["status", text(&run)]).0, 0);
}

#[test]
fn a_limit_on_the_size_of_files_ends_the_run_with_the_committed_tasks_kept() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    // 64 KiB are less than the log of 1025 tasks needs. The signal of this limit is ignored, so that the
    // program gets the error.
    let limited = format!(
        "trap '' XFSZ; ulimit -f 64; exec {} run -n 18 --engine chain --dir {} --isa portable",
        PROGRAM,
        text(&run)
    );
    let output = isolated("bash").args(["-c", &limited]).output();
    let Ok(output) = output else {
        skipped("no bash");
        return;
    };
    let (code, out, err) = said(&output);
    assert_eq!((code, out.as_str()), (1, ""), "{err}");
    assert!(err.contains("ledger.db"), "{err}");
    let (code, out, err) = of(&["resume", text(&run)]);
    assert!(code == 0 && out.contains("666090624"), "{out}{err}");
}

#[test]
fn a_read_only_directory_can_be_read_and_not_written() {
    let Some(disk) = SmallDisk::new("size=1m") else {
        return;
    };
    let run = disk.path().join("run");
    assert_eq!(of(&["run", "-n", "12", "--dir", text(&run)]).0, 0);
    let stopped = disk.path().join("stopped");
    let limit = words!("--engine chain --isa portable --workers 1 --time-limit 1ms");
    let stop = [&["run", "-n", "17", "--dir", text(&stopped)], &limit[..]];
    assert_eq!(of(&stop.concat()).0, 4);
    assert!(disk.remount("remount,ro"));
    for command in ["status", "verify", "resume"] {
        let (code, _, err) = of(&[command, text(&run)]);
        assert_eq!(code, 0, "{command}: {err}");
    }
    for command in [
        vec!["resume", text(&stopped)],
        vec!["run", "-n", "12", "--dir", text(&disk.path().join("new"))],
    ] {
        let (code, out, err) = of(&command);
        assert_eq!(
            (code, out.as_str(), err.lines().count()),
            (1, "", 1),
            "{err}"
        );
        assert!(err.contains("ead-only"), "{err}");
    }
}

/// A library in front of the C library notes which directories are synced.
#[cfg(target_os = "linux")]
#[test]
fn every_new_directory_survives_a_power_failure() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let library = dir.join("synced.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/ledger/synced.c");
    let built = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-shared", "-fPIC", "-o", text(&library), source, "-ldl"])
        .status();
    assert!(built.unwrap().success());
    let run = dir.join("new").join("run");
    let log = dir.join("log");
    let output = queenfold(&["run", "-n", "8", "--dir", text(&run)])
        .env("LD_PRELOAD", &library)
        .env("SYNCED", &log)
        .output();
    assert_eq!(said(&output.unwrap()).0, 0);
    let synced = std::fs::read_to_string(&log).unwrap();
    for holder in [&dir, &dir.join("new"), &run] {
        assert!(synced.lines().any(|line| line == text(holder)), "{synced}");
    }
}
