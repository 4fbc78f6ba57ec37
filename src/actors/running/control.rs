//! How a run is asked from outside to stop, to pause, to go on, and how far it is.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use actix::Recipient;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::actors::{FaultHook, LiveProgress, Progress, TaskMap, ToRun, fault_hook};

/// A handle on a run from outside: ask how far it is, tell it to stop. Clones are the same handle.
///
/// It may be used from any thread, before, during and after the run. It serves one run at a time.
/// Requests stay: a control that was asked to drain stops every later run before its first task.
///
/// ```
/// use queenfold::{Control, Job, JobError, Size};
///
/// let control = Control::new();
/// control.drain();
/// let job = Job::new(Size::new(16)?).control(&control);
/// assert!(matches!(job.run(), Err(JobError::Stopped(_))));
/// assert_eq!(control.progress().tasks_done, 0);
/// # Ok::<(), queenfold::SizeError>(())
/// ```
#[derive(Clone, Default)]
pub struct Control {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Requests>,
    /// Of the run under this control, the latest if there were several.
    progress: Mutex<Option<Arc<LiveProgress>>>,
    faults: Mutex<Option<Arc<dyn FaultHook>>>,
}

/// What was asked for, and the run that must hear of it.
#[derive(Default)]
struct Requests {
    drain: bool,
    pause: BTreeSet<PauseReason>,
    run: Option<Recipient<ToRun>>,
}

impl Control {
    /// A handle for a run that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stop: begin nothing new, finish what is in flight, and give up tasks that take more than a
    /// second more. Safe to call from any thread, and more than once.
    pub fn drain(&self) {
        self.ask(|requests| requests.drain = true);
    }

    /// Whether [`drain`](Self::drain) was called.
    pub fn is_draining(&self) -> bool {
        self.shared.requests.lock().drain
    }

    /// Pause: as [`drain`](Self::drain), but wait for [`resume`](Self::resume) then. Tasks that were
    /// given up are counted from their beginning.
    pub fn pause(&self) {
        self.pause_for(PauseReason::Asked);
    }

    /// Continue after [`pause`](Self::pause), unless there are other reasons to pause.
    pub fn resume(&self) {
        self.resume_from(PauseReason::Asked);
    }

    /// Pause for this reason, besides others: see [`pause`](Self::pause).
    pub fn pause_for(&self, reason: PauseReason) {
        self.ask(|requests| {
            requests.pause.insert(reason);
        });
    }

    /// This is no reason to pause any more. The run continues when there is none.
    pub fn resume_from(&self, reason: PauseReason) {
        self.ask(|requests| {
            requests.pause.remove(&reason);
        });
    }

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        let live = self.shared.progress.lock().clone();
        live.map(|live| live.now()).unwrap_or_default()
    }

    /// Which tasks of the run are counted.
    pub fn task_map(&self) -> TaskMap {
        let live = self.shared.progress.lock().clone();
        live.map(|live| live.map()).unwrap_or_default()
    }

    /// For tests: lets the runs under this control go wrong by `faults`. A second count and what decides are one with it.
    #[doc(hidden)]
    pub fn inject(&self, faults: Arc<dyn FaultHook>) {
        *self.shared.faults.lock() = Some(faults);
    }

    pub(in crate::actors) fn faults(&self) -> Arc<dyn FaultHook> {
        fault_hook::or_of_process(self.shared.faults.lock().as_ref())
    }

    fn ask(&self, change: impl FnOnce(&mut Requests)) {
        let mut requests = self.shared.requests.lock();
        change(&mut requests);
        if let Some(run) = &requests.run {
            run.do_send(ToRun::Wake);
        }
    }

    /// Why it is asked to pause, if it is.
    pub(crate) fn paused_for(&self) -> Vec<PauseReason> {
        self.shared.requests.lock().pause.iter().copied().collect()
    }

    /// From now on the run hears of every request.
    pub(crate) fn attach(&self, run: Recipient<ToRun>) {
        self.shared.requests.lock().run = Some(run);
    }

    pub(crate) fn detach(&self) {
        self.shared.requests.lock().run = None;
    }

    /// From now on this is the progress that is shown.
    pub(crate) fn show(&self, progress: Arc<LiveProgress>) {
        *self.shared.progress.lock() = Some(progress);
    }
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("is_draining", &self.is_draining())
            .field("paused_for", &self.paused_for())
            .field("progress", &self.progress())
            .finish()
    }
}

/// Why a run is paused. There may be several reasons at once; it goes on when there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PauseReason {
    /// Somebody asked for it.
    Asked,
    /// It may run at other hours only.
    Hours,
    /// A processor or device is too hot.
    Heat,
}

impl PauseReason {
    /// Several reasons for people: `asked for, too hot`.
    pub fn list<'a>(reasons: impl IntoIterator<Item = &'a Self>) -> String {
        let words = reasons.into_iter().map(ToString::to_string);
        words.collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for PauseReason {
    /// For people: `paused (too hot)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Asked => "asked for",
            Self::Hours => "outside its hours",
            Self::Heat => "too hot",
        })
    }
}
