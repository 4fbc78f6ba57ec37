//! What a directory of somebody else says does not beat what was counted here.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use queenfold::engine::{Correction, CountedBy, Decision, Method, WorkerId};
use queenfold_ledger::ledger::{Confirmation, Session};

use super::corrections::write;
use super::*;
use crate::common::program::{of, tells, text};
use tempfile::TempDir;

/// A small board of which no count is known, and its completions.
const BOARD: [&str; 7] = [
    "-n",
    "12",
    "--queens",
    "c3",
    "--engine",
    "colour",
    "--no-unique",
];
const TOTAL: &str = "1228";
const STRANGER: &str = "feedfacefeedface";

/// A run that was counted twice.
fn twice(dir: &Path) {
    let (code, _, err) = of(&[&["run"], &BOARD[..], &["--dir", text(dir)]].concat());
    assert_eq!(code, 0, "{err}");
    let (code, out, err) = of(&["verify", "--again", text(dir)]);
    assert!(code == 0 && out.contains(TOTAL), "{out}{err}");
}

/// A copy of a run, of somebody who may write to it.
pub fn copy(dir: &Path, name: &str) -> PathBuf {
    let copy = dir.with_file_name(name);
    fs::create_dir(&copy).unwrap();
    fs::copy(dir.join(FILE), copy.join(FILE)).unwrap();
    copy
}

/// A session of the stranger, who says that it ran where the first one did.
fn stranger(store: &Store) -> Session {
    let mut session = store.sessions().unwrap().remove(0);
    session.id = STRANGER.to_owned();
    store.put_session(&session).unwrap();
    session
}

/// The same task, counted otherwise or again by `session`.
fn forged(entry: &Entry, session: &str, more: u128) -> Entry {
    let mut forged = entry.clone();
    forged.session = session.to_owned();
    forged.result.tally.completions.add(1, more);
    forged.result.origin.worker = WorkerId::Cpu(9);
    forged.result.origin.counted_by = CountedBy::Cpu("scalar".into());
    forged.recorded_at += 1;
    forged
}

/// Logs that the counts of a task differ, and that the last one decides.
fn decide(dir: &Path, recorded: &Entry, other: &Entry, decision: Option<&Entry>) {
    write(dir, |store| {
        stranger(store);
        let decision = decision.map(|result| Decision {
            result: result.clone(),
            method: Method::Oracle,
        });
        let correction = Correction {
            recorded: recorded.clone(),
            others: vec![other.clone()],
            decision,
        };
        store.correct(&correction, STRANGER, other.recorded_at + 1)
    });
}

/// A run that was counted twice here, and a copy of it.
fn twice_and_copied() -> (TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    twice(&own);
    let theirs = copy(&own, "theirs");
    (dir, own, theirs)
}

fn confirmation(dir: &Path) -> Confirmation {
    let sums = Store::open_to_read(dir).unwrap().sums();
    sums.unwrap().who.confirmation
}

fn merged(source: &Path, into: &Path) -> (i32, String, String) {
    of(&["gather", text(source), "--into", text(into)])
}

fn result(dir: &Path) -> serde_json::Value {
    let (code, out, err) = of(&["resume", text(dir), "--json"]);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn a_forged_decision_does_not_beat_counts_that_were_made_here() {
    let (_dir, own, theirs) = twice_and_copied();
    let (before, first) = (signature(&own), records(&own).unwrap().remove(0));
    let wrong = forged(&first, STRANGER, 800);
    decide(&theirs, &first, &wrong, Some(&forged(&wrong, STRANGER, 0)));
    let (code, out, err) = merged(&theirs, &own);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    let key = first.result.key.to_string();
    for says in [&key, "worker-9", "worker-0", &first.session, STRANGER] {
        assert!(err.contains(says), "{says}: {err}");
    }
    assert_eq!(signature(&own), before);
    assert_eq!(result(&own)["total"], TOTAL);

    // Counted once here, it is counted here again.
    sqlite(&own).execute("DELETE FROM second", []).unwrap();
    let (code, _, err) = merged(&theirs, &own);
    assert_eq!(code, 3, "{err}");
    assert!(err.contains("counted here"), "{err}");
    assert_eq!(signature(&own), before);
}

#[test]
fn a_decision_that_a_count_here_confirms_holds() {
    let (_dir, own, theirs) = twice_and_copied();
    let good = signature(&own);
    sqlite(&own).execute("DELETE FROM second", []).unwrap();
    let right = records(&own).unwrap().remove(0);
    let wrong = verifying::forge(&own, 0, |entry| entry.result.tally.completions.add(1, 8));
    // Their record was as wrong as the one here, before it was corrected.
    sqlite(&theirs).execute("DELETE FROM second", []).unwrap();
    verifying::forge(&theirs, 0, |entry| *entry = wrong.clone());
    let other = forged(&right, STRANGER, 0);
    decide(&theirs, &wrong, &other, Some(&forged(&other, STRANGER, 0)));
    let (code, out, err) = merged(&theirs, &own);
    assert!(code == 0 && out.contains(TOTAL), "{out}{err}");
    assert_eq!(signature(&own), good);
}

#[test]
fn nobody_contests_what_was_counted_here_by_a_word() {
    let (_dir, own, theirs) = twice_and_copied();
    let first = records(&own).unwrap().remove(0);
    decide(&theirs, &first, &forged(&first, STRANGER, 8), None);
    let (code, out, err) = merged(&theirs, &own);
    assert!(code == 0 && out.contains(TOTAL), "{out}{err}");
    // Nor does anybody accuse a worker of this host.
    let theirs = copy(&own, "accuser");
    let accused = forged(&first, &first.session, 8);
    decide(
        &theirs,
        &first,
        &accused,
        Some(&forged(&first, STRANGER, 0)),
    );
    let (code, out, err) = merged(&theirs, &own);
    assert!(code == 0 && out.contains(TOTAL), "{out}{err}");
    assert_eq!(confirmation(&own).corrections, 0);
    assert_eq!(result(&own)["total"], TOTAL);
}

#[test]
fn what_one_merged_directory_says_of_itself_is_a_claim_until_it_is_counted_here() {
    let dir = tempfile::tempdir().unwrap();
    let [theirs, own] = ["theirs", "own"].map(|name| dir.path().join(name));
    twice(&theirs);
    let (code, _, err) = merged(&theirs, &own);
    assert_eq!(code, 0, "{err}");
    let tasks = confirmation(&own).tasks;
    let claimed = confirmation(&own);
    assert_eq!((claimed.twice, claimed.claimed), (tasks, tasks));
    assert_eq!(result(&own)["checked"], "claimed");
    let (code, out, err) = of(&["verify", "--again", text(&own), "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(r#""checked":"twice""#), "{out}");
    let counted = confirmation(&own);
    assert_eq!((counted.twice, counted.claimed), (tasks, 0));
    // Another directory that agrees is no count that was made here: it may be a copy with other names.
    let [other, both] = ["other", "both"].map(|name| dir.path().join(name));
    twice(&other);
    for source in [&theirs, &other] {
        let (code, _, err) = merged(source, &both);
        assert_eq!(code, 0, "{err}");
    }
    assert_eq!(result(&both)["checked"], "claimed");
    // One that was made here and one of somebody else are two.
    let single = dir.path().join("single");
    let (code, _, err) = of(&[&["run"], &BOARD[..], &["--dir", text(&single)]].concat());
    assert_eq!(code, 0, "{err}");
    let (code, _, err) = merged(&theirs, &single);
    assert_eq!(code, 0, "{err}");
    assert_eq!(result(&single)["checked"], "twice");
}

#[test]
fn a_merged_run_does_not_say_how_to_count_here() {
    let folder = tempfile::tempdir().unwrap();
    let [guest, new] = ["guest", "new"].map(|name| folder.path().join(name));
    let [guest, new] = [guest.to_str().unwrap(), new.to_str().unwrap()];
    of(&["run", "-n", "8", "--nice", "19", "--dir", guest]);
    assert!(of(&["status", guest]).1.contains("--nice 19"));
    of(&["gather", guest, "--into", new]);
    let (code, out, err) = of(&["status", new]);
    assert!(code == 0 && !out.contains("--nice"), "{out}{err}");
}

/// It recorded settings that are none any more.
#[test]
fn a_run_of_an_earlier_version_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let (code, _, err) = of(&["run", "-n", "8", "--nice", "3", "--dir", text(&run)]);
    assert_eq!(code, 0, "{err}");
    let config = "[run]\nn = 8 # flag -n\nqueens = \"none\"\nholes = \"none\"\nboard = \"none\"\ndevice = \"auto\"\n\
                  nice = 19\n[output]\njson = false\nprofile = false\n";
    write(&run, |store| {
        let mut session = store.sessions()?.remove(0);
        session.facts.config = config.to_owned();
        store.put_session(&session)
    });
    let (code, out, err) = of(&["resume", text(&run), "--json"]);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains(r#""total":"92""#), "{out}");
    assert!(
        err.contains("as the session before, with --nice 19"),
        "{err}"
    );
}

#[test]
fn a_copy_does_not_change_the_times_of_what_was_counted_here() {
    let (_dir, own, theirs) = twice_and_copied();
    write(&theirs, |store| {
        let mut session = store.sessions()?.remove(0);
        session.elapsed += Duration::from_secs(99);
        session.cpu = None;
        store.put_session(&session)
    });
    let sessions = || Store::open_to_read(&own).unwrap().sessions().unwrap();
    let before = sessions();
    let (code, _, err) = merged(&theirs, &own);
    assert_eq!(code, 0, "{err}");
    assert_eq!(sessions(), before);
}

#[test]
fn nobody_counts_in_the_name_of_a_session_of_this_host() {
    let (_dir, own, theirs) = twice_and_copied();
    // The second counts and a record are lost here, and the stranger has others of the same sessions.
    let first = records(&own).unwrap().remove(0);
    sqlite(&own)
        .execute_batch(&format!(
            "DELETE FROM second; DELETE FROM record WHERE task = {}",
            first.result.key.index
        ))
        .unwrap();
    verifying::forge(&theirs, 0, |entry| entry.recorded_at += 1);
    let (code, _, err) = merged(&theirs, &own);
    assert_eq!(code, 4, "{err}");
    assert!(err.contains("left out"), "{err}");
    assert_eq!(confirmation(&own).twice, 0);
    let counted = result(&own);
    assert_eq!(counted["total"], TOTAL);
    assert!(records(&own).unwrap()[0].session != first.session);
}

#[test]
fn what_was_counted_here_is_taken_out_only_by_its_name() {
    let (_dir, own, theirs) = twice_and_copied();
    let before = records(&own).unwrap();
    let take_out = |what: &str| of(&["gather", "--take-out", what, "--into", text(&own)]);
    let (code, out, err) = take_out(text(&theirs));
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    tells(&err, &["2 sessions", &before[0].session]);
    assert_eq!(records(&own).unwrap(), before);
    let (code, out, err) = take_out(&before[0].session);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("1 session taken out"), "{out}");
    // The second counts take the place of the records, and their session that of the first one.
    assert_eq!(records(&own).unwrap().len(), before.len());
    let sessions = Store::open_to_read(&own).unwrap().sessions().unwrap();
    let time = Session::time(&sessions, false);
    assert!(time.elapsed > Some(Duration::ZERO) && time.cpu > Some(Duration::ZERO));
    // That does not make it another session than that of the copy.
    let (code, _, err) = merged(&theirs, &own);
    assert_eq!(code, 0, "{err}");
    // What has come by that is taken out again by the name of the directory, and says what stays.
    let (code, out, err) = take_out(text(&theirs));
    assert_eq!(code, 0, "{err}");
    assert!(
        out.contains("1 session taken out") && err.contains("not taken out: 1 session"),
        "{out}{err}"
    );
    let (code, _, err) = take_out(STRANGER);
    assert!(code == 1 && err.contains("does not exist"), "{err}");
}

#[test]
fn completions_of_a_weight_that_no_partition_has_are_no_count() {
    let (_dir, own, theirs) = twice_and_copied();
    sqlite(&theirs).execute("DELETE FROM second", []).unwrap();
    verifying::forge(&theirs, 0, |entry| entry.result.tally.completions.add(8, 5));
    let into = own.with_file_name("into");
    for command in [
        &["resume", text(&theirs)][..],
        &["status", "--check", text(&theirs)],
        &["verify", text(&theirs)],
        &["gather", text(&theirs), "--into", text(&into)],
        &["certify", text(&theirs), "-o", text(&into)],
    ] {
        let (code, _, err) = of(command);
        assert_eq!(code, 1, "{command:?}: {err}");
        tells(&err, &["partitions that the task does not have"]);
    }
}

#[test]
fn a_reflection_pairs_the_solutions_that_a_turn_fixes() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    // The main diagonal reflects the board to itself, and no turn does.
    let (code, _, err) = of(&["run", "-n", "8", "--holes", "a1", "--dir", text(&own)]);
    assert_eq!(code, 0, "{err}");
    let census = records(&own).unwrap();
    let census = census
        .iter()
        .position(|entry| entry.result.key.engine == Engine::Census);
    verifying::forge(&own, census.unwrap(), |entry| entry.result.tally.r180 += 1);
    let (code, out, err) = of(&["resume", text(&own)]);
    // What contradicts the identity is found and corrected.
    assert!(
        code == 0 && out.contains("88 ") && out.contains("44 "),
        "{out}{err}"
    );
    assert!(err.contains("to be even"), "{err}");
}

#[test]
fn a_long_line_has_a_certificate() {
    let dir = tempfile::tempdir().unwrap();
    let [run, file] = ["run", "cert"].map(|name| dir.path().join(name));
    twice(&run);
    // As long as a task of 22 queens with 12 of them given, by the colour engine.
    write(&run, |store| {
        let mut session = store.sessions()?.remove(0);
        session.facts.host = "x".repeat(70_000);
        store.put_session(&session)
    });
    for arguments in [
        &["certify", text(&run), "-o", text(&file)][..],
        &["check", text(&file)],
    ] {
        let (code, _, err) = of(arguments);
        assert_eq!(code, 0, "{err}");
    }
}

#[test]
fn a_run_without_records_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("own");
    drop(create(&own, N, Shard::WHOLE).unwrap());
    let (_, _, err) = of(&["verify", "--again", text(&own)]);
    assert!(err.contains("nothing is recorded"), "{err}");
}
