//! The files that the program writes for a user: what is there already is kept, unless it is one of the same kind.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use queenfold_ledger::ledger::{Facts, Session, Store};
use serde_json::Value as Json;

use crate::common::program::{
    PROGRAM, fed, isolated, make_pipe, output, printed, queenfold, refusal, stdout, words,
};

fn name(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Each command that writes a file, up to its name.
fn writers(run: &str) -> [Vec<&str>; 6] {
    [
        vec!["run", "-n", "8", "--trace"],
        vec!["run", "-n", "8", "--events"],
        vec!["run", "-n", "8", "--metrics"],
        vec!["ladder", "--method", "bitmap", "-n", "4..=5", "--plot"],
        vec!["report", run, "-o"],
        vec!["certify", run, "-o"],
    ]
}

#[test]
fn a_file_of_another_kind_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = |file: &str| folder.path().join(file);
    let run = path("run");
    stdout(&["run", "-n", "8", "--dir", name(&run)]);
    fs::write(path("notes"), "mine").unwrap();
    fs::write(path("cut"), "<svg").unwrap();
    symlink("notes", path("link")).unwrap();
    symlink("nowhere", path("loose")).unwrap();
    let made: Vec<_> = (0..6).map(|at| path(&format!("made-{at}"))).collect();
    let writers = writers(name(&run));
    for (writer, made) in writers.iter().zip(&made) {
        stdout(&[&writer[..], &[name(made)]].concat());
    }
    let mut kept = ["notes", "cut", "link", "loose"].map(path).to_vec();
    kept.extend(
        words!("ledger.db lock live.json history.jsonl ledger.db-wal")
            .iter()
            .map(|file| run.join(file)),
    );
    for (at, writer) in writers.iter().enumerate() {
        let others = made.iter().enumerate().filter(|(of, _)| *of != at);
        for file in kept.iter().chain(others.map(|(_, file)| file)) {
            let before = fs::read(file).ok();
            let line = refusal(&mut queenfold(&[&writer[..], &[name(file)]].concat()), 2);
            assert!(line.contains(name(file)), "{line}");
            assert_eq!(fs::read(file).ok(), before, "{writer:?} {}", file.display());
        }
        // One of the same kind is replaced, or added to, and only a certificate is kept.
        let again = output(&[&writer[..], &[name(&made[at])]].concat());
        let code = if writer[0] == "certify" { 2 } else { 0 };
        assert_eq!(again.status.code(), Some(code), "{again:?}");
    }
    let names = folder.path().read_dir().unwrap();
    assert_eq!(names.count(), 1 + 4 + 6, "no draft is left");
}

#[test]
fn nothing_leads_out_of_the_directory_of_a_stranger() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let victim = folder.path().join("victim");
    stdout(&["run", "-n", "8", "--dir", name(&run)]);
    let file = run.join("report.html");
    {
        for there in [
            "loose link",
            "link",
            "link to a device",
            "pipe",
            "directory",
        ] {
            fs::write(&victim, "dear").unwrap();
            match there {
                "loose link" => symlink("../nowhere", &file).unwrap(),
                "link" => symlink("../victim", &file).unwrap(),
                "link to a device" => symlink("/dev/zero", &file).unwrap(),
                "directory" => fs::create_dir(&file).unwrap(),
                _ => make_pipe(&file),
            }
            let line = refusal(&mut queenfold(&["report", name(&run)]), 2);
            assert!(line.contains(name(&file)), "{there}: {line}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "dear");
            assert!(!folder.path().join("nowhere").exists());
            let _ = fs::remove_file(&file).or_else(|_| fs::remove_dir(&file));
        }
    }
}

#[test]
fn a_report_stays_that_of_its_run_whichever_session_is_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    stdout(&["run", "-n", "8", "--dir", name(&run)]);
    let page = run.join("report.html");
    let report = || drop(stdout(&["report", name(&run)]));
    report();
    // Before the first session.
    let store = Store::open_to_write(&run).unwrap();
    let session = store.sessions().unwrap().remove(0);
    let html = fs::read_to_string(&page).unwrap();
    fs::write(&page, html.replacen(&session.id, "", 1)).unwrap();
    report();
    // A merge brings an older one.
    let older = Session {
        id: "0000000000000000".to_owned(),
        facts: Facts {
            number: 2,
            started: 1,
            ..session.facts.clone()
        },
        ..session
    };
    store.begin().unwrap();
    store.put_session(&older).unwrap();
    store.commit().unwrap();
    drop(store);
    report();
    assert!(fs::read_to_string(&page).unwrap().contains(&older.id));
    // Another run of the same board keeps its page.
    let other = folder.path().join("other");
    stdout(&["run", "-n", "8", "--dir", name(&other)]);
    let line = refusal(
        &mut queenfold(&["report", name(&other), "-o", name(&page)]),
        2,
    );
    assert!(line.contains("no report of this run"), "{line}");
}

/// A limit of the size of files is as good as a full disk.
#[test]
fn a_trace_that_cannot_be_written_costs_no_result_and_stays_json() {
    let folder = tempfile::tempdir().unwrap();
    for blocks in ["1", "36"] {
        let script = format!("ulimit -f {blocks}; exec \"$0\" run -n 6..=13 --trace t");
        let done = isolated("sh")
            .args(["-c", &script, PROGRAM])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let (out, said) = (printed(&done.stdout), printed(&done.stderr));
        assert_eq!(done.status.code(), Some(0), "{said}");
        assert!(out.contains("73712"), "{out}");
        assert_eq!(
            said.matches("the trace can no longer be written to t")
                .count(),
            1,
            "{said}"
        );
        let left = fs::read_to_string(folder.path().join("t")).unwrap();
        match blocks {
            "1" => assert_eq!(left, ""),
            _ => assert!(serde_json::from_str::<Json>(&left).is_ok(), "{left}"),
        }
    }
}

#[test]
fn a_certificate_goes_through_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    stdout(&["run", "-n", "12", "--dir", name(&run)]);
    let certificate = stdout(&["certify", name(&run), "-o", "-"]);
    let check = ["check", "-", "--challenge", "seed"];
    let checked = fed(&mut queenfold(&check), certificate);
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    assert!(
        printed(&checked.stdout).contains("14200 solutions"),
        "{checked:?}"
    );
    let line = refusal(
        &mut queenfold(&["certify", name(&run), "-o", "-", "--json"]),
        2,
    );
    assert!(line.contains("--json"), "{line}");
    let cut = fed(&mut queenfold(&check), "{");
    assert_eq!(cut.status.code(), Some(1), "{cut:?}");
}
