//! What a worker counted, on its way to the ledger.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::run_key::RunKey;
use crate::actors::SickWorker;
use crate::board::Size;
use crate::engine::{
    Completions, Correction, CountedBy, Decision, Engine, KernelName, Method, Origin, PlanName,
    Tally, TaskKey, TaskResult, WorkerId,
};
use crate::ledger::Delivered;

/// The most items of a report: some 200 kB.
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
    pub items: Vec<Item>,
}

/// What a [`Recorder`](crate::actors::Recorder) hears.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Item {
    /// A task was counted.
    Counted(Counted),
    /// Counts of a task differ, and what decided.
    Corrected {
        /// The count that was reported.
        recorded: Box<Counted>,
        /// The others.
        others: Vec<Counted>,
        /// The count that decides, and how it was made.
        decision: Option<Box<(Counted, Method)>>,
    },
    /// A count is taken back.
    Withdrawn(Engine, u64),
    /// A worker or device counted wrongly: a [`SickWorker`] as JSON.
    TakenOut(String),
}

/// A [`TaskResult`] in some forty bytes: what is the same for all tasks of a run is left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    engine: Engine,
    index: u64,
    /// Completions by weight.
    completions: [u128; 4],
    r180: u128,
    r90: u128,
    partitions: u64,
    nodes: u64,
    worker: WorkerId,
    counted_by: CountedBy,
    audited_by: Option<KernelName>,
    /// The precision of a ledger.
    microseconds: u64,
}

impl From<&TaskResult> for Counted {
    fn from(result: &TaskResult) -> Self {
        let Tally {
            completions,
            r180,
            r90,
            partitions,
            nodes,
        } = result.tally;
        Self {
            engine: result.key.engine,
            index: result.key.index,
            completions: completions.by_weight(),
            r180,
            r90,
            partitions,
            nodes,
            worker: result.origin.worker,
            counted_by: result.origin.counted_by.clone(),
            audited_by: result.audited_by.clone(),
            microseconds: u64::try_from(result.duration.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

impl Counted {
    /// The engine and the task.
    pub const fn task(&self) -> (Engine, u64) {
        (self.engine, self.index)
    }

    /// The result, of a run of the board `n` by these plans; `None` if the run has no plan of the engine.
    pub fn result(self, n: Size, plans: &[PlanName]) -> Option<TaskResult> {
        let plan = plans.iter().find(|plan| plan.engine == self.engine)?;
        let mut completions = Completions::default();
        for (weight, count) in Completions::WEIGHTS.into_iter().zip(self.completions) {
            completions.add(weight, count);
        }
        Some(TaskResult {
            key: TaskKey {
                n,
                engine: self.engine,
                version: plan.version,
                index: self.index,
            },
            tally: Tally {
                completions,
                r180: self.r180,
                r90: self.r90,
                partitions: self.partitions,
                nodes: self.nodes,
            },
            origin: Origin {
                worker: self.worker,
                counted_by: self.counted_by,
            },
            audited_by: self.audited_by,
            duration: Duration::from_micros(self.microseconds),
        })
    }
}

impl Item {
    /// A correction as an item.
    pub fn corrected(correction: &Correction) -> Self {
        let decision = correction.decision.as_ref();
        Self::Corrected {
            recorded: Box::new((&correction.recorded).into()),
            others: correction.others.iter().map(Counted::from).collect(),
            decision: decision
                .map(|Decision { result, method }| Box::new((result.into(), *method))),
        }
    }

    /// What the ledger takes, of a run of the board `n` by these plans; `None` if it is of no plan of the run, or
    /// makes no sense.
    pub fn delivered(self, n: Size, plans: &[PlanName]) -> Option<Delivered> {
        Some(match self {
            Self::Counted(counted) => Delivered::Result(counted.result(n, plans)?),
            Self::Corrected {
                recorded,
                others,
                decision,
            } => {
                let results = |counted: Vec<Counted>| {
                    let results = counted.into_iter().map(|counted| counted.result(n, plans));
                    results.collect::<Option<Vec<_>>>()
                };
                Delivered::Correction(Box::new(Correction {
                    recorded: recorded.result(n, plans)?,
                    others: results(others)?,
                    decision: match decision.map(|decision| *decision) {
                        None => None,
                        Some((result, method)) => Some(Decision {
                            result: result.result(n, plans)?,
                            method,
                        }),
                    },
                }))
            }
            Self::Withdrawn(engine, index) => {
                let plan = plans.iter().find(|plan| plan.engine == engine)?;
                Delivered::Withdrawal(TaskKey {
                    n,
                    engine,
                    version: plan.version,
                    index,
                })
            }
            Self::TakenOut(sick) => Delivered::TakenOut(serde_json::from_str(&sick).ok()?),
        })
    }

    /// That a worker counted wrongly, as an item.
    ///
    /// # Panics
    /// Never: every such note can be written as JSON.
    #[expect(clippy::expect_used, reason = "numbers and text have a form in JSON")]
    pub fn taken_out(sick: &SickWorker) -> Self {
        Self::TakenOut(serde_json::to_string(sick).expect("it has a form in JSON"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{decode, encode};
    use super::*;
    use crate::engine::{DeviceIdentity, DeviceKind};

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

    fn plans() -> [PlanName; 1] {
        [PlanName {
            engine: Engine::Colour,
            version: 4,
        }]
    }

    #[test]
    fn a_result_is_the_same_after_a_journey_and_takes_few_bytes() {
        let device = CountedBy::Device(DeviceIdentity {
            kind: DeviceKind::Cuda,
            index: 3,
            name: "NVIDIA H100".to_owned(),
        });
        for (by, most) in [(CountedBy::Cpu("avx512".into()), 64), (device, 72)] {
            let result = result(by);
            let bytes = encode(&Item::Counted((&result).into()));
            assert!(bytes.len() <= most, "{}", bytes.len());
            let Ok(Item::Counted(counted)) = decode(&bytes) else {
                panic!("another item");
            };
            assert_eq!(counted.task(), (Engine::Colour, 9_999_999));
            assert_eq!(counted.result(result.key.n, &plans()), Some(result));
        }
    }

    #[test]
    fn a_result_of_an_engine_that_the_run_lacks_is_none() {
        let mut result = result(CountedBy::Cpu("avx512".into()));
        result.key.engine = Engine::Chain;
        let counted = Counted::from(&result);
        assert_eq!(counted.result(result.key.n, &plans()), None);
    }

    #[test]
    fn a_correction_keeps_all_its_counts() {
        let result = result(CountedBy::Cpu("avx512".into()));
        let correction = Correction {
            recorded: result.clone(),
            others: vec![result.clone()],
            decision: Some(Decision {
                result,
                method: Method::Oracle,
            }),
        };
        let item = Item::corrected(&correction);
        assert_eq!(decode::<Item>(&encode(&item)), Ok(item));
    }
}
