//! Damaged files: a clear error or a correct continuation.

use std::fs;

use proptest::prelude::*;
use queenfold_ledger::ledger::Coverage;

use super::*;
use crate::common::program::tells;

/// A finished ledger to damage, and its original content.
struct Specimen {
    bytes: Vec<u8>,
    records: Vec<Entry>,
    signature: String,
}

impl Specimen {
    fn new(n: u32) -> Self {
        let dir = tempfile::tempdir().unwrap();
        whole_run(dir.path(), n);
        Self {
            bytes: fs::read(dir.path().join(FILE)).unwrap(),
            records: records(dir.path()).unwrap(),
            signature: signature(dir.path()),
        }
    }

    /// Opens `bytes` as a ledger and asserts that every record read from it is an original one.
    /// Returns the number of records, or the error that refused the ledger.
    fn assert_honest(&self, dir: &Path, bytes: &[u8]) -> Result<usize, String> {
        for name in ["ledger.db-wal", "ledger.db-shm", "ledger.db-journal"] {
            let _ = fs::remove_file(dir.join(name));
        }
        fs::write(dir.join(FILE), bytes).unwrap();
        let read = records(dir).map_err(|error| error.to_string());
        if let Ok(read) = &read {
            for record in read {
                assert!(self.records.contains(record), "forged: {record:?}");
            }
        }
        read.map(|read| read.len())
    }
}

#[test]
fn a_flipped_bit_in_any_record_is_refused() {
    let specimen = Specimen::new(13);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE), &specimen.bytes).unwrap();
    for record in &specimen.records {
        let digest: Vec<u8> = sqlite(dir.path())
            .query_row(
                "SELECT blake3 FROM record WHERE engine = ?1 AND task = ?2",
                (
                    record.result.key.engine.name(),
                    record.result.key.index as i64,
                ),
                |row| row.get(0),
            )
            .unwrap();
        // The digest is the last column: the rest of the record is before it in the file.
        let at = specimen
            .bytes
            .windows(32)
            .position(|w| w == digest)
            .unwrap();
        for offset in (at - 40..at + 32).step_by(5) {
            let mut bytes = specimen.bytes.clone();
            bytes[offset] ^= 1 << (offset % 8);
            specimen
                .assert_honest(dir.path(), &bytes)
                .expect_err("a flipped bit in a record");
        }
    }
}

#[test]
fn a_deleted_record_is_counted_again() {
    let specimen = Specimen::new(13);
    let dir = tempfile::tempdir().unwrap();
    for at in 0..specimen.records.len() {
        fs::write(dir.path().join(FILE), &specimen.bytes).unwrap();
        let task = specimen.records[at].result.key;
        sqlite(dir.path())
            .execute(
                "DELETE FROM record WHERE engine = ?1 AND task = ?2",
                (task.engine.name(), task.index as i64),
            )
            .unwrap();
        let report = count(13, resume(dir.path(), 13).unwrap()).unwrap();
        assert!(report.is_whole());
        assert_total(13, &report);
        assert_eq!(signature(dir.path()), specimen.signature);
    }
}

#[test]
fn a_record_cannot_be_there_twice() {
    let specimen = Specimen::new(13);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(FILE), &specimen.bytes).unwrap();
    let database = sqlite(dir.path());
    let copy = "INSERT INTO record SELECT * FROM record WHERE engine = 'chain' AND task = 1";
    let error = database.execute(copy, []).unwrap_err().to_string();
    assert!(error.contains("UNIQUE"), "{error}");
    // With another key the record does not match its digest. A table without a key is no ledger.
    database
        .execute(
            "UPDATE record SET task = 0 WHERE engine = 'chain' AND task = 1",
            [],
        )
        .unwrap_err();
    database
        .execute_batch(
            "DELETE FROM record WHERE engine = 'chain' AND task = 0;
             UPDATE record SET task = 0 WHERE engine = 'chain' AND task = 1;",
        )
        .unwrap();
    let error = records(dir.path()).unwrap_err().to_string();
    tells(&error, &["chain-1:0 of n = 13 does not match"]);
    database
        .execute_batch(
            "ALTER TABLE record RENAME TO old;
             CREATE TABLE record AS SELECT * FROM old UNION ALL SELECT * FROM old;
             DROP TABLE old;",
        )
        .unwrap();
    let error = records(dir.path()).unwrap_err().to_string();
    assert!(error.contains("tables are not those"), "{error}");
}

#[test]
fn a_record_from_another_run_is_refused() {
    let [one, two] = [0, 1].map(|_| tempfile::tempdir().unwrap());
    whole_run(one.path(), 13);
    whole_run(two.path(), 14);
    let database = sqlite(one.path());
    database
        .execute_batch(&format!(
            "ATTACH '{}' AS two;
             DELETE FROM main.record WHERE engine = 'census';
             INSERT INTO main.record SELECT * FROM two.record WHERE engine = 'census';",
            two.path().join(FILE).display()
        ))
        .unwrap();
    let error = records(one.path()).unwrap_err().to_string();
    tells(&error, &["census-1:0 of n = 13 does not match"]);
}

#[test]
fn a_changed_or_missing_entry_is_refused() {
    let specimen = Specimen::new(10);
    let dir = tempfile::tempdir().unwrap();
    for (change, message) in [
        (
            "UPDATE meta SET value = '11' WHERE key = 'n'",
            "`n` does not match",
        ),
        ("DELETE FROM meta WHERE key = 'plans'", "`plans` is missing"),
        (
            "UPDATE meta SET key = 'm' WHERE key = 'n'",
            "`m` does not match",
        ),
        ("UPDATE session SET elapsed_ms = 1 + elapsed_ms", "session"),
        ("CREATE VIEW v AS SELECT 1", "tables are not those"),
        (
            "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
            "tables are not those",
        ),
    ] {
        fs::write(dir.path().join(FILE), &specimen.bytes).unwrap();
        sqlite(dir.path()).execute_batch(change).unwrap();
        let error = resume(dir.path(), 10).err().unwrap().to_string();
        assert!(error.contains(message), "{change}: {error}");
    }
}

/// A digest covers the number that a text stands for, so other forms of the text match it, too.
#[test]
fn a_count_has_one_form() {
    let specimen = Specimen::new(13);
    let dir = tempfile::tempdir().unwrap();
    for (column, form) in [
        ("weight8", "'00' || weight8"),
        ("weight4", "'+' || weight4"),
        ("r180", "'0' || r180"),
        ("r90", "'+' || r90"),
    ] {
        fs::write(dir.path().join(FILE), &specimen.bytes).unwrap();
        let change =
            format!("UPDATE record SET {column} = {form} WHERE task = 0 AND engine = 'chain'");
        sqlite(dir.path()).execute_batch(&change).unwrap();
        let error = records(dir.path()).unwrap_err();
        assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    }
}

#[test]
fn a_log_cut_at_any_byte_loses_only_what_was_not_committed() {
    let dir = tempfile::tempdir().unwrap();
    let recording = create(dir.path(), 13, Shard::WHOLE).unwrap();
    let report = count(13, recording).unwrap();
    assert_total(13, &report);
    let truth = records(dir.path()).unwrap();
    // A writer that never checkpoints, like one that is killed: every commit stays in the log.
    let source = tempfile::tempdir().unwrap();
    drop(create(source.path(), 13, Shard::WHOLE).unwrap());
    let store = Store::open_to_write(source.path()).unwrap();
    for session in Store::open_to_read(dir.path()).unwrap().sessions().unwrap() {
        store.begin().unwrap();
        store.put_session(&session).unwrap();
        store.commit().unwrap();
    }
    for record in &truth {
        store.begin().unwrap();
        store.insert(record).unwrap();
        store.commit().unwrap();
    }
    let file = fs::read(source.path().join(FILE)).unwrap();
    let log = fs::read(source.path().join("ledger.db-wal")).unwrap();
    drop(store);
    assert!(log.len() > 4096);
    let mut most = 0;
    let lengths = (0..log.len()).step_by(97).chain([log.len()]);
    for length in lengths {
        let target = tempfile::tempdir().unwrap();
        fs::write(target.path().join(FILE), &file).unwrap();
        fs::write(target.path().join("ledger.db-wal"), &log[..length]).unwrap();
        let read = records(target.path()).unwrap();
        assert_eq!(read, truth[..read.len()], "cut at {length}");
        assert!(read.len() >= most, "a longer log holds no less");
        most = read.len();
    }
    assert_eq!(most, truth.len());
}

#[test]
fn a_damaged_source_is_not_merged() {
    let specimen = Specimen::new(13);
    let dir = tempfile::tempdir().unwrap();
    let source = dir.path().join("source");
    fs::create_dir(&source).unwrap();
    fs::write(source.join(FILE), &specimen.bytes).unwrap();
    sqlite(&source)
        .execute(
            "UPDATE record SET nodes = nodes + 1 WHERE engine = 'census'",
            [],
        )
        .unwrap();
    let into = dir.path().join("into");
    let error = merge(&[&source], &into).unwrap_err();
    assert!(matches!(error, LedgerError::Damaged { .. }), "{error}");
    assert!(!into.exists());
}

/// A way to damage a file.
#[derive(Clone, Debug)]
enum Harm {
    Flip(usize, u8),
    Fill(usize, usize, u8),
    Copy(usize, usize, usize),
    Cut(usize),
    Append(Vec<u8>),
}

fn harm() -> impl Strategy<Value = Harm> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, bit)| Harm::Flip(at, bit)),
        (any::<usize>(), 1..300usize, any::<u8>()).prop_map(|(a, n, v)| Harm::Fill(a, n, v)),
        (any::<usize>(), any::<usize>(), 1..5000usize).prop_map(|(a, b, n)| Harm::Copy(a, b, n)),
        any::<usize>().prop_map(Harm::Cut),
        prop::collection::vec(any::<u8>(), 1..5000).prop_map(Harm::Append),
    ]
}

fn apply(harm: &Harm, bytes: &mut Vec<u8>) {
    let length = bytes.len().max(1);
    match *harm {
        Harm::Flip(at, bit) => {
            if let Some(byte) = bytes.get_mut(at % length) {
                *byte ^= 1 << (bit % 8);
            }
        }
        Harm::Fill(at, count, value) => {
            let at = at % length;
            let end = (at + count).min(bytes.len());
            bytes[at.min(end)..end].fill(value);
        }
        // Half of the copies are whole pages, because a page in the wrong place is well formed.
        Harm::Copy(from, to, count) => {
            let page = |at: usize| {
                if count % 2 == 0 {
                    at % length / 4096 * 4096
                } else {
                    at % length
                }
            };
            let count = if count % 2 == 0 { 4096 } else { count };
            let (from, to) = (page(from), page(to));
            let count = count.min(bytes.len() - from).min(bytes.len() - to);
            bytes.copy_within(from..from + count, to);
        }
        Harm::Cut(at) => bytes.truncate(at % length),
        Harm::Append(ref more) => bytes.extend(more),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_harm_done_to_a_file_gives_a_wrong_count(harms in prop::collection::vec(harm(), 1..4)) {
        static SPECIMEN: std::sync::OnceLock<Specimen> = std::sync::OnceLock::new();
        let specimen = SPECIMEN.get_or_init(|| Specimen::new(N));
        let dir = tempfile::tempdir().unwrap();
        let mut bytes = specimen.bytes.clone();
        for harm in &harms {
            apply(harm, &mut bytes);
        }
        let read = specimen.assert_honest(dir.path(), &bytes);
        // A run continues a readable ledger or refuses it, but never gives a wrong total.
        if let Ok(read) = read
            && let Ok(recording) = resume(dir.path(), N)
        {
            let mut there = Coverage::none_of(size(N), &info(N, Shard::WHOLE).plans);
            for record in records(dir.path()).unwrap() {
                there.add(record.result.key);
            }
            prop_assert_eq!(there.done() as usize, read);
            let report = count(N, recording).unwrap();
            prop_assert!(report.is_whole());
            assert_total(N, &report);
        }
    }
}
