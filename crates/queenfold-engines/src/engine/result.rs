//! The result of a task.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{KernelName, Origin, Tally, TaskKey, seconds};

/// A counted task: what workers report, and what goes over a wire. The ledger has a column for each value, and an
/// export a field.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskResult {
    /// The task.
    pub key: TaskKey,
    /// What was counted.
    pub tally: Tally,
    /// Who counted it, and with what.
    pub origin: Origin,
    /// The kernel that counted the task a second time, with the same result, before it was
    /// reported.
    pub audited_by: Option<KernelName>,
    /// How long the count took, without the audit.
    #[serde(with = "seconds")]
    pub duration: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::{CountedBy, DeviceIdentity, DeviceKernel, Engine, WorkerId};

    #[test]
    fn a_result_is_the_same_after_a_journey() {
        let mut tally = Tally {
            r180: u128::MAX,
            r90: 1,
            partitions: u64::MAX,
            nodes: 5,
            ..Tally::default()
        };
        tally.completions.add(8, u128::MAX);
        let result = TaskResult {
            key: TaskKey {
                n: Size::new(32).unwrap(),
                engine: Engine::Colour,
                version: 3,
                index: u64::MAX,
            },
            tally,
            origin: Origin {
                worker: WorkerId::Device(0),
                counted_by: CountedBy::Device(DeviceIdentity {
                    kernel: DeviceKernel::Cuda,
                    index: 0,
                    name: "NVIDIA H100".to_owned(),
                }),
            },
            audited_by: Some("scalar".into()),
            duration: Duration::from_nanos(1_234_567_891),
        };
        let json = serde_json::to_string(&result).unwrap();
        let most = u128::MAX;
        for part in [
            format!(r#""completions":{{"1":"0","2":"0","4":"0","8":"{most}"}}"#),
            format!(r#""r180":"{most}""#),
            format!(r#""partitions":"{}""#, u64::MAX),
            r#""worker":{"device":0}"#.to_owned(),
            r#""counted_by":{"device":{"kind":"cuda","index":0,"name":"NVIDIA H100"}}"#.to_owned(),
        ] {
            assert!(json.contains(&part), "{json}");
        }
        assert_eq!(serde_json::from_str::<TaskResult>(&json).unwrap(), result);
    }
}
