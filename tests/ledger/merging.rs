//! Shards that are counted separately and then merged.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::common::program::{PROGRAM, isolated, of, said, tells, words};

/// Counts each of the `of` shards into its own directory below `dir`.
fn count_shards(dir: &Path, of: &[&str]) -> Vec<PathBuf> {
    of.iter()
        .map(|shard| {
            let target = dir.join(shard.replace('/', "-"));
            let shard: Shard = shard.parse().unwrap();
            let report = count(N, create(&target, N, shard).unwrap()).unwrap();
            assert!(!report.is_whole());
            let division = Division::new(shard, &plans(N));
            let tasks = plans(N).into_iter().flat_map(|plan| {
                let tasks = 0..plan.tasks();
                tasks.map(move |index| plan.key(index))
            });
            let own = tasks.filter(|task| division.holds(shard, *task));
            assert_eq!(report.tasks_done, own.count() as u64);
            target
        })
        .collect()
}

fn merged(sources: &[PathBuf], into: &Path) -> Result<Merged, LedgerError> {
    merge(sources, into)
}

#[test]
fn three_shards_together_are_the_whole() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    whole_run(&whole, N);
    let shards = count_shards(dir.path(), &["0/3", "1/3", "2/3"]);
    let into = dir.path().join("merged");
    let merged = merged(&shards, &into).unwrap();
    assert!(merged.sums.coverage.is_whole());
    assert_eq!((merged.copied, merged.there), (17, 0));
    assert_eq!(signature(&into), signature(&whole));
    assert_eq!(
        Store::open_to_read(&into)
            .unwrap()
            .sessions()
            .unwrap()
            .len(),
        3
    );
    // The merged run is a run like any other.
    let report = count(N, resume(&into, N).unwrap()).unwrap();
    assert!(report.is_whole());
    assert_total(N, &report);
}

#[test]
fn nothing_is_merged_into_a_directory_with_files_of_others() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/2"]);
    let into = dir.path().join("others");
    fs::create_dir(&into).unwrap();
    fs::write(into.join("thesis.txt"), "mine").unwrap();
    let error = merged(&shards, &into).unwrap_err();
    assert!(matches!(error, LedgerError::Unfit(_)), "{error}");
    assert_eq!(fs::read_dir(&into).unwrap().count(), 1);
}

#[test]
fn a_missing_shard_is_named_and_counted_when_the_merge_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/3", "2/3"]);
    let into = dir.path().join("merged");
    let merged = merged(&shards, &into).unwrap();
    assert!(!merged.sums.coverage.is_whole());
    assert_eq!(
        merged.sums.coverage.missing(&merged.division).to_string(),
        "2 of 3 parts; missing 1"
    );
    let report = count(N, resume(&into, N).unwrap()).unwrap();
    assert!(report.is_whole());
    assert_total(N, &report);
}

#[test]
fn overlaps_must_agree() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/2", "1/2", "0/3"]);
    let into = dir.path().join("merged");
    let merged = merge(&shards, &into).unwrap();
    assert!(merged.sums.coverage.is_whole());
    assert_eq!((merged.copied, merged.there), (17, 7));

    let forged = dir.path().join("forged");
    let mut record = records(&shards[0]).unwrap()[3].clone();
    record.result.tally.completions.add(8, 1);
    forge(&forged, &shards[0], &[record.clone()]);
    let error = merge(&[forged], &into).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    assert!(
        error.to_string().contains(&record.result.key.to_string()),
        "{error}"
    );
    // No record of the forged ledger was merged.
    assert_eq!(records(&into).unwrap().len(), 17);
}

#[test]
fn runs_of_other_boards_or_engines_are_not_mixed() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, c, into] = ["a", "b", "c", "merged"].map(|name| dir.path().join(name));
    whole_run(&a, 10);
    whole_run(&b, 11);
    let merge_with = |other: &Path| {
        let error = merge(&[&a, other], &into).unwrap_err();
        assert!(matches!(error, LedgerError::Unfit(_)), "{error}");
        assert!(!into.exists());
        error.to_string()
    };
    let error = merge_with(&b);
    let holds = |run: &Path, what| format!("{} holds {what}", run.display());
    tells(&error, &[&holds(&a, "n = 10 by chain and census")]);
    tells(&error, &[&holds(&b, "n = 11 by chain and census")]);

    let args = words!("run -n 10 --engine colour --dir {}", c.to_str().unwrap());
    assert_eq!(of(&args).0, 0);
    let error = merge_with(&c);
    tells(&error, &[&holds(&c, "n = 10 by colour and census")]);
    // Nor is a run put into one of another board.
    let error = merge(&[&a], &b).unwrap_err();
    assert!(matches!(error, LedgerError::Unfit(_)), "{error}");
}

/// A ledger with these records and the sessions of `of`, which counted others.
fn forge(dir: &Path, of: &Path, records: &[Entry]) {
    std::fs::create_dir(dir).unwrap();
    let store = Store::create(dir, &info(N, Shard::WHOLE)).unwrap();
    store.begin().unwrap();
    for session in Store::open_to_read(of).unwrap().sessions().unwrap() {
        store.put_session(&session).unwrap();
    }
    for record in records {
        store.insert(record).unwrap();
    }
    store.commit().unwrap();
}

#[test]
fn all_sources_are_merged_or_none() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/3", "1/3", "2/3"]);
    let [into, forged] = ["into", "forged"].map(|name| dir.path().join(name));
    merged(&shards[..1], &into).unwrap();
    let before = records(&into).unwrap();
    // The second source agrees with the first, and contradicts the one after it.
    let mut wrong = records(&shards[2]).unwrap()[1].clone();
    wrong.result.tally.partitions += 1;
    forge(&forged, &shards[2], &[wrong]);
    let sources = [shards[1].clone(), forged.clone(), shards[2].clone()];
    let error = merged(&sources, &into).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    assert_eq!(records(&into).unwrap(), before);
    let new = dir.path().join("new");
    merged(&sources, &new).unwrap_err();
    assert!(!new.exists());

    // Each task agrees, and the whole does not agree with what is known.
    std::fs::remove_dir_all(&forged).unwrap();
    let mut wrong = records(&shards[2]).unwrap();
    wrong[1].result.tally.completions.add(8, 1);
    forge(&forged, &shards[2], &wrong);
    let sources = [shards[1].clone(), forged];
    let error = merged(&sources, &into).unwrap_err();
    assert!(matches!(error, LedgerError::Contradiction(_)), "{error}");
    assert_eq!(records(&into).unwrap(), before);
    merged(&shards, &into).unwrap();
}

#[test]
fn a_source_can_be_taken_out_again() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/3", "1/3", "2/3"]);
    let into = dir.path().join("into");
    merged(&shards, &into).unwrap();
    let theirs = records(&shards[1]).unwrap().len() as u64;
    let taken = take_out(&shards[1], &into).unwrap();
    assert_eq!((taken.records, taken.sessions), (theirs, 1));
    assert_eq!(records(&into).unwrap().len() as u64, 17 - theirs);
    assert_eq!(take_out(&shards[1], &into).unwrap().records, 0);
    let report = count(N, resume(&into, N).unwrap()).unwrap();
    assert_total(N, &report);

    {
        let [from, into] = [&shards[0], &into].map(|dir| dir.to_str().unwrap());
        let (code, out, err) = of(&["gather", "--take-out", from, "--into", into]);
        assert_eq!(code, 0, "{err}");
        assert!(out.contains("of 1 session taken out"), "{out}");
    }
}

#[test]
fn a_session_is_not_replaced_by_an_older_one_or_another() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/2", "1/2"]);
    let into = dir.path().join("into");
    merged(&shards, &into).unwrap();
    let sessions = || Store::open_to_read(&into).unwrap().sessions().unwrap();
    let before = sessions();

    let alter = |dir: &Path, change: fn(&mut ledger::Session)| {
        let store = Store::open_to_write(dir).unwrap();
        let mut session = store.sessions().unwrap().remove(0);
        change(&mut session);
        store.begin().unwrap();
        store.put_session(&session).unwrap();
        store.commit().unwrap();
    };
    alter(&shards[0], |session| session.elapsed = Duration::ZERO);
    merged(&shards, &into).unwrap();
    assert_eq!(sessions(), before);
    alter(&shards[0], |session| session.facts.host.push('x'));
    let error = merged(&shards, &into).unwrap_err();
    assert!(error.to_string().contains("is forged"), "{error}");
    assert_eq!(sessions(), before);
}

#[test]
fn more_directories_than_a_process_may_open_are_merged() {
    let dir = tempfile::tempdir().unwrap();
    let shard = count_shards(dir.path(), &["0/2"]).remove(0);
    let many = dir.path().join("many");
    for copy in 0..60 {
        let copy = many.join(copy.to_string());
        std::fs::create_dir_all(&copy).unwrap();
        std::fs::copy(shard.join(FILE), copy.join(FILE)).unwrap();
    }
    let command = format!(
        "ulimit -n 48; cd '{}'; exec {} gather * --into ../into",
        many.display(),
        PROGRAM
    );
    let output = isolated("sh").args(["-c", &command]).output();
    let (code, _, err) = said(&output.unwrap());
    assert_eq!(code, 4, "{err}");
    assert_eq!(records(&dir.path().join("into")).unwrap().len(), 9);
}
