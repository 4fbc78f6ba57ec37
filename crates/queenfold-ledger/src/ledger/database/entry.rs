//! A recorded task with its digest.

use crate::ledger::database::digest::{Digest, DigestFields, context};
use crate::ledger::database::origin_columns::OriginColumns;
use queenfold::engine::{Tally, TaskKey, TaskResult};

/// Which count of a task an entry is. The two are tables of the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The count that is added up.
    Record,
    /// A second count of the same task, which agrees with the record.
    Second,
}

impl Column {
    /// The table.
    pub(crate) const fn table(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Second => "second",
        }
    }

    /// What messages call an entry of it.
    pub(crate) const fn what(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Second => "the second count of",
        }
    }
}

/// What a ledger keeps of a counted task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The result. Its duration is kept to the microsecond.
    pub result: TaskResult,
    /// Which process recorded it: the id of a session.
    pub session: String,
    /// When it was recorded, in seconds since 1970 by the clock of its machine.
    pub recorded_at: i64,
}

impl Entry {
    /// The digest that is stored with the entry in `column` of a run with the key `run`. It covers every
    /// field, the column and the key, so an entry from another run is refused like a damaged one.
    pub fn digest(&self, column: Column, run: &Digest) -> Digest {
        let result = &self.result;
        let origin = OriginColumns::of(&result.origin);
        let audited_by = result.audited_by.as_deref();
        let mut fields = DigestFields::new(match column {
            Column::Record => context::RECORD,
            Column::Second => context::SECOND,
        });
        fields.bytes(&run.0);
        put_exact(&mut fields, result.key, &result.tally);
        fields
            .u64(result.tally.nodes)
            .text(origin.backend)
            .text(origin.device)
            .text(&origin.worker)
            .text(&self.session)
            .u64(self.microseconds())
            .u64(u64::from(audited_by.is_some()))
            .text(audited_by.unwrap_or_default())
            .i64(self.recorded_at)
            .digest()
    }

    /// The duration as it is stored.
    pub fn microseconds(&self) -> u64 {
        u64::try_from(self.result.duration.as_micros()).unwrap_or(u64::MAX)
    }
}

/// Adds a task and what was counted: nothing about effort, time and place.
pub(crate) fn put_exact(fields: &mut DigestFields, task: TaskKey, tally: &Tally) {
    fields.text(task.engine.name()).u64(task.index);
    for completions in tally.completions.by_weight() {
        fields.u128(completions);
    }
    fields
        .u128(tally.r180)
        .u128(tally.r90)
        .u64(tally.partitions);
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use queenfold::board::Size;
    use queenfold::engine::{CountedBy, DeviceIdentity, DeviceKernel, Engine, Origin, WorkerId};

    fn entry() -> Entry {
        let mut tally = Tally {
            r180: 3,
            r90: 1,
            partitions: 5,
            nodes: 77,
            ..Tally::default()
        };
        tally.completions.add(8, 14);
        tally.completions.add(2, u128::MAX / 16);
        let result = TaskResult {
            key: TaskKey {
                n: Size::new(12).unwrap(),
                engine: Engine::Chain,
                version: 1,
                index: 4,
            },
            tally,
            origin: Origin {
                worker: WorkerId::Cpu(1),
                counted_by: CountedBy::Cpu("scalar".into()),
            },
            audited_by: None,
            duration: Duration::from_micros(1234),
        };
        Entry {
            result,
            session: "abc".to_owned(),
            recorded_at: 1_700_000_000,
        }
    }

    #[test]
    fn every_field_is_in_the_digest() {
        let key = Digest([7; 32]);
        let entry = entry();
        let reference = entry.digest(Column::Record, &key);
        let changed = |change: &dyn Fn(&mut Entry)| {
            let mut other = entry.clone();
            change(&mut other);
            other.digest(Column::Record, &key)
        };
        let device = |name: &str| {
            CountedBy::Device(DeviceIdentity {
                kernel: DeviceKernel::Cuda,
                index: 1,
                name: name.to_owned(),
            })
        };
        let changes: [&dyn Fn(&mut Entry); 16] = [
            &|e| e.result.key.index += 1,
            &|e| e.result.key.engine = Engine::Census,
            &|e| e.result.tally.completions.add(1, 1),
            &|e| e.result.tally.completions.add(4, 1),
            &|e| e.result.tally.r180 += 1,
            &|e| e.result.tally.r90 += 1,
            &|e| e.result.tally.partitions += 1,
            &|e| e.result.tally.nodes += 1,
            &|e| e.result.origin.counted_by = CountedBy::Cpu("scalarx".into()),
            &|e| e.result.origin.counted_by = device("cpu"),
            &|e| e.result.origin.counted_by = device("cpux"),
            &|e| e.result.origin.worker = WorkerId::Cpu(2),
            &|e| e.session.push('x'),
            &|e| e.result.duration += Duration::from_micros(1),
            &|e| e.result.audited_by = Some("".into()),
            &|e| e.recorded_at -= 1,
        ];
        let mut digests = vec![
            reference,
            entry.digest(Column::Record, &Digest([8; 32])),
            entry.digest(Column::Second, &key),
        ];
        digests.extend(changes.iter().map(|change| changed(*change)));
        for (at, digest) in digests.iter().enumerate() {
            assert!(!digests[..at].contains(digest), "change {at}");
        }
        assert_eq!(changed(&|_| {}), reference);
    }

    /// The value was computed by the program that made the first ledgers of format 2.
    #[test]
    fn the_digest_of_an_entry_never_changes() {
        assert_eq!(
            entry().digest(Column::Record, &Digest([7; 32])).to_string(),
            "4053511ddd757ded7c7880375b1f5c454fc24df4598f618a54843d707f210093"
        );
    }
}
