use std::time::Duration;

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunState {
    /// Building plans and starting actors.
    #[default]
    Planning,
    /// Counting.
    Running,
    /// Paused: workers finish what they hold and wait.
    Pausing,
    /// Stopping: what is in flight is finished, nothing new is begun.
    Draining,
    /// Ended, everything joined.
    Done,
    /// Ended by an error, everything joined.
    Failed,
}

/// A snapshot of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// Where the run stands.
    pub state: RunState,
    /// Tasks recorded.
    pub tasks_done: u64,
    /// Tasks of all plans.
    pub tasks_total: u64,
    /// Share of the estimated work that is done, 0 to 1.
    pub share: f64,
    /// Solutions found so far: Σ weight × completions.
    pub solutions: u128,
    /// Nodes so far.
    pub nodes: u64,
    /// Since the run began.
    pub elapsed: Duration,
    /// When it will end; `None` until enough tasks are done to tell.
    pub eta: Option<Eta>,
}

/// Time left, as estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Eta {
    /// Time left.
    pub left: Duration,
    /// Half the width of its 95 % interval.
    pub uncertainty: Duration,
}

/// A handle on a run from outside: ask how far it is, tell it to stop. Clones are the same handle.
#[derive(Clone, Debug, Default)]
pub struct Control {}

impl Control {
    /// A handle for a run that has not begun.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stop: finish what is in flight, begin nothing new. Safe to call from any thread, and more
    /// than once.
    pub fn drain(&self) {}

    /// Pause: finish what is in flight, then wait for [`resume`](Self::resume).
    pub fn pause(&self) {}

    /// Go on after [`pause`](Self::pause).
    pub fn resume(&self) {}

    /// How far the run is.
    pub fn progress(&self) -> Progress {
        Progress::default()
    }
}
