//! Each call by which a run changes its ledger goes wrong once: it fails, the process is killed, or the power is
//! cut; and so does each allocation. Then the run is exact, or it ends with one line and can be resumed.
//! What it said to be durable is there.
//!
//! `faulty_disk.c` stands in front of the C library. It reorders and tears what was not synced. It does not lose names
//! of files; that directories are synced is tested in `disks`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::common::program::{of, queenfold, said, text, words};
use crate::common::skip::skipped;

/// What goes wrong: which calls, and how.
const FAULTS: [(&str, &str); 7] = [
    ("write", "full"),
    ("write", "broken"),
    ("sync", "broken"),
    ("any", "kill"),
    ("any", "cut"),
    ("any", "cut"),
    ("alloc", "broken"),
];

const ENGINES: [&str; 2] = ["chain", "colour"];

/// The board: a few tasks, of which each takes less than a millisecond.
const N: &str = "10";
const TOTAL: &str = "724";

/// The first allocation that is surely one of `main`. What comes before it is the start of the standard library.
const IN_MAIN: u64 = 20;

/// The library, built.
struct FaultyDisk {
    folder: tempfile::TempDir,
    library: PathBuf,
}

impl FaultyDisk {
    /// `None` if there is no C compiler.
    fn build() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let library = folder.path().join("faulty_disk.so");
        let source = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../tests/ledger/faulty_disk.c"
        );
        let built = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
            .args(["-shared", "-fPIC", "-o", text(&library), source, "-ldl"])
            .output();
        if !built.is_ok_and(|built| built.status.success()) {
            skipped("no C compiler for a library in front of glibc");
            return None;
        }
        Some(Self { folder, library })
    }

    /// A run in `dir` of which a call goes wrong; without `fault`, it is only counted how many there are.
    fn run(&self, dir: &Path, engine: &str, kind: &str, fault: Option<(&str, u64)>) -> Command {
        let events = format!("{}.events", text(dir));
        let run = ["run", "-n", N, "--engine", engine, "--workers", "1"];
        let rest = ["--quiet", "--dir", text(dir), "--events", &events];
        let mut command = queenfold(&[&run[..], &rest].concat());
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAULTY_FILES", dir.join("ledger"))
            .env("FAULTY_KIND", kind);
        match fault {
            Some((how, at)) => command
                .env("FAULTY_HOW", how)
                .env("FAULTY_AT", at.to_string())
                .env("FAULTY_SEED", at.to_string()),
            None => command.env("FAULTY_COUNT", self.folder.path().join("count")),
        };
        command
    }

    /// How many calls of a kind a run makes.
    fn calls(&self, engine: &str, kind: &str) -> u64 {
        let dir = self.folder.path().join("counted");
        let (code, _, err) = said(&self.run(&dir, engine, kind, None).output().unwrap());
        assert_eq!(code, 0, "{err}");
        std::fs::remove_dir_all(&dir).unwrap();
        let count = std::fs::read_to_string(self.folder.path().join("count"));
        count.unwrap().parse().unwrap()
    }

    /// One run of which one call goes wrong, and what comes after it.
    fn check(&self, engine: &str, (kind, how): (&str, &str), at: u64, signature: &str) {
        let dir = self.folder.path().join("run");
        let what = format!("{engine}: {kind} {at}: {how}");
        let output = self.run(&dir, engine, kind, Some((how, at))).output();
        let (code, out, err) = said(&output.unwrap());
        match code {
            0 => assert!(out.contains(TOTAL) && err.is_empty(), "{what}: {out}{err}"),
            // A signal, which nobody else sent.
            -1 if ["kill", "cut"].contains(&how) => {}
            _ => {
                assert_eq!((code, out.as_str()), (1, ""), "{what}: {err}");
                // The second is the line of the standard library; a note on backtraces may follow it.
                let is_line = err.starts_with("error: ") && err.lines().count() == 1;
                let is_library = kind == "alloc" && err.starts_with("memory allocation of ");
                assert!(is_line || is_library, "{what}: {err}");
            }
        }
        let promised = promised(&dir);
        let is_there = dir.join("ledger.db").exists();
        assert!(is_there || (code != 0 && promised == 0), "{what}");
        if is_there {
            // The process is gone, and with it the events of its last moment: there may be more.
            let records = super::records(&dir).unwrap().len() as u64;
            assert!(records >= promised, "{what}: {promised} {records}");
            let (code, out, err) = of(&["resume", "--quiet", text(&dir)]);
            assert!(code == 0 && out.contains(TOTAL), "{what}: {out}{err}");
        } else {
            let (code, out, err) = of(&words!(
                "run -n {} --engine {} --quiet --dir {}",
                N,
                engine,
                text(&dir)
            ));
            assert!(code == 0 && out.contains(TOTAL), "{what}: {out}{err}");
        }
        assert_eq!(super::signature(&dir), signature, "{what}");
        std::fs::remove_dir_all(&dir).unwrap();
        // It is not there if the first thing that was asked for memory got none.
        let _ = std::fs::remove_file(format!("{}.events", text(&dir)));
    }

    /// Every call of every kind that `chosen` takes goes wrong once; how many that were.
    fn check_all(&self, chosen: impl Fn(u64, u64) -> bool) -> u64 {
        let mut runs = 0;
        for engine in ENGINES {
            let whole = self.folder.path().join("whole");
            let run = ["run", "-n", N, "--engine", engine, "--dir", text(&whole)];
            assert_eq!(of(&run).0, 0);
            let signature = super::signature(&whole);
            std::fs::remove_dir_all(&whole).unwrap();
            for (kind, how) in FAULTS {
                let calls = self.calls(engine, kind);
                let first = if kind == "alloc" { IN_MAIN } else { 1 };
                for at in (first..=calls).filter(|at| chosen(*at, calls)) {
                    self.check(engine, (kind, how), at, &signature);
                    runs += 1;
                }
            }
        }
        runs
    }
}

/// How many tasks the events of a run said to be durable.
fn promised(dir: &Path) -> u64 {
    let events = std::fs::read_to_string(format!("{}.events", text(dir))).unwrap_or_default();
    // A kill may tear the last line.
    let events = events
        .lines()
        .filter_map(|line| serde_json::from_str::<Json>(line).ok());
    events
        .filter_map(|event| event["kind"]["checkpoint"]["tasks"].as_u64())
        .sum()
}

#[test]
fn a_call_that_goes_wrong_gives_no_wrong_number_and_loses_no_record() {
    let Some(disk) = FaultyDisk::build() else {
        return;
    };
    // Some six of each kind, and other ones each time.
    let runs = disk.check_all(|_, calls| fastrand::u64(0..calls) < 6);
    assert!(runs > 30, "{runs}");
}

#[test]
#[ignore = "takes half an hour: every call, and a thousand allocations, for each way to go wrong"]
fn every_call_that_goes_wrong_gives_no_wrong_number_and_loses_no_record() {
    let Some(disk) = FaultyDisk::build() else {
        return;
    };
    let runs = disk.check_all(|_, calls| calls < 5000 || fastrand::u64(0..calls) < 1000);
    println!("{runs} runs");
}

/// A kill before the certificate is whole and on the disk.
#[test]
fn a_certificate_that_is_killed_leaves_nothing() {
    let Some(disk) = FaultyDisk::build() else {
        return;
    };
    let (run, into) = (disk.folder.path().join("run"), tempfile::tempdir().unwrap());
    assert_eq!(of(&["run", "-n", N, "--dir", text(&run)]).0, 0);
    let file = into.path().join("n10.cert");
    for kind in ["write", "sync"] {
        let killed = queenfold(&["certify", text(&run), "-o", text(&file)])
            .env("LD_PRELOAD", &disk.library)
            .env("FAULTY_FILES", into.path())
            .env("FAULTY_KIND", kind)
            .env("FAULTY_HOW", "kill")
            .env("FAULTY_AT", "1")
            .output();
        assert_eq!(said(&killed.unwrap()).0, -1);
        assert_eq!(std::fs::read_dir(into.path()).unwrap().count(), 0, "{kind}");
    }
    let (code, _, err) = of(&["certify", text(&run), "-o", text(&file)]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(std::fs::read_dir(into.path()).unwrap().count(), 1);
}
