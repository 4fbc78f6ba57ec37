use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Eta, EventKind, RunEvent, RunState, WorkerProgress};
use crate::engine::{WorkerId, decimal};

/// How far a run is and what its workers do: the account of its events. The run itself keeps it for
/// the progress line and the report. An observer, or another process that is sent the events, keeps
/// the same with [`note`](Self::note).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Where the run stands.
    pub state: RunState,
    /// Tasks recorded.
    pub tasks_done: u64,
    /// Tasks that are recorded or to be counted; `None` before that is known.
    pub tasks_total: Option<u64>,
    /// Share of the estimated work that is done, 0 to 1; `None` before that is known.
    pub share: Option<f64>,
    /// Solutions found so far: Σ weight × completions.
    #[serde(with = "decimal")]
    pub solutions: u128,
    /// Nodes searched so far, without those of restored tasks.
    pub nodes: u64,
    /// Nodes per second over the last moments, all workers together.
    pub nodes_per_second: f64,
    /// Since the run began.
    pub elapsed: Duration,
    /// When it will end; `None` until enough tasks are counted.
    pub eta: Option<Eta>,
    /// Batches that wait for a CPU worker.
    pub queued: usize,
    /// Tasks that were counted a second time, with the same result.
    pub audited: u64,
    /// Tasks of this run that the recorder made durable.
    pub durable: u64,
    /// What each worker does: CPU workers, then devices.
    pub workers: Vec<WorkerProgress>,
}

impl Progress {
    /// Takes in the next event. The first event of a run begins a new account.
    pub fn note(&mut self, event: &RunEvent) {
        self.elapsed = self.elapsed.max(event.at);
        match &event.kind {
            EventKind::State(RunState::Planning) => {
                *self = Self {
                    elapsed: event.at,
                    ..Self::default()
                }
            }
            EventKind::State(state) => {
                self.state = *state;
                if !self.is_counting() {
                    self.eta = None;
                }
            }
            EventKind::Planned { workers, .. } => {
                self.workers = workers.iter().copied().map(WorkerProgress::new).collect();
            }
            EventKind::Queued { batches } => self.queued = *batches,
            EventKind::Advanced {
                tasks_done,
                tasks_total,
                share,
                solutions,
                nodes,
                eta,
            } => {
                self.tasks_done = *tasks_done;
                self.tasks_total = *tasks_total;
                self.share = *share;
                self.solutions = *solutions;
                self.nodes = *nodes;
                self.eta = eta.filter(|_| self.is_counting());
            }
            EventKind::Speed { nodes_per_second } => self.nodes_per_second = *nodes_per_second,
            EventKind::Checkpoint { tasks } => self.durable += tasks,
            EventKind::Audited { .. } => self.audited += 1,
            _ => {}
        }
        if let Some(worker) = event.kind.worker().and_then(|id| self.worker(id)) {
            worker.note(event);
        }
    }

    fn worker(&mut self, id: WorkerId) -> Option<&mut WorkerProgress> {
        let at = match id {
            // CPU workers come first. All events of tasks pass here: a search would take longer.
            WorkerId::Cpu(number) => number,
            WorkerId::Device(_) => self.workers.iter().position(|worker| worker.id == id)?,
        };
        self.workers.get_mut(at).filter(|worker| worker.id == id)
    }

    /// Whether the time left means something: a run that is paused or over has none.
    const fn is_counting(&self) -> bool {
        matches!(self.state, RunState::Running | RunState::Draining)
    }
}
