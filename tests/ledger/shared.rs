//! Ledgers on a file system that several machines may share, where SQLite keeps a rollback journal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::signature;
use crate::common::program::{Running, faulty, of, queenfold, said, text, wait_for_more, words};
use crate::common::skip::skipped;

/// A directory that is seen through FUSE, which says nothing of what is behind it. It is unmounted when
/// dropped.
struct Fuse {
    folder: tempfile::TempDir,
}

impl Fuse {
    fn mount() -> Option<Self> {
        let fuse = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for name in ["behind", "mounted"] {
            fs::create_dir(fuse.folder.path().join(name)).unwrap();
        }
        let mounted = Command::new("bindfs")
            .args([fuse.behind(), fuse.path()])
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(fuse),
            Ok(_) => {
                skipped("bindfs cannot mount a file system here");
                None
            }
            Err(_) => {
                skipped("no bindfs, which makes a FUSE file system");
                None
            }
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("mounted")
    }

    /// The same files on the local disk.
    fn behind(&self) -> PathBuf {
        self.folder.path().join("behind")
    }
}

impl Drop for Fuse {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.path()).status();
    }
}

/// Whether the file says that it is written by way of a write-ahead log: bytes 18 and 19 of an SQLite database
/// (<https://www.sqlite.org/fileformat.html>).
fn is_write_ahead(run: &Path) -> bool {
    let header = fs::read(run.join("ledger.db")).unwrap();
    assert_eq!(header[18], header[19]);
    header[18] == 2
}

const SLOWLY: [&str; 4] = ["--isa", "portable", "--workers", "1"];

/// Kills a run of n = 17 again and again, and lets it end. `how` makes the command of each process.
fn kill_and_resume(run: &Path, how: impl Fn(&[&str]) -> Command) {
    let start = |args: &[&str]| Running::of(&mut how(&[args, &SLOWLY].concat()));
    let dir = text(run);
    let mut process = start(&["run", "-n", "17", "--engine", "chain", "--dir", dir]);
    for after in [1500, 1100, 1700] {
        wait_for_more(run, 0);
        std::thread::sleep(Duration::from_millis(after));
        process.send("-KILL");
        process.end();
        process = start(&["resume", dir]);
    }
    let (code, out, err) = process.end();
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
}

/// The signature of the same run on the local disk.
fn local_signature(folder: &Path) -> String {
    let local = folder.join("local");
    let (code, _, err) = of(&words!("run -n 17 --engine chain --dir {}", text(&local)));
    assert_eq!(code, 0, "{err}");
    assert!(is_write_ahead(&local));
    signature(&local)
}

/// The same where there is no FUSE: the test hook says that the disk is an NFS.
#[test]
fn a_run_with_a_rollback_journal_survives_kills() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    let nfs = 0x6969.to_string();
    kill_and_resume(&run, |args| faulty(args, "FILE_SYSTEM", &nfs));
    assert!(!is_write_ahead(&run));
    assert_eq!(signature(&run), local_signature(dir.path()));
}

#[test]
fn a_run_moves_between_a_local_and_a_shared_file_system() {
    let Some(fuse) = Fuse::mount() else { return };
    let (there, here) = (fuse.path().join("run"), fuse.behind().join("run"));
    let first = ["run", "-n", "17", "--engine", "chain", "--time-limit", "1"];
    let begin = [&first[..], &["--dir", text(&here)], &SLOWLY].concat();
    assert_eq!(of(&begin).0, 4);
    assert!(is_write_ahead(&here));
    let go_on = [&["resume", text(&there), "--time-limit", "1"], &SLOWLY[..]].concat();
    assert_eq!(of(&go_on).0, 4);
    assert!(!is_write_ahead(&here));
    let (code, out, err) = of(&["resume", text(&here)]);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
    assert!(is_write_ahead(&here));
}

/// A commit waits for readers here. It must not fail because one takes long.
#[test]
fn readers_do_not_end_a_run_on_a_shared_file_system() {
    let Some(fuse) = Fuse::mount() else { return };
    let run = fuse.path().join("run");
    let args = ["run", "-n", "17", "--engine", "chain", "--dir", text(&run)];
    let mut process = Running::start(&[&args[..], &SLOWLY].concat());
    wait_for_more(&run, 0);
    while process.try_wait().unwrap().is_none() {
        for command in ["status", "report"] {
            let (code, _, err) = of(&[command, text(&run)]);
            assert_eq!(code, 0, "{command}: {err}");
        }
    }
    let (code, out, err) = process.end();
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
}

/// SQLite gives a commit up after half a minute.
#[test]
#[ignore = "takes a minute"]
fn a_commit_waits_as_long_as_somebody_reads() {
    let Some(fuse) = Fuse::mount() else { return };
    let run = fuse.path().join("run");
    let args = ["run", "-n", "18", "--engine", "chain", "--dir", text(&run)];
    let process = Running::start(&[&args[..], &SLOWLY].concat());
    wait_for_more(&run, 0);
    let reader = rusqlite::Connection::open(run.join("ledger.db")).unwrap();
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM record;")
        .unwrap();
    std::thread::sleep(Duration::from_secs(38));
    drop(reader);
    let (code, out, err) = process.end();
    assert!(code == 0 && out.contains("666090624"), "{out}{err}");
    assert!(err.contains("results wait in memory"), "{err}");
}

/// Only the next writer may undo what a killed one had begun to write: whoever reads must neither change the
/// file nor take it for whole.
#[test]
fn a_commit_that_was_cut_off_is_not_read_and_is_undone_by_the_next_writer() {
    let Some(fuse) = Fuse::mount() else { return };
    let run = fuse.path().join("run");
    let args = ["run", "-n", "17", "--engine", "chain", "--time-limit", "1"];
    assert_eq!(
        of(&[&args[..], &["--dir", text(&run)], &SLOWLY].concat()).0,
        4
    );
    let whole = signature(&run);
    // What a kill leaves in the middle of a commit: the old pages are in the journal, and new ones in the file.
    let connection = rusqlite::Connection::open(run.join("ledger.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN;
             DELETE FROM record; INSERT INTO record SELECT * FROM second;",
        )
        .unwrap();
    let crashed = run.join("crashed");
    fs::create_dir(&crashed).unwrap();
    for name in ["ledger.db", "ledger.db-journal"] {
        fs::copy(run.join(name), crashed.join(name)).unwrap();
    }
    drop(connection);
    let journal = crashed.join("ledger.db-journal");
    let before = [
        fs::read(&journal).unwrap(),
        fs::read(crashed.join("ledger.db")).unwrap(),
    ];
    assert!(!before[0].is_empty());
    for command in ["status", "verify"] {
        let (code, out, err) = of(&[command, text(&crashed)]);
        assert_eq!((code, out.as_str()), (1, ""), "{command}: {err}");
        assert!(
            err.contains("`queenfold resume` undoes that"),
            "{command}: {err}"
        );
    }
    let after = [
        fs::read(&journal).unwrap(),
        fs::read(crashed.join("ledger.db")).unwrap(),
    ];
    assert_eq!(before, after);
    let resume = [
        &["resume", text(&crashed), "--time-limit", "1ms"],
        &SLOWLY[..],
    ]
    .concat();
    let (code, _, err) = said(&queenfold(&resume).output().unwrap());
    assert_eq!(code, 4, "{err}");
    let (code, out, err) = of(&["resume", text(&crashed)]);
    assert!(code == 0 && out.contains("95815104"), "{out}{err}");
    assert_ne!(signature(&crashed), whole);
}
