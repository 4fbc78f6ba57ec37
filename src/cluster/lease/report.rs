//! What a worker counted, on its way to the ledger.

use serde::{Deserialize, Serialize};

use super::run_key::RunKey;
use crate::actors::Finding;

/// The most items of a report: some 300 kB.
pub const LARGEST_REPORT: usize = 4096;

/// Items of one worker in the order in which they came about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What the worker counts.
    pub key: RunKey,
    /// The number of the first item. The items of a worker are numbered from 0, and each is delivered
    /// again until it has a receipt.
    pub from: u64,
    /// At most [`LARGEST_REPORT`].
    pub items: Vec<Finding>,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::protocol::{decode, encode};
    use super::*;
    use crate::actors::SickWorker;
    use crate::board::Size;
    use crate::engine::{
        Correction, CountedBy, Decision, DeviceIdentity, DeviceKind, Engine, Method, Origin, Tally,
        TaskKey, TaskResult, WorkerId,
    };

    fn result(by: CountedBy) -> TaskResult {
        let mut tally = Tally {
            r180: 3,
            r90: 1,
            partitions: 123_456,
            nodes: 9_876_543_210,
            ..Tally::default()
        };
        tally.completions.add(8, 1_234_567_890);
        tally.completions.add(4, 17);
        TaskResult {
            key: TaskKey {
                n: Size::new(28).unwrap(),
                engine: Engine::Colour,
                version: 4,
                index: 9_999_999,
            },
            tally,
            origin: Origin {
                worker: WorkerId::Cpu(63),
                counted_by: by,
            },
            audited_by: Some("avx2".into()),
            duration: Duration::from_micros(24_000_000),
        }
    }

    #[test]
    fn an_item_is_the_same_after_a_journey_and_a_result_takes_few_bytes() {
        let device = CountedBy::Device(DeviceIdentity {
            kind: DeviceKind::Cuda,
            index: 3,
            name: "NVIDIA H100".to_owned(),
        });
        let counted = result(CountedBy::Cpu("avx512".into()));
        for (item, most) in [
            (Finding::Result(counted.clone()), 72),
            (Finding::Result(result(device)), 80),
            (
                Finding::Correction(Box::new(Correction {
                    recorded: counted.clone(),
                    others: vec![counted.clone()],
                    decision: Some(Decision {
                        result: counted.clone(),
                        method: Method::Oracle,
                    }),
                })),
                250,
            ),
            (Finding::Withdrawal(counted.key), 20),
            (
                Finding::TakenOut(SickWorker {
                    worker: WorkerId::Device(1),
                    counted_by: Some(counted.origin.counted_by),
                    reason: "its canary".to_owned(),
                    suspects: 7,
                }),
                40,
            ),
        ] {
            let bytes = encode(&item);
            assert!(bytes.len() <= most, "{} bytes: {item:?}", bytes.len());
            assert_eq!(decode::<Finding>(&bytes), Ok(item));
        }
    }
}
