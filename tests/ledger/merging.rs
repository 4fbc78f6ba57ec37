//! Shards that are counted separately and then merged.

use std::path::PathBuf;

use queenfold::ledger::{Merged, merge};

use super::*;

/// Counts each of the `of` shards into its own directory below `dir`.
fn count_shards(dir: &Path, of: &[&str]) -> Vec<PathBuf> {
    of.iter()
        .map(|shard| {
            let target = dir.join(shard.replace('/', "-"));
            let shard: Shard = shard.parse().unwrap();
            let report = count(N, create(&target, N, shard).unwrap()).unwrap();
            assert!(!report.is_whole());
            assert_eq!(report.tasks_done, shard.tasks_of(16) + shard.tasks_of(1));
            target
        })
        .collect()
}

fn merged(sources: &[PathBuf], into: &Path) -> Result<Merged, LedgerError> {
    merge(sources, into, &plans(N))
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
fn a_missing_shard_is_named_and_counted_when_the_merge_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let shards = count_shards(dir.path(), &["0/3", "2/3"]);
    let into = dir.path().join("merged");
    let merged = merged(&shards, &into).unwrap();
    assert!(!merged.sums.coverage.is_whole());
    assert_eq!(
        merged.sums.coverage.missing(merged.division).to_string(),
        "shard 1/3: chain 1..=13 in steps of 3 (5 tasks)"
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
    let merged = merge(&shards, &into, &plans(N)).unwrap();
    assert!(merged.sums.coverage.is_whole());
    assert_eq!((merged.copied, merged.there), (17, 7));

    let forged = dir.path().join("forged");
    std::fs::create_dir(&forged).unwrap();
    let store = Store::create(&forged, &info(N, Shard::WHOLE)).unwrap();
    let mut record = records(&shards[0]).unwrap()[3].clone();
    record.result.tally.completions.add(8, 1);
    store.begin().unwrap();
    store.insert(&record, || 0..0).unwrap();
    store.commit().unwrap();
    drop(store);
    let error = merge(&[forged], &into, &plans(N)).unwrap_err();
    assert!(error.is_mismatch(), "{error}");
    assert!(
        error.to_string().contains(&record.result.key.to_string()),
        "{error}"
    );
    // No record of the forged ledger was merged.
    assert_eq!(records(&into).unwrap().len(), 17);
}

#[cfg(unix)]
#[test]
fn runs_of_other_boards_or_engines_are_not_mixed() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, c, into] = ["a", "b", "c", "merged"].map(|name| dir.path().join(name));
    whole_run(&a, 10);
    whole_run(&b, 11);
    let merge_with = |other: &Path| {
        let error = merge(&[&a, other], &into, &plans(10)).unwrap_err();
        assert!(matches!(error, LedgerError::Unlike { .. }), "{error}");
        assert!(!into.exists());
        error.to_string()
    };
    let error = merge_with(&b);
    let holds = |run: &Path, what| format!("{} holds {what}", run.display());
    assert!(
        error.contains(&holds(&a, "n = 10 by chain and census")),
        "{error}"
    );
    assert!(
        error.contains(&holds(&b, "n = 11 by chain and census")),
        "{error}"
    );

    let args = [
        "run",
        "-n",
        "10",
        "--engine",
        "join",
        "--dir",
        c.to_str().unwrap(),
    ];
    assert_eq!(super::process::of(&args).0, 0);
    let error = merge_with(&c);
    assert!(
        error.contains(&holds(&c, "n = 10 by join and census")),
        "{error}"
    );
    // Nor is a run put into one of another board.
    let error = merge(&[&a], &b, &plans(10)).unwrap_err();
    assert!(matches!(error, LedgerError::Unlike { .. }), "{error}");
}
