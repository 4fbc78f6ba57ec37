//! Arbitrary bytes as a ledger, and arbitrary rows as a source of a merge: refused or counted right, without
//! a panic. For an hour of it, see `CONTRIBUTING.md`.

use std::fs;

use proptest::prelude::*;
use queenfold::engine::{
    Correction, CountedBy, Decision, DeviceIdentity, DeviceKernel, Method, Origin, TaskKey,
    TaskResult, WorkerId,
};
use queenfold_ledger::certificate::{certify, check};
use queenfold_ledger::ledger::{Facts, Session};

use sha2::{Digest, Sha256};

use super::*;

/// A board whose tasks are few, so that some rows are of its tasks.
const BOARD: u32 = 8;

/// Few cases, as each waits for the disk, unless the variable of proptest asks for another number.
fn config() -> ProptestConfig {
    let default = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => default,
        None => ProptestConfig {
            cases: 64,
            ..default
        },
    }
}

/// Numbers with extreme ones among them.
fn number() -> impl Strategy<Value = u64> {
    let extremes = vec![0, 1, u64::MAX, i64::MAX as u64, 1 << 63];
    prop_oneof![0..4u64, prop::sample::select(extremes), any::<u64>()]
}

fn large_number() -> impl Strategy<Value = u128> {
    prop_oneof![
        (0..100u128),
        (number(), number()).prop_map(|(high, low)| u128::from(high) << 64 | u128::from(low)),
    ]
}

fn counted_by() -> impl Strategy<Value = CountedBy> {
    let device = (
        prop::sample::select(DeviceKernel::ALL.to_vec()),
        any::<usize>(),
        any::<String>(),
    );
    prop_oneof![
        any::<String>().prop_map(|name| CountedBy::Cpu(name.into())),
        Just(CountedBy::Cpu("portable".into())),
        device.prop_map(|(kernel, index, name)| CountedBy::Device(DeviceIdentity {
            kernel,
            index,
            name
        })),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just("a".to_owned()), Just("b".to_owned()), any::<String>()]
}

prop_compose! {
    fn row()(
        engine in prop::sample::select(vec![Engine::Chain, Engine::Census, Engine::Colour]),
        (index, partitions, nodes, duration) in (number(), number(), number(), number()),
        counts in prop::array::uniform6(large_number()),
        (worker, counted_by) in (any::<u8>(), counted_by()),
        audited_by in prop::option::of(any::<String>()),
        (session, recorded_at) in (id(), any::<i64>()),
    ) -> Entry {
        let mut tally = Tally { r180: counts[4], r90: counts[5], partitions, nodes, ..Tally::default() };
        for (weight, count) in [1, 2, 4, 8].into_iter().zip(counts) {
            tally.completions.add(weight, count);
        }
        let result = TaskResult {
            key: TaskKey { n: size(BOARD), engine, version: 1, index },
            tally,
            origin: Origin { worker: WorkerId::Cpu(worker.into()), counted_by },
            audited_by: audited_by.map(Into::into),
            duration: Duration::from_micros(duration),
        };
        Entry { result, session, recorded_at }
    }
}

prop_compose! {
    fn session()(id in id(), number in number(), texts in any::<[String; 2]>(), elapsed in number(), cpu in prop::option::of(number()), committed in any::<i64>()) -> Session {
        let [host, isa] = texts;
        let facts = Facts { number, host, isa, workers: number, ..Facts::default() };
        Session { id, facts, elapsed: Duration::from_millis(elapsed), cpu: cpu.map(Duration::from_micros), committed }
    }
}

/// Uses what is in `run` in every way: nothing may panic, and a total that is given is right.
fn use_it(dir: &Path, run: &Path) {
    let read = || -> Result<(), LedgerError> {
        let store = Store::open_to_read(run)?;
        let status = read_status(&store, BOARD)?;
        assert!(status.share.is_finite());
        store.for_each_task(|_| ())?;
        Ok(())
    };
    let read = read();
    let into = dir.join("into");
    match merge(&[run], &into) {
        Ok(merged) if merged.sums.coverage.is_whole() => {
            let tallies = &merged.sums.tallies;
            let (all, census) = (&tallies[&Engine::Chain], tallies.get(&Engine::Census));
            let outcome = Outcome::new(size(BOARD), all, census).unwrap();
            assert_eq!(outcome.total, 92);
        }
        Ok(_) => read.unwrap(),
        Err(_) => assert!(!into.exists()),
    }
    drop(resume(run, BOARD));
}

/// A change of a certificate.
#[derive(Clone, Debug)]
enum Change {
    Remove,
    Double,
    Swap,
    Insert(String),
    Cut,
    Digit(u8),
    Byte(u8),
    Number(u64),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        Just(Change::Remove),
        Just(Change::Double),
        Just(Change::Swap),
        any::<String>().prop_map(Change::Insert),
        Just(Change::Cut),
        (b'0'..=b'9').prop_map(Change::Digit),
        any::<u8>().prop_map(Change::Byte),
        number().prop_map(Change::Number),
    ]
}

impl Change {
    /// Changes a line and a place in it, both chosen by `at`.
    fn apply(&self, lines: &mut Vec<String>, at: usize) {
        let line = at % lines.len();
        let place = (at / lines.len()) % (lines[line].len() + 1);
        let place = (0..=place)
            .rev()
            .find(|&place| lines[line].is_char_boundary(place))
            .unwrap();
        match self {
            Self::Remove => drop(lines.remove(line)),
            Self::Double => lines.insert(line, lines[line].clone()),
            Self::Swap => {
                let other = at / 7 % lines.len();
                lines.swap(line, other);
            }
            Self::Insert(text) => lines[line].insert_str(place, text),
            Self::Cut => lines[line].truncate(place),
            Self::Digit(digit) => lines[line].insert(place, char::from(*digit)),
            Self::Byte(byte) => lines[line].insert(place, char::from(*byte)),
            Self::Number(number) => {
                // In the place of a number that is there.
                let digits = lines[line][place..].find(|c: char| c.is_ascii_digit());
                if let Some(start) = digits.map(|digits| place + digits) {
                    let length = lines[line][start..]
                        .bytes()
                        .take_while(u8::is_ascii_digit)
                        .count();
                    lines[line].replace_range(start..start + length, &number.to_string());
                }
            }
        }
    }
}

/// The Merkle root of RFC 6962.
pub fn tree(leaves: &[&str]) -> Vec<u8> {
    if let [leaf] = leaves {
        return Sha256::digest([&[0], leaf.as_bytes()].concat()).to_vec();
    }
    let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
    Sha256::digest([vec![1], tree(left), tree(right)].concat()).to_vec()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn arbitrary_rows_are_refused_or_harmless(
        rows in prop::collection::vec(row(), 0..5),
        seconds in prop::collection::vec(row(), 0..3),
        corrections in prop::collection::vec((row(), prop::collection::vec(row(), 0..3), prop::option::of(row())), 0..3),
        sessions in prop::collection::vec(session(), 0..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        fs::create_dir(&run).unwrap();
        let store = Store::create(&run, &info(BOARD, Shard::WHOLE)).unwrap();
        store.begin().unwrap();
        // What a column cannot hold is refused here already.
        for session in &sessions {
            let _ = store.put_session(session);
        }
        for row in &rows {
            let _ = store.insert(row);
        }
        for row in &seconds {
            let _ = store.confirm(row, &row.session, row.recorded_at);
        }
        for (recorded, others, decided) in &corrections {
            let key = recorded.result.key;
            let of_task = |mut entry: Entry| {
                entry.result.key = key;
                entry
            };
            let correction = Correction {
                recorded: recorded.clone(),
                others: others.iter().cloned().map(of_task).collect(),
                decision: decided.clone().map(|result| Decision {
                    result: of_task(result),
                    method: Method::Oracle,
                }),
            };
            let _ = store.correct(&correction, &recorded.session, recorded.recorded_at);
        }
        store.commit().unwrap();
        drop(store);
        use_it(dir.path(), &run);
    }

    #[test]
    fn arbitrary_bytes_are_refused_or_harmless(
        header in any::<bool>(),
        bytes in prop::collection::vec(any::<u8>(), 0..10_000),
        log in prop::option::of(prop::collection::vec(any::<u8>(), 0..10_000)),
    ) {
        static GOOD: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
        let good = GOOD.get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            whole_run(dir.path(), BOARD);
            fs::read(dir.path().join(FILE)).unwrap()
        });
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        fs::create_dir(&run).unwrap();
        // Without its first hundred bytes, hardly any file is taken for a database.
        let start = if header { &good[..100] } else { &[] };
        fs::write(run.join(FILE), [start, &bytes].concat()).unwrap();
        if let Some(log) = &log {
            fs::write(run.join("ledger.db-wal"), log).unwrap();
        }
        use_it(dir.path(), &run);
    }

    #[test]
    fn arbitrary_certificates_are_refused_or_right(
        bytes in prop::collection::vec(any::<u8>(), 0..2000),
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 0..4),
        is_sealed in any::<bool>(),
    ) {
        assert!(check(&bytes[..]).is_err());
        static GOOD: std::sync::OnceLock<Vec<String>> = std::sync::OnceLock::new();
        let good = GOOD.get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            whole_run(dir.path(), BOARD);
            let mut text = Vec::new();
            certify(&Store::open_to_read(dir.path()).unwrap(), &[], &mut text).unwrap();
            String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
        });
        let mut lines = good.clone();
        if is_sealed {
            lines.pop();
        }
        for (at, change) in &changes {
            if !lines.is_empty() {
                change.apply(&mut lines, at.index(usize::MAX));
            }
        }
        let mut text = lines.join("\n") + "\n";
        // Without the right root, hardly any change gets far.
        if is_sealed && !lines.is_empty() {
            let leaves: Vec<&str> = lines.iter().map(String::as_str).collect();
            let root: String = tree(&leaves).iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("{{\"root\":\"{root}\"}}\n");
        }
        if let Ok(checked) = check(text.as_bytes()) {
            assert_eq!(checked.outcome.unwrap().total, 92);
        } else {
            assert_ne!(text, good.join("\n") + "\n");
        }
    }
}
