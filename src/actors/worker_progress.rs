use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{EventKind, RunEvent};
use crate::engine::{CountedBy, TaskKey, WorkerId};

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
    pub until: Duration,
    /// Tasks counted.
    pub tasks: u64,
    /// Nodes searched in them.
    pub nodes: u64,
    /// How long it was busy with tasks: counting, audits, tries that failed.
    pub busy: Duration,
    /// Waiting for a batch while there was work left to produce.
    pub waiting: Duration,
    /// Without work because none was left, until the last worker finished.
    pub starved: Duration,
    /// When it finished its last task, measured from the beginning of the run.
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
    pub(super) const fn new(id: WorkerId) -> Self {
        Self {
            id,
            counted_by: None,
            state: WorkerState::Starting,
            until: Duration::ZERO,
            tasks: 0,
            nodes: 0,
            busy: Duration::ZERO,
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

    /// The kernel or device that counts for it, by name; empty before the first task.
    pub fn backend(&self) -> &str {
        match &self.counted_by {
            Some(CountedBy::Cpu(kernel)) => kernel.as_str(),
            Some(CountedBy::Device(device)) => &device.name,
            None => "",
        }
    }

    /// Takes in an event about this worker.
    pub(super) fn note(&mut self, event: &RunEvent) {
        match &event.kind {
            EventKind::BatchDone { .. } | EventKind::Waiting { .. } => {
                self.goes(WorkerState::Waiting, event.at);
            }
            EventKind::Waited {
                waited, starved, ..
            } => {
                self.waiting += *waited;
                self.starved += *starved;
                self.goes(WorkerState::Preparing, event.at);
            }
            EventKind::TaskBegun { key, .. } => self.goes(WorkerState::Counting(*key), event.at),
            EventKind::TaskDone(result) => {
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
            EventKind::TaskPanicked { .. } => self.goes(self.state, event.at),
            EventKind::DeviceReady { device, .. } => {
                self.counted_by = Some(CountedBy::Device(device.clone()));
            }
            EventKind::LaunchBegun { .. } => self.goes(WorkerState::Launching, event.at),
            EventKind::Gone { .. } => self.state = WorkerState::Gone,
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
