//! Second counts beside the records, and the log of counts that differed.

use queenfold::actors::Finding;
use queenfold::engine::{Correction, Decision, Method};
use queenfold::engine::{CountedBy, Origin, TaskKey, WorkerId};
use queenfold_ledger::ledger::{LoggedCorrection, RecordedTask};

use super::*;
use crate::common::program::{of, text};

/// The same task, counted by another worker and recorded by a process with this id.
fn again(entry: &Entry, session: &str) -> Entry {
    let mut again = entry.clone();
    again.session = session.to_owned();
    again.result.origin = Origin {
        worker: WorkerId::Cpu(7),
        counted_by: CountedBy::Cpu("avx2".into()),
    };
    again.recorded_at += 1;
    again
}

fn wrong(mut entry: Entry) -> Entry {
    entry.result.tally.completions.add(8, 1);
    entry
}

/// Writes to a ledger, in one transaction.
pub fn write(dir: &Path, write: impl FnOnce(&Store) -> Result<(), LedgerError>) {
    let store = Store::open_to_write(dir).unwrap();
    store.begin().unwrap();
    write(&store).unwrap();
    store.commit().unwrap();
}

/// Adds a session that recorded nothing yet.
fn add_session(dir: &Path, id: &str) {
    write(dir, |store| {
        let mut session = store.sessions()?.remove(0);
        session.id = id.to_owned();
        session.facts.number += 1;
        store.put_session(&session)
    });
}

fn tasks(dir: &Path) -> Result<Vec<RecordedTask>, LedgerError> {
    let mut tasks = Vec::new();
    Store::open_to_read(dir)?.for_each_task(|task| tasks.push(task))?;
    Ok(tasks)
}

fn corrections(dir: &Path) -> Vec<LoggedCorrection> {
    Store::open_to_read(dir).unwrap().corrections().unwrap()
}

fn correct(dir: &Path, results: &[&Entry], decided: Option<&Entry>) {
    let correction = Correction {
        recorded: results[0].clone(),
        others: results[1..].iter().copied().cloned().collect(),
        decision: decided.map(|result| Decision {
            result: result.clone(),
            method: Method::Oracle,
        }),
    };
    write(dir, |store| store.correct(&correction, "other", 5));
}

/// A finished run, with a second session that can be named.
fn run(dir: &Path) -> Vec<Entry> {
    whole_run(dir, 13);
    add_session(dir, "other");
    records(dir).unwrap()
}

#[test]
fn a_second_count_stands_beside_its_record_and_changes_no_signature() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path());
    let before = signature(dir.path());
    let second = again(&records[2], "other");
    write(dir.path(), |store| store.confirm(&second, "other", 5));
    let read = tasks(dir.path()).unwrap();
    assert_eq!(read[2].second, Some(second));
    let seconds = read.iter().filter(|task| task.second.is_some()).count();
    assert_eq!((seconds, read.len()), (1, records.len()));
    assert_eq!(signature(dir.path()), before);
}

#[test]
fn damaged_or_orphaned_second_counts_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path());
    let second = again(&records[0], "other");
    write(dir.path(), |store| store.confirm(&second, "other", 5));
    let bytes = std::fs::read(dir.path().join(FILE)).unwrap();
    for (change, says) in [
        ("UPDATE second SET nodes = nodes + 1", "the second count of"),
        // A record is no second count, though their columns are the same.
        (
            "DELETE FROM second; INSERT INTO second SELECT * FROM record WHERE task = 3",
            "does not match its digest",
        ),
        (
            "DELETE FROM record WHERE (engine, task) IN (SELECT engine, task FROM second)",
            "a task that has no record",
        ),
        ("DELETE FROM session WHERE id = 'other'", "is missing"),
    ] {
        let log = dir.path().join("ledger.db-wal");
        let _ = std::fs::remove_file(log);
        std::fs::write(dir.path().join(FILE), &bytes).unwrap();
        sqlite(dir.path()).execute_batch(change).unwrap();
        let error = tasks(dir.path()).unwrap_err().to_string();
        assert!(error.contains(says), "{change}: {error}");
    }
}

#[test]
fn a_decision_for_the_record_keeps_it_and_confirms_it() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path());
    let before = signature(dir.path());
    let (first, third) = (&records[1], again(&records[1], "other"));
    let refused = wrong(again(first, "other"));
    correct(dir.path(), &[first, &refused], Some(&third));
    let task = tasks(dir.path()).unwrap().remove(1);
    assert_eq!((&task.record, task.second), (first, Some(third)));
    assert_eq!(signature(dir.path()), before);
    assert_eq!(corrections(dir.path())[0].correction.others, [refused]);
}

#[test]
fn a_decision_against_the_record_replaces_it_and_nothing_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let good = signature(dir.path());
    let first = verifying::forge(dir.path(), 1, |entry| {
        entry.result.tally.completions.add(8, 1);
    });
    // A wrong second count of the same sort is replaced as well.
    let wrong_second = again(&first, "other");
    write(dir.path(), |store| store.confirm(&wrong_second, "other", 5));
    let mut right = again(&first, "other");
    right.result.tally.completions = Default::default();
    right.result.tally = records_of_a_good_run()[1].result.tally;
    let third = again(&right, "other");
    assert_ne!(signature(dir.path()), good);
    correct(dir.path(), &[&first, &right], Some(&third));
    let task = tasks(dir.path()).unwrap().remove(1);
    assert_eq!(
        (task.record, task.second),
        (third.clone(), Some(right.clone()))
    );
    assert_eq!(signature(dir.path()), good);
    let logged = &corrections(dir.path())[0];
    assert_eq!(logged.correction.recorded, first);
    assert_eq!(logged.correction.others, [wrong_second, right]);
    assert_eq!(logged.correction.decision.as_ref().unwrap().result, third);
    assert_eq!((logged.number, logged.recorded_at), (0, 5));
}

fn records_of_a_good_run() -> Vec<Entry> {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path())
}

#[test]
fn a_contested_task_has_no_total_until_it_is_decided() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path());
    let first = &records[1];
    let other = wrong(again(first, "other"));
    let third = wrong(other.clone());
    correct(dir.path(), &[first, &other, &third], None);
    let contested = |dir: &Path| {
        let store = Store::open_to_read(dir).unwrap();
        let sums = store.sums().unwrap();
        assert_eq!(store.check_decided().is_err(), !sums.contested.is_empty());
        sums.contested
    };
    assert_eq!(contested(dir.path()), [first.result.key]);
    for command in ["resume", "verify"] {
        let (code, out, err) = of(&[command, text(dir.path())]);
        assert_eq!(code, 3, "{command}: {out}{err}");
        assert!(!out.contains("73712"), "{command}: {out}");
        assert!(err.contains("chain-1:0 of n = 13") || err.contains("chain-1:1 of n = 13"));
    }
    let into = tempfile::tempdir().unwrap();
    let from = text(dir.path());
    let (code, out, err) = of(&["gather", from, "--into", text(into.path())]);
    assert_eq!((code, out.as_str()), (3, ""), "{err}");
    assert_eq!(contested(into.path()), [first.result.key]);

    let last = again(first, "other");
    correct(dir.path(), &[first, &other], Some(&last));
    assert!(contested(dir.path()).is_empty());
    let numbers: Vec<_> = corrections(dir.path()).iter().map(|c| c.number).collect();
    assert_eq!(numbers, [0, 1]);
    assert_eq!(of(&["resume", text(dir.path())]).0, 0);
    // The decision reaches the run that has only the difference.
    merge(&[dir.path()], into.path()).unwrap();
    assert!(contested(into.path()).is_empty());
    assert_eq!(corrections(into.path()), corrections(dir.path()));
}

#[test]
fn damaged_corrections_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path());
    let first = &records[1];
    let refused = wrong(again(first, "other"));
    correct(dir.path(), &[first, &refused], Some(&again(first, "other")));
    correct(dir.path(), &[first, &refused], Some(&again(first, "other")));
    let bytes = std::fs::read(dir.path().join(FILE)).unwrap();
    for (change, says) in [
        (
            "UPDATE correction SET number = number + 1 WHERE number = 1",
            "damaged",
        ),
        ("DELETE FROM correction WHERE number = 0", "is missing"),
        ("UPDATE correction SET correction = '{}'", "damaged"),
        (
            "UPDATE correction SET correction = correction || ' '",
            "damaged",
        ),
        ("UPDATE correction SET recorded_at = 6", "damaged"),
        ("UPDATE correction SET task = 12345", "damaged"),
        (
            "INSERT INTO correction SELECT engine, task, number + 9, '', session, recorded_at, blake3 \
             FROM correction WHERE number = 0",
            "damaged",
        ),
        (
            "UPDATE record SET weight8 = weight8 + 1 WHERE engine = 'chain'",
            "does not match its digest",
        ),
    ] {
        let _ = std::fs::remove_file(dir.path().join("ledger.db-wal"));
        std::fs::write(dir.path().join(FILE), &bytes).unwrap();
        sqlite(dir.path()).execute_batch(change).unwrap();
        let error = tasks(dir.path()).unwrap_err().to_string();
        assert!(error.contains(says), "{change}: {error}");
        assert!(resume(dir.path(), 13).is_err(), "{change}");
    }
}

#[test]
fn a_record_that_its_correction_did_not_decide_for_contradicts_itself() {
    let dir = tempfile::tempdir().unwrap();
    let records = run(dir.path());
    let first = &records[1];
    let refused = wrong(again(first, "other"));
    correct(dir.path(), &[first, &refused], Some(&again(first, "other")));
    let key = first.result.key;
    sqlite(dir.path())
        .execute("DELETE FROM second", [])
        .unwrap();
    verifying::forge(dir.path(), 1, |entry| *entry = refused.clone());
    let error = tasks(dir.path()).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    assert!(error.to_string().contains(&key.to_string()), "{error}");
}

fn key_of(task: &RecordedTask) -> TaskKey {
    task.record.result.key
}

#[test]
fn merged_runs_keep_second_counts_and_make_new_ones() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, into] = ["a", "b", "into"].map(|name| dir.path().join(name));
    run(&a);
    whole_run(&b, 13);
    let merged = merge(&[&a, &b], &into).unwrap();
    let all = tasks(&into).unwrap();
    assert_eq!(merged.seconds, all.len() as u64);
    for (task, theirs) in all.iter().zip(records(&b).unwrap()) {
        assert_eq!(task.second.as_ref(), Some(&theirs), "{}", key_of(task));
    }
    assert_eq!(signature(&into), signature(&a));
    // Once more, nothing is new: neither counts.
    let again = merge(&[&a, &b], &into).unwrap();
    assert_eq!((again.copied, again.seconds), (0, 0));
    assert_eq!(tasks(&into).unwrap(), all);
    // Without `a`, the counts of `b` are the records.
    let taken = take_out(&a, &into).unwrap();
    assert_eq!(taken.records, all.len() as u64);
    assert_eq!(records(&into).unwrap(), records(&b).unwrap());
    assert!(
        tasks(&into)
            .unwrap()
            .iter()
            .all(|task| task.second.is_none())
    );
}

#[test]
fn a_copy_from_before_a_correction_is_merged_by_what_was_decided() {
    let dir = tempfile::tempdir().unwrap();
    let [old, new] = ["old", "new"].map(|name| dir.path().join(name));
    run(&old);
    let right = records(&old).unwrap()[1].clone();
    let bad = verifying::forge(&old, 1, |entry| entry.result.tally.completions.add(8, 1));
    std::fs::create_dir(&new).unwrap();
    std::fs::copy(old.join(FILE), new.join(FILE)).unwrap();
    let (second, third) = (again(&right, "other"), again(&right, "other"));
    correct(&new, &[&bad, &second], Some(&third));
    for sources in [[&old, &new], [&new, &old]] {
        let into = dir.path().join("into");
        merge(&sources, &into).unwrap();
        assert_eq!(tasks(&into).unwrap(), tasks(&new).unwrap());
        assert_eq!(corrections(&into), corrections(&new));
        std::fs::remove_dir_all(into).unwrap();
    }
    // What nobody decided stays a contradiction.
    let other = dir.path().join("other");
    whole_run(&other, 13);
    let error = merge(&[&old, &other], &dir.path().join("into")).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    // Who is not trusted any more takes the task along that it decided.
    let into = dir.path().join("into");
    merge(&[&new], &into).unwrap();
    write(&into, |store| {
        assert_eq!(store.remove_session("other")?, 1);
        Ok(())
    });
    assert_eq!(
        records(&into).unwrap().len() + 1,
        tasks(&new).unwrap().len()
    );
    assert!(corrections(&into).is_empty());
}

#[test]
fn a_recorder_takes_corrections_and_the_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let plan = ChainPlan::new(size(13));
    let recording = create(dir.path(), 13, Shard::WHOLE).unwrap();
    let mut counter = plan.counter(&counter());
    let mut result = |index: u64| {
        let task = plan.task(index);
        queenfold::engine::TaskResult {
            key: task.key,
            tally: counter.count(&task).unwrap(),
            origin: Origin {
                worker: WorkerId::Cpu(0),
                counted_by: CountedBy::Cpu("avx512".into()),
            },
            audited_by: None,
            duration: Duration::from_millis(1),
        }
    };
    let right = result(0);
    let mut bad = right.clone();
    bad.tally.completions.add(4, 1);
    recording.take(Finding::Result(bad.clone())).unwrap();
    recording
        .take(Finding::Correction(Box::new(Correction {
            recorded: bad.clone(),
            others: vec![right.clone()],
            decision: Some(Decision {
                result: right.clone(),
                method: Method::SameKernel,
            }),
        })))
        .unwrap();
    recording.take(Finding::Result(result(1))).unwrap();
    flush(&recording).unwrap();
    drop(recording);
    let read = records(dir.path()).unwrap();
    assert_eq!((read.len(), &read[0].result), (2, &right));
    assert_eq!(corrections(dir.path())[0].correction.recorded.result, bad);
    let report = count(13, resume(dir.path(), 13).unwrap()).unwrap();
    assert_total(13, &report);
}

#[test]
fn a_ledger_of_format_1_is_refused_with_one_line() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path());
    let database = sqlite(dir.path());
    database
        .execute_batch("DROP TABLE second; DROP TABLE correction; PRAGMA user_version = 1")
        .unwrap();
    drop(database);
    for command in ["status", "resume", "verify"] {
        let (code, out, err) = of(&[command, text(dir.path())]);
        assert_eq!((code, out.as_str()), (1, ""), "{command}");
        assert_eq!(err.lines().count(), 1, "{err}");
        for says in [
            "ledger format 1",
            "queenfold 0.1",
            "reads format 2",
            "use the program",
        ] {
            assert!(err.contains(says), "{err}");
        }
    }
}
