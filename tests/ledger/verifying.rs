//! A second count finds what digests cannot: a record that is forged together with its digest.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use queenfold::engine::{CheckedBy, CountedBy, WorkerId};
use queenfold::job::{DeviceChoice, Hardware, HardwareSettings, RunSettings};
use queenfold_ledger::ledger::{RecountChoice, Signature};
use queenfold_ledger::run_directory::{Findings, Verification};

use super::*;

pub fn check(dir: &Path, choice: RecountChoice) -> Result<Findings, LedgerError> {
    let store = Store::open_to_read(dir)?;
    let drawn = Verification::draw(&store, choice, None)?;
    let told = Arc::new([0, 0].map(AtomicU64::new));
    let count = Arc::clone(&told);
    let tell = move |right| _ = count[usize::from(right)].fetch_add(1, Relaxed);
    let settings = RunSettings::default();
    let hardware = Hardware::find(&HardwareSettings {
        workers: Some(2),
        devices: DeviceChoice::Off,
        ..HardwareSettings::default()
    });
    let on = (&settings, &hardware.unwrap());
    let compared = drawn
        .tasks
        .count(CheckedBy::OtherKernel, on, Box::new(tell));
    let findings = drawn.findings(compared.unwrap());
    let [different, same] = [0, 1].map(|right: usize| told[right].load(Relaxed));
    assert_eq!(different, findings.wrong.len() as u64);
    assert_eq!(same + different, findings.checked);
    Ok(findings)
}

/// Replaces a record by a forged one that the program's own code wrote, with a valid digest.
pub fn forge(dir: &Path, at: usize, change: impl FnOnce(&mut Entry)) -> Entry {
    let mut record = records(dir).unwrap()[at].clone();
    change(&mut record);
    put(dir, &record);
    record
}

fn put(dir: &Path, record: &Entry) {
    sqlite(dir)
        .execute(
            "DELETE FROM record WHERE engine = ?1 AND task = ?2",
            (
                record.result.key.engine.name(),
                record.result.key.index as i64,
            ),
        )
        .unwrap();
    let store = Store::open_to_write(dir).unwrap();
    store.begin().unwrap();
    store.insert(record).unwrap();
    store.commit().unwrap();
}

#[test]
fn a_good_run_passes() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    let findings = check(dir.path(), RecountChoice::All).unwrap();
    assert_eq!((findings.checked, findings.wrong.len()), (17, 0));
    assert!(findings.sums.coverage.is_whole());
    for (engine, recorded, counted) in findings.kernels.keys() {
        assert_ne!(recorded, counted, "{engine}");
    }
}

#[test]
fn the_signature_covers_tasks_and_tallies_and_nothing_of_how_they_were_counted() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 13);
    let good = signature(dir.path());
    type Change = fn(&mut Entry);
    let how: Change = |record| {
        record.result.tally.nodes += 1;
        record.result.origin.counted_by = CountedBy::Cpu("another".into());
        record.result.origin.worker = WorkerId::Device(7);
        record.result.duration += Duration::from_secs(1);
    };
    // The first record is of the census.
    let what: [(usize, Change); 4] = [
        (1, |record| record.result.tally.completions.add(8, 1)),
        (0, |record| record.result.tally.r180 += 1),
        (0, |record| record.result.tally.r90 += 1),
        (0, |record| record.result.tally.partitions += 1),
    ];
    let original = records(dir.path()).unwrap();
    forge(dir.path(), 0, how);
    assert_eq!(signature(dir.path()), good);
    for (at, change) in what {
        forge(dir.path(), at, change);
        assert_ne!(signature(dir.path()), good);
        forge(dir.path(), at, |record| *record = original[at].clone());
    }
    assert_eq!(signature(dir.path()), good);
    sqlite(dir.path())
        .execute("DELETE FROM record WHERE task = 0", ())
        .unwrap();
    assert_ne!(signature(dir.path()), good);
}

#[test]
fn the_signature_covers_board_and_plans() {
    let info = |n| RunInfo::new(size(n), &plans(n), Shard::WHOLE, String::new());
    let of = |info: &RunInfo| Signature::new(info).digest();
    let run = info(13);
    assert_eq!(of(&run), of(&info(13)));
    assert_ne!(of(&run), of(&info(14)));
    let mut other = info(13);
    other.plans[0].hash = info(14).plans[0].hash.clone();
    assert_ne!(of(&run), of(&other));
    let mut fewer = info(13);
    fewer.plans.pop();
    assert_ne!(of(&run), of(&fewer));
}

#[test]
fn a_record_of_a_task_that_the_plan_does_not_have_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    // One record is missing and another is added, so their number alone is right.
    let moved = forge(dir.path(), 3, |record| record.result.key.index += 1 << 20);
    let missing = moved.result.key.index - (1 << 20);
    let removed = sqlite(dir.path()).execute(
        "DELETE FROM record WHERE engine = ?1 AND task = ?2",
        (moved.result.key.engine.name(), missing as i64),
    );
    assert_eq!(removed.unwrap(), 1);
    let error = records(dir.path()).unwrap_err().to_string();
    assert!(error.contains("the plan does not have"), "{error}");
    let error = resume(dir.path(), N).err().unwrap().to_string();
    assert!(error.contains("the plan does not have"), "{error}");
}

#[test]
fn a_single_changed_digit_in_any_record_is_found() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 13);
    let count = records(dir.path()).unwrap().len();
    for at in 0..count {
        let good = records(dir.path()).unwrap()[at].clone();
        let changes: [fn(&mut Entry); 4] = [
            |record| record.result.tally.completions.add(8, 1),
            |record| record.result.tally.r180 += 2,
            |record| record.result.tally.r90 += 10,
            |record| record.result.tally.partitions += 1,
        ];
        for change in changes {
            let forged = forge(dir.path(), at, change);
            match check(dir.path(), RecountChoice::All) {
                Ok(findings) => {
                    let found = findings.wrong.iter().map(|wrong| wrong.task);
                    assert!(found.eq([forged.result.key]));
                }
                // No partition of the task counts for that.
                Err(error) => {
                    let task = forged.result.key.to_string();
                    assert!(error.to_string().contains(&task), "{error}");
                }
            }
            put(dir.path(), &good);
        }
    }
    assert!(
        check(dir.path(), RecountChoice::All)
            .unwrap()
            .wrong
            .is_empty()
    );
}

#[test]
fn a_digit_changed_without_its_digest_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), 13);
    sqlite(dir.path())
        .execute(
            "UPDATE record SET weight8 = weight8 + 1 WHERE engine = 'chain' AND task = 2",
            [],
        )
        .unwrap();
    let error = check(dir.path(), RecountChoice::All).unwrap_err();
    assert!(
        matches!(error, LedgerError::Damaged { .. })
            && error.to_string().contains("chain-1:2 of n = 13 "),
        "{error}"
    );
}

#[test]
fn a_sample_finds_a_fault_with_the_probability_of_its_share() {
    let dir = tempfile::tempdir().unwrap();
    whole_run(dir.path(), N);
    forge(dir.path(), 6, |record| {
        record.result.tally.completions.add(8, 1)
    });
    // 8 of 17 tasks: 47.1 of 100 trials expected, standard deviation 5.
    let share = 0.44;
    let found = (0..100)
        .filter(|&seed| {
            let findings = check(dir.path(), RecountChoice::Sample { share, seed }).unwrap();
            assert_eq!(findings.checked, 8);
            !findings.wrong.is_empty()
        })
        .count();
    assert!((27..=67).contains(&found), "{found}");
}
