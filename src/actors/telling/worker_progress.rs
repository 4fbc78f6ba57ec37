//! What each worker of a run does now, and how it has spent its time.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::actors::{EventKind, RunEvent};
use crate::board::decimal;
use crate::engine::{CountedBy, TaskKey, WorkerId, seconds};

/// What a worker does, and how it spent the run so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerProgress {
    /// The worker.
    pub id: WorkerId,
    /// The device it owns, or the kernel that counts its tasks: where a run has two plans, the kernel
    /// of the plan that counts all solutions. `None` before the first task.
    pub counted_by: Option<CountedBy>,
    /// What it does now.
    pub state: WorkerState,
    /// Up to when its time is accounted for, measured from the beginning of the run.
    #[serde(with = "seconds")]
    pub until: Duration,
    /// Tasks counted.
    pub tasks: u64,
    /// Nodes searched in them.
    #[serde(with = "decimal")]
    pub nodes: u64,
    /// How long it was busy with tasks: counting, audits, tries that failed.
    #[serde(with = "seconds")]
    pub busy: Duration,
    /// The wall time of the batches that it ended on the CPU.
    #[serde(default, with = "seconds")]
    pub batches: Duration,
    /// The CPU time that it had in these.
    #[serde(default, with = "seconds")]
    pub cpu: Duration,
    /// Waiting for a batch while there was work left to produce.
    #[serde(with = "seconds")]
    pub waiting: Duration,
    /// Without work because none was left, until the last worker finished.
    #[serde(with = "seconds")]
    pub starved: Duration,
    /// When it finished its last task, measured from the beginning of the run.
    #[serde(with = "seconds")]
    pub finished: Duration,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerState {
    /// It makes itself ready: its thread starts, its device is opened and tested.
    Starting,
    /// It waits for a batch, or hands over its results and will wait then.
    Waiting,
    /// It has a batch, and prepares to count it.
    Preparing,
    /// It counts this task on the CPU.
    Counting(TaskKey),
    /// Its device counts.
    Launching,
    /// It has ended.
    Gone,
}

impl WorkerProgress {
    /// Of a worker that starts.
    #[doc(hidden)]
    pub const fn new(id: WorkerId) -> Self {
        Self {
            id,
            counted_by: None,
            state: WorkerState::Starting,
            until: Duration::ZERO,
            tasks: 0,
            nodes: 0,
            busy: Duration::ZERO,
            batches: Duration::ZERO,
            cpu: Duration::ZERO,
            waiting: Duration::ZERO,
            starved: Duration::ZERO,
            finished: Duration::ZERO,
        }
    }

    /// Nodes for each second that it was busy.
    pub fn nodes_per_second(&self) -> f64 {
        if self.busy.is_zero() {
            0.0
        } else {
            self.nodes as f64 / self.busy.as_secs_f64()
        }
    }

    /// The share of a core that it had while it was busy, 0 to 1: less than 1 if other programs have the cores. `None`
    /// before its first batch, and for the thread of a device.
    pub fn core_share(&self) -> Option<f64> {
        let share = self.cpu.div_duration_f64(self.batches);
        // Two clocks.
        (!self.batches.is_zero()).then(|| share.min(1.0))
    }

    /// The [name](CountedBy::name) of the kernel or device that counts for it; empty before the first
    /// task.
    pub fn counted_by_name(&self) -> &str {
        self.counted_by.as_ref().map_or("", CountedBy::name)
    }

    /// Takes in an event about this worker.
    pub(crate) fn note(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::BatchDone { time, cpu, .. } => {
                self.batches += time.end.saturating_sub(time.start);
                self.cpu += *cpu;
                self.goes(WorkerState::Waiting, event.at);
            }
            EventKind::Waiting { .. } => self.goes(WorkerState::Waiting, event.at),
            EventKind::Waited {
                waiting,
                starved,
                has_batch,
                ..
            } => {
                self.waiting += *waiting;
                self.starved += *starved;
                let next = if *has_batch {
                    WorkerState::Preparing
                } else {
                    WorkerState::Waiting
                };
                self.goes(next, event.at);
            }
            EventKind::TaskBegun { key, .. } => self.goes(WorkerState::Counting(*key), event.at),
            EventKind::TaskCounted(result) => {
                self.goes(self.state, event.at);
                self.tasks += 1;
                self.nodes += result.tally.nodes;
                self.finished = event.at;
                let counted_by = &result.origin.counted_by;
                let replaced = match &self.counted_by {
                    None => true,
                    Some(CountedBy::Device(_)) => false,
                    Some(known) => result.key.engine.counts_all() && known != counted_by,
                };
                if replaced {
                    self.counted_by = Some(counted_by.clone());
                }
            }
            // What it held is given back.
            EventKind::DeviceGivenUp { .. } => {
                self.goes(WorkerState::Waiting, event.at);
            }
            EventKind::TaskPanicked { .. }
            | EventKind::TaskGivenUp { .. }
            | EventKind::CanaryPassed { .. }
            | EventKind::CountedAgain { .. } => {
                self.goes(self.state, event.at);
            }
            EventKind::DeviceReady { device, .. } => {
                self.counted_by = Some(CountedBy::Device(device.clone()));
            }
            EventKind::LaunchBegun { .. } => self.goes(WorkerState::Launching, event.at),
            EventKind::Gone { .. } => self.goes(WorkerState::Gone, event.at),
            _ => {}
        }
    }

    /// Accounts for the time up to `at`, then goes to `state`.
    fn goes(&mut self, state: WorkerState, at: Duration) {
        let is_busy = match self.state {
            WorkerState::Preparing | WorkerState::Counting(_) | WorkerState::Launching => true,
            WorkerState::Starting | WorkerState::Waiting | WorkerState::Gone => false,
        };
        if is_busy {
            self.busy += at.saturating_sub(self.until);
        }
        self.until = at;
        self.state = state;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actors::TimeSpan;
    use crate::board::Size;
    use crate::engine::Engine;

    const WORKER: WorkerId = WorkerId::Cpu(0);

    #[test]
    fn a_worker_that_waits_for_a_core_is_busy_with_a_part_of_one() {
        assert_eq!(told([]).core_share(), None);
        let batch = |seconds: u64, cpu: u64| EventKind::BatchDone {
            worker: WORKER,
            engine: Engine::Chain,
            tasks: 1,
            nodes: 1,
            time: TimeSpan {
                start: Duration::from_secs(1),
                end: Duration::from_secs(1 + seconds),
            },
            cpu: Duration::from_secs(cpu),
        };
        let worker = told([batch(10, 1), batch(10, 5)]);
        assert_eq!(worker.core_share(), Some(0.3));
        // The two clocks are not the same.
        assert_eq!(told([batch(10, 11)]).core_share(), Some(1.0));
    }

    /// A worker that was told each of these, one second after the other from 0 s on.
    fn told(kinds: impl IntoIterator<Item = EventKind>) -> WorkerProgress {
        let mut worker = WorkerProgress::new(WORKER);
        for (second, kind) in (0..).zip(kinds) {
            let at = Duration::from_secs(second);
            worker.note(&RunEvent { at, kind });
        }
        worker
    }

    fn waited(has_batch: bool) -> EventKind {
        EventKind::Waited {
            worker: WORKER,
            waiting: Duration::from_secs(1),
            starved: Duration::ZERO,
            has_batch,
        }
    }

    const WAITING: EventKind = EventKind::Waiting { worker: WORKER };
    const GONE: EventKind = EventKind::Gone { worker: WORKER };

    #[test]
    fn a_worker_that_ends_in_the_middle_of_a_task_was_busy_to_its_end() {
        let key = TaskKey {
            n: Size::new(8).unwrap(),
            engine: Engine::Chain,
            version: 1,
            index: 0,
        };
        let begun = EventKind::TaskBegun {
            worker: WORKER,
            key,
        };
        let worker = told([WAITING, waited(true), begun, GONE]);
        assert_eq!(worker.state, WorkerState::Gone);
        assert_eq!(worker.busy, Duration::from_secs(2));
        assert_eq!(worker.until, Duration::from_secs(3));
    }

    #[test]
    fn a_worker_whose_queue_is_closed_prepares_nothing() {
        assert_eq!(told([WAITING, waited(true)]).state, WorkerState::Preparing);
        assert_eq!(told([WAITING, waited(false)]).state, WorkerState::Waiting);
        let gone = told([WAITING, waited(false), GONE]);
        assert_eq!(gone.busy, Duration::ZERO);
    }

    #[test]
    fn a_device_that_fails_was_busy_until_then_and_has_nothing_after() {
        let launch = EventKind::LaunchBegun {
            worker: WORKER,
            tasks: 1,
        };
        let failed = EventKind::DeviceGivenUp {
            worker: WORKER,
            reason: "no answer".to_owned(),
        };
        let device = told([launch, failed, GONE]);
        assert_eq!(device.busy, Duration::from_secs(1));
    }
}
