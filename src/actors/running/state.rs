//! The states of a run, from planning to its end, and which may follow which.

use serde::{Deserialize, Serialize};

/// Where a run stands.
///
/// ```text
/// planning ─→ running ⇄ paused
///     │          │        │
///     └──────────┴────────┴→ draining ─→ finished
///                                ├────→ stopped
///                                └────→ failed
/// ```
///
/// Every run drains before it ends: what is in flight comes back and the threads are joined,
/// whether the work was finished, stopped or failed. These names are the same everywhere: in events, metrics,
/// files, messages and on the dashboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Starting the actors.
    #[default]
    Planning,
    /// Counting.
    Running,
    /// Paused: workers finish their current task, or give it up after a second, and wait.
    Paused,
    /// About to end: what is in flight is finished or given up, nothing new is begun.
    Draining,
    /// Ended with everything counted that was to be counted, everything joined.
    Finished,
    /// Ended before that because somebody or a time limit asked for it, everything joined.
    Stopped,
    /// Ended by an error, everything joined.
    Failed,
}

impl RunState {
    /// Every state, in the order of a run's life.
    pub const ALL: [Self; 7] = [
        Self::Planning,
        Self::Running,
        Self::Paused,
        Self::Draining,
        Self::Finished,
        Self::Stopped,
        Self::Failed,
    ];

    /// What the state is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Draining => "draining",
            Self::Finished => "finished",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    /// The states that may follow.
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Planning => &[Self::Running, Self::Draining],
            Self::Running => &[Self::Paused, Self::Draining],
            Self::Paused => &[Self::Running, Self::Draining],
            Self::Draining => &[Self::Finished, Self::Stopped, Self::Failed],
            Self::Finished | Self::Stopped | Self::Failed => &[],
        }
    }

    /// Whether `next` may follow.
    pub fn allows(self, next: Self) -> bool {
        self.next().contains(&next)
    }

    /// Whether the run is over.
    pub const fn is_final(self) -> bool {
        self.next().is_empty()
    }
}
