//! The account of the events of a run: how far it is, and what its workers do.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::actors::{
    Eta, EventKind, FaultyWorker, MapKeeper, Mapped, PauseReason, RunEvent, RunState, TaskMap,
    WorkerProgress, WorkerState,
};
use crate::board::decimal;
use crate::engine::{WorkerId, seconds};

/// How far a run is and what its workers do. The run itself keeps it for the progress line and the report. An observer,
/// or another process that is sent the events, keeps the same with [`note`](Self::note).
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
    #[serde(with = "decimal")]
    pub nodes: u64,
    /// How fast all workers together count: the mean of the last ten seconds or a little more; 0 unless the run counts.
    pub nodes_per_second: f64,
    /// Since the run began.
    #[serde(with = "seconds")]
    pub elapsed: Duration,
    /// How long the run was paused.
    #[serde(with = "seconds")]
    pub paused: Duration,
    /// Why it is paused now; empty if it is not.
    pub paused_for: Vec<PauseReason>,
    /// When it will end; `None` until enough tasks are counted, and unless the run is
    /// [running](RunState::Running): one that is paused, stopped or over does not count the rest.
    pub eta: Option<Eta>,
    /// Batches that wait for a CPU worker.
    pub queued: usize,
    /// Tasks that were counted a second time, with the same result.
    pub audited: u64,
    /// Tasks whose count in the sums was corrected by others.
    pub corrected: u64,
    /// Workers and devices that counted wrongly, in the order in which that was found.
    pub faulty: Vec<FaultyWorker>,
    /// How often a task was given up because the run stopped or paused.
    pub given_up: u64,
    /// The time of workers that was lost by that, added up.
    #[serde(with = "seconds")]
    pub lost: Duration,
    /// Tasks of this run that the recorder made durable.
    pub durable: u64,
    /// When results became durable the last time, measured from the beginning of the run.
    #[serde(default, with = "seconds::optional")]
    pub checkpoint: Option<Duration>,
    /// Why the run can have no result, as soon as that is known.
    pub failure: Option<String>,
    /// What each worker does: CPU workers, then devices.
    pub workers: Vec<WorkerProgress>,
}

impl Progress {
    /// Takes in the next event. The first event of a run begins a new account.
    pub fn note(&mut self, event: &RunEvent) {
        let passed = event.at.saturating_sub(self.elapsed);
        self.elapsed += passed;
        if self.state == RunState::Paused {
            self.paused += passed;
        }
        match &event.kind {
            EventKind::State(RunState::Planning) => {
                *self = Self {
                    elapsed: event.at,
                    ..Self::default()
                }
            }
            EventKind::State(state) => {
                self.state = *state;
                if *state != RunState::Running {
                    self.eta = None;
                    self.nodes_per_second = 0.0;
                }
                self.paused_for.clear();
            }
            EventKind::PausedFor { reasons } => self.paused_for.clone_from(reasons),
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
                nodes_per_second,
                eta,
            } => {
                self.tasks_done = *tasks_done;
                self.tasks_total = Some(*tasks_total);
                self.share = Some(*share);
                self.solutions = *solutions;
                self.nodes = *nodes;
                self.eta = eta.filter(|_| self.state == RunState::Running);
                self.nodes_per_second = *nodes_per_second;
            }
            EventKind::Failed { reason } => self.failure = Some(reason.clone()),
            EventKind::Checkpoint { tasks } => {
                self.durable += tasks;
                self.checkpoint = Some(event.at);
            }
            EventKind::Audited { .. } => self.audited += 1,
            EventKind::Corrected(count) => self.corrected += u64::from(count.was_summed),
            EventKind::Faulty(worker) => self.faulty.push(worker.clone()),
            EventKind::TaskGivenUp { after, .. } => {
                self.given_up += 1;
                self.lost += *after;
            }
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
}

/// The progress of a run that takes place in this process, and its clock.
pub(crate) struct LiveProgress {
    start: Instant,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    progress: Progress,
    map: MapKeeper,
    /// Whether nothing can be counted until a device is open.
    awaits_device: bool,
    /// When the first worker was ready to count.
    ready: Duration,
    /// When the last task was handed out.
    exhausted: Option<Duration>,
}

impl LiveProgress {
    /// Of a run that begins now.
    pub(crate) fn begin() -> Self {
        Self {
            start: Instant::now(),
            kept: Mutex::default(),
        }
    }

    /// Notes that CPU workers, which are ready at once, leave the tasks to devices.
    pub(crate) fn await_device(&self) {
        self.kept.lock().awaits_device = true;
    }

    /// When the run began.
    pub(crate) const fn start(&self) -> Instant {
        self.start
    }

    pub(crate) fn note(&self, event: &RunEvent) {
        let mut kept = self.kept.lock();
        if kept.awaits_device && matches!(event.kind, EventKind::DeviceReady { .. }) {
            (kept.awaits_device, kept.ready) = (false, event.at);
        }
        kept.progress.note(event);
        kept.map.note(&event.kind);
    }

    /// The run begins with these tasks.
    pub(crate) fn map_tasks(&self, plans: &[Mapped]) {
        self.kept.lock().map = MapKeeper::new(plans);
    }

    /// Which tasks are counted now.
    pub(crate) fn map(&self) -> TaskMap {
        let kept = self.kept.lock();
        let workers = kept.progress.workers.iter();
        let counting = workers.filter_map(|worker| match worker.state {
            WorkerState::Counting(key) => Some(key),
            _ => None,
        });
        kept.map.map(counting)
    }

    /// What is known now.
    pub(crate) fn now(&self) -> Progress {
        let mut progress = self.kept.lock().progress.clone();
        if !progress.state.is_final() {
            progress.elapsed = self.start.elapsed();
        }
        progress
    }

    /// How long the run has had a worker that was ready: the whole time, if none ever was.
    pub(crate) fn counting(&self) -> Duration {
        self.start.elapsed() - self.kept.lock().ready
    }

    /// Notes whether every task has been handed out.
    pub(crate) fn set_exhausted(&self, exhausted: bool) {
        let since = &mut self.kept.lock().exhausted;
        let now = since.unwrap_or_else(|| self.start.elapsed());
        *since = exhausted.then_some(now);
    }

    /// The parts of the time since `from` while there were tasks to hand out, and after that.
    pub(crate) fn split_wait(&self, from: Instant) -> (Duration, Duration) {
        let (waited, exhausted) = (from.elapsed(), self.kept.lock().exhausted);
        let starved =
            exhausted.map_or(Duration::ZERO, |at| self.start.elapsed().saturating_sub(at));
        let starved = starved.min(waited);
        (waited - starved, starved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_added_up() {
        let mut progress = Progress::default();
        let mut note = |seconds, state| {
            let at = Duration::from_secs(seconds);
            let kind = EventKind::State(state);
            progress.note(&RunEvent { at, kind });
            progress.paused.as_secs()
        };
        assert_eq!(note(10, RunState::Running), 0);
        assert_eq!(note(20, RunState::Paused), 0);
        assert_eq!(note(60, RunState::Paused), 40);
        assert_eq!(note(110, RunState::Running), 90);
        assert_eq!(note(115, RunState::Paused), 90);
        assert_eq!(note(120, RunState::Draining), 95);
        assert_eq!(note(121, RunState::Finished), 95);
    }

    #[test]
    fn only_a_run_that_goes_on_has_a_time_left() {
        for state in RunState::ALL.into_iter().skip(1) {
            let mut progress = Progress::default();
            let eta = Some(Eta {
                left: Duration::from_secs(60),
                uncertainty: Some(Duration::ZERO),
            });
            let advanced = EventKind::Advanced {
                tasks_done: 5,
                tasks_total: 10,
                share: 0.5,
                solutions: 1,
                nodes: 1,
                nodes_per_second: 1.0,
                eta,
            };
            let mut note = |kind| {
                let at = Duration::ZERO;
                progress.note(&RunEvent { at, kind });
                progress.eta
            };
            let runs = state == RunState::Running;
            note(EventKind::State(RunState::Running));
            assert_eq!(note(advanced.clone()), eta);
            let expected = eta.filter(|_| runs);
            assert_eq!(note(EventKind::State(state)), expected, "{state:?}");
            assert_eq!(note(advanced), expected, "{state:?}");
        }
    }
}
