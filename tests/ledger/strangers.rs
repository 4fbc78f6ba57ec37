//! Directories of strangers: whatever they hold is refused or shown, and never believed, followed or run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use queenfold::engine::{CountedBy, Origin, WorkerId};
use queenfold_ledger::ledger::{Facts, RecountChoice, Session};

use super::*;
use crate::common::program::{PROGRAM, isolated, make_pipe, of, queenfold, said, text, words};

const COMMANDS: [&str; 3] = ["status", "verify", "resume"];

/// A finished run of a stranger. `alter` writes to it what a correct program never does.
fn stranger(dir: &Path, n: u32, alter: impl FnOnce(&Store)) -> PathBuf {
    let run = dir.join("stranger");
    whole_run(&run, n);
    let store = Store::open_to_write(&run).unwrap();
    store.begin().unwrap();
    alter(&store);
    store.commit().unwrap();
    run
}

/// Changes every record.
fn change(store: &Store, change: impl Fn(&mut Entry)) {
    let all = entries(store).unwrap();
    let session = store.sessions().unwrap().remove(0);
    store.remove_session(&session.id).unwrap();
    store.put_session(&session).unwrap();
    for mut entry in all {
        change(&mut entry);
        store.insert(&entry).unwrap();
    }
}

fn session(id: &str) -> Session {
    Session {
        id: id.to_owned(),
        facts: Facts {
            number: 7,
            ..Facts::default()
        },
        elapsed: Duration::from_secs(1),
        cpu: None,
        committed: 0,
    }
}

/// Every command ends soon with 1 and one line, which contains `why`.
fn assert_refused(run: &Path, commands: &[&str], why: &str) {
    for command in commands {
        let begun = Instant::now();
        let (code, out, err) = of(&[command, text(run)]);
        assert_eq!((code, out.as_str()), (1, ""), "{command}: {err}");
        assert_eq!(err.lines().count(), 1, "{command}: {err}");
        assert!(err.contains(why), "{command}: {err}");
        assert!(begun.elapsed() < Duration::from_secs(120), "{command}");
    }
}

#[test]
fn links_and_pipes_are_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |_| {});
    let own = dir.path().join("own.txt");
    fs::write(&own, "of the user").unwrap();

    let lock = run.join("lock");
    fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&own, &lock).unwrap();
    assert_refused(&run, &["resume"], "lock is no regular file");
    assert_eq!(fs::read_to_string(&own).unwrap(), "of the user");

    fs::remove_file(&lock).unwrap();
    make_pipe(&lock);
    assert_refused(&run, &["resume"], "lock is no regular file");
    assert_eq!(of(&["status", text(&run)]).0, 0);
    fs::remove_file(&lock).unwrap();

    // A ledger that leads to another run, and a log that does.
    let other = dir.path().join("other");
    whole_run(&other, 10);
    fs::rename(run.join(FILE), run.join("kept")).unwrap();
    std::os::unix::fs::symlink(other.join(FILE), run.join(FILE)).unwrap();
    assert_refused(&run, &COMMANDS, "ledger.db is no regular file");
    fs::remove_file(run.join(FILE)).unwrap();
    fs::rename(run.join("kept"), run.join(FILE)).unwrap();
    let _ = fs::remove_file(run.join("ledger.db-wal"));
    std::os::unix::fs::symlink(&own, run.join("ledger.db-wal")).unwrap();
    assert_refused(&run, &COMMANDS, "ledger.db-wal is no regular file");
    assert_eq!(fs::read_to_string(&own).unwrap(), "of the user");
}

#[test]
fn texts_of_strangers_cannot_control_the_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}";
    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |store| {
        let mut last = session("ffff");
        last.facts.host = evil.to_owned();
        last.facts.isa = evil.to_owned();
        last.facts.devices = vec![evil.to_owned()];
        store.put_session(&last).unwrap();
        let entry = &mut entries(store).unwrap()[0];
        store.remove_session(&entry.session).unwrap();
        entry.session = last.id;
        entry.result.origin.counted_by = CountedBy::Cpu(evil.to_owned().into());
        store.insert(entry).unwrap();
    });
    let named = dir.path().join(format!("a{evil}b"));
    fs::rename(run, &named).unwrap();
    for arguments in [&["status"][..], &["status", "--json"], &["verify"]] {
        let arguments = [arguments, &[text(&named)]].concat();
        let (_, out, err) = of(&arguments);
        assert!(!out.is_empty(), "{arguments:?}: {err}");
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!out.contains(bad) && !err.contains(bad), "{out:?} {err:?}");
        if arguments[1] == "--json" {
            let json: serde_json::Value =
                serde_json::from_str(out.lines().next().unwrap()).unwrap();
            let shown = json.get("host").or(json.get("backend")).unwrap();
            assert_eq!(shown, evil);
        }
    }
}

#[test]
fn a_view_that_runs_for_ever_is_never_asked() {
    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |_| {});
    let database = sqlite(&run);
    database
        .execute_batch(
            "DROP TABLE meta;
             CREATE VIEW meta AS WITH RECURSIVE r(key, value) AS
                 (SELECT 'program', 'x' UNION ALL SELECT 'program', 'x' FROM r)
                 SELECT max(key) AS key, max(value) AS value FROM r;
             PRAGMA user_version = 3",
        )
        .unwrap();
    drop(database);
    assert_refused(
        &run,
        &COMMANDS,
        "ledger format 3, written by an unknown version",
    );
}

#[test]
fn sizes_are_limited_before_they_are_believed() {
    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |store| {
        let mut long = session("ffff");
        long.facts.host = "x".repeat(900_000);
        store.put_session(&long).unwrap();
    });
    // Text that is too long for SQLite here can be written elsewhere.
    let long = "UPDATE session SET facts = facts || printf('%.*c', 4000000, 'x') WHERE id = 'ffff'";
    sqlite(&run).execute(long, []).unwrap();
    assert_refused(&run, &COMMANDS, "longer than any");
}

#[test]
fn times_and_counts_that_nothing_can_have_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |store| {
        let mut long = session("ffff");
        long.elapsed = Duration::from_millis(i64::MAX as u64);
        store.put_session(&long).unwrap();
    });
    assert_refused(&run, &COMMANDS, "a session is damaged");
    let into = dir.path().join("into");
    let (code, _, err) = of(&["gather", text(&run), "--into", text(&into)]);
    assert!(code == 1 && err.contains("a session is damaged"), "{err}");
    assert!(!into.exists());

    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |store| {
        change(store, |entry| {
            entry.result.tally.completions.add(1, u128::MAX / 2);
        });
    });
    assert_refused(&run, &COMMANDS, "what no count gives");
    let (code, out, err) = of(&["status", "--check", text(&run)]);
    assert!(
        code == 1 && out.is_empty() && err.contains("what no count gives"),
        "{err}"
    );
}

#[test]
fn a_run_without_plans_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let nothing = RunInfo {
        plans: Vec::new(),
        ..info(N, Shard::WHOLE)
    };
    let error = Store::create(dir.path(), &nothing).err().unwrap();
    assert!(
        error.to_string().contains("`plans` names no plan"),
        "{error}"
    );
    assert_refused(dir.path(), &COMMANDS, "`plans` names no plan");
}

#[test]
fn a_record_whose_session_was_deleted_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let run = stranger(dir.path(), 10, |_| {});
    sqlite(&run).execute("DELETE FROM session", []).unwrap();
    // `status` believes what is recorded.
    assert_refused(&run, &COMMANDS[1..], "the session that counted record");
}

#[test]
fn a_record_cannot_choose_the_kernel_that_checks_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut checks = std::collections::BTreeSet::new();
    let claims = Isa::ALL
        .map(Isa::name)
        .into_iter()
        .chain(["nobody", "unheard"]);
    for (at, claim) in claims.enumerate() {
        let dir = dir.path().join(at.to_string());
        fs::create_dir(&dir).unwrap();
        let run = stranger(&dir, 12, |store| {
            change(store, |entry| {
                entry.result.origin = Origin {
                    worker: WorkerId::Cpu(0),
                    counted_by: CountedBy::Cpu(claim.into()),
                };
            });
        });
        let findings = verifying::check(&run, RecountChoice::All).unwrap();
        assert!(findings.wrong.is_empty());
        for (engine, claimed, counted) in findings.kernels.into_keys() {
            assert_ne!(claimed, counted);
            assert_eq!(claimed, claim);
            if engine == Engine::Chain {
                checks.insert(counted);
            }
        }
    }
    // The widest kernel of this machine, and where a record claims to be of that one, the next, or the oracle.
    assert_eq!(checks.len(), 2, "{checks:?}");
    assert!(checks.contains(counter().isa.name()), "{checks:?}");
}

#[test]
fn the_command_to_resume_works_whatever_the_directory_is_called() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("it's\nn\u{1b}[31m17");
    let run_17 = words!("run -n 17 --engine chain --isa portable --workers 1");
    let (code, _, err) =
        of(&[&run_17[..], &["--time-limit", "100ms", "--dir", text(&run)]].concat());
    assert_eq!(code, 4, "{err}");
    let command = err.split('`').nth(1).unwrap();
    let path = Path::new(PROGRAM).parent().unwrap();
    let output = isolated("bash")
        .args(["-c", &format!("PATH={}:$PATH; {command}", text(path))])
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("95815104"), "{command}: {output:?}");
}

#[test]
fn a_shard_without_tasks_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("run");
    of(&["run", "-n", "8", "--shard", "999/1000", "--dir", text(&run)]);
    let (code, out, err) = of(&["status", text(&run)]);
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("this shard has no tasks") && !out.contains('%'),
        "{out}"
    );
}

/// SQLite could take the name of such a directory for a URI, and open another ledger.
#[test]
fn a_directory_whose_name_looks_like_a_uri_is_one() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(&dir.path().join("d"), 10);
    let run = |args: &[&str]| {
        let mut command = queenfold(args);
        said(&command.current_dir(dir.path()).output().unwrap())
    };
    for (name, n) in [("file:d", "9"), ("file:x?mode=memory", "8")] {
        let (code, _, err) = run(&["run", "-n", n, "--dir", name]);
        assert_eq!(code, 0, "{name}: {err}");
        let (_, out, err) = run(&["status", name]);
        assert!(out.contains(&format!("n = {n}")), "{name}: {out}{err}");
    }
}

#[test]
fn a_path_too_long_for_a_ledger_is_said_to_be_so() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    for (length, code) in [(493, 0), (494, 1)] {
        let mut run = dir.clone();
        while run.as_os_str().len() < length {
            let left = length - run.as_os_str().len() - 1;
            run.push("k".repeat(if left > 200 { 100 } else { left }));
        }
        let (ended, _, err) = of(&["run", "-n", "8", "--dir", text(&run)]);
        assert_eq!(ended, code, "{length}: {err}");
        assert!(
            code == 0 || err.contains("has 494 bytes, and SQLite takes at most 493"),
            "{err}"
        );
    }
}
