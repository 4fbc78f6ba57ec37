use std::time::Duration;

use super::digest::{Digest, Fields};
use crate::engine::{Tally, TaskId};

/// What is kept of a finished task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The task.
    pub task: TaskId,
    /// What it counted.
    pub tally: Tally,
    /// The kernel that counted it: `avx512`, `scalar`, …
    pub backend: String,
    /// What the kernel ran on: `cpu`, or the name of the device.
    pub device: String,
    /// Which worker: `worker-0`, …
    pub worker: String,
    /// The kernel that counted it a second time, with the same result, before it was recorded.
    pub audited_by: Option<String>,
    /// Which process run recorded it: the id of a session.
    pub session: String,
    /// How long the worker took, to the microsecond.
    pub duration: Duration,
}

impl Record {
    /// The digest that is stored beside the record, for a run with the key `run`. Every field is
    /// in it, and the key, so that a record from another run is as wrong as a damaged one.
    pub fn digest(&self, run: &Digest) -> Digest {
        let mut fields = Fields::new("queenfold ledger 1: record");
        fields.bytes(&run.0);
        put_exact(&mut fields, self.task, &self.tally);
        fields
            .u64(self.tally.nodes)
            .text(&self.backend)
            .text(&self.device)
            .text(&self.worker)
            .text(&self.session)
            .u64(self.microseconds())
            .u64(u64::from(self.audited_by.is_some()))
            .text(self.audited_by.as_deref().unwrap_or_default())
            .digest()
    }

    /// The duration as it is stored.
    pub fn microseconds(&self) -> u64 {
        u64::try_from(self.duration.as_micros()).unwrap_or(u64::MAX)
    }
}

/// Adds a task and what it counted, free of effort, time and place.
pub(super) fn put_exact(fields: &mut Fields, task: TaskId, tally: &Tally) {
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
pub(super) mod tests {
    use super::*;
    use crate::engine::Engine;

    /// A record that differs in every field from a default one.
    pub fn record(engine: Engine, index: u64) -> Record {
        let mut tally = Tally {
            r180: 3,
            r90: 1,
            partitions: 5,
            nodes: 77,
            ..Tally::default()
        };
        tally.completions.add(8, 10 + u128::from(index));
        tally.completions.add(2, u128::MAX / 16);
        Record {
            task: TaskId { engine, index },
            tally,
            backend: "scalar".to_owned(),
            device: "cpu".to_owned(),
            worker: "worker-1".to_owned(),
            audited_by: None,
            session: "abc".to_owned(),
            duration: Duration::from_micros(1234),
        }
    }

    #[test]
    fn every_field_is_in_the_digest() {
        let key = Digest([7; 32]);
        let record = record(Engine::Chain, 4);
        let reference = record.digest(&key);
        let changed = |change: &dyn Fn(&mut Record)| {
            let mut other = record.clone();
            change(&mut other);
            other.digest(&key)
        };
        let changes: [&dyn Fn(&mut Record); 14] = [
            &|r| r.task.index += 1,
            &|r| r.task.engine = Engine::Census,
            &|r| r.tally.completions.add(1, 1),
            &|r| r.tally.completions.add(4, 1),
            &|r| r.tally.r180 += 1,
            &|r| r.tally.r90 += 1,
            &|r| r.tally.partitions += 1,
            &|r| r.tally.nodes += 1,
            &|r| r.backend.push('x'),
            &|r| r.device.push('x'),
            &|r| r.worker.push('x'),
            &|r| r.session.push('x'),
            &|r| r.duration += Duration::from_micros(1),
            &|r| r.audited_by = Some(String::new()),
        ];
        for (position, change) in changes.iter().enumerate() {
            assert_ne!(changed(*change), reference, "change {position}");
        }
        assert_ne!(record.digest(&Digest([8; 32])), reference, "another run");
        assert_eq!(changed(&|_| {}), reference);
    }
}
