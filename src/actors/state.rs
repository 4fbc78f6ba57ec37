use serde::{Deserialize, Serialize};

/// Where a run stands.
///
/// ```text
/// planning ─→ running ⇄ pausing
///     │          │         │
///     └──────────┴────→ draining ─→ done
///                           └────→ failed
/// ```
///
/// Every run drains before it ends: what is in flight comes back and the threads are joined,
/// whether the work was finished, stopped or failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Starting the actors.
    #[default]
    Planning,
    /// Counting.
    Running,
    /// Paused: workers finish their current task, or give it up after a second, and wait.
    Pausing,
    /// Stopping: what is in flight is finished or given up, nothing new is begun.
    Draining,
    /// Ended, everything joined.
    Done,
    /// Ended by an error, everything joined.
    Failed,
}

impl RunState {
    /// Every state, in the order of a run's life.
    pub const ALL: [Self; 6] = [
        Self::Planning,
        Self::Running,
        Self::Pausing,
        Self::Draining,
        Self::Done,
        Self::Failed,
    ];

    /// What the state is called in events and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Planning => "planning",
            Self::Running => "running",
            Self::Pausing => "pausing",
            Self::Draining => "draining",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// The states that may follow.
    pub const fn next(self) -> &'static [Self] {
        match self {
            Self::Planning => &[Self::Running, Self::Draining],
            Self::Running => &[Self::Pausing, Self::Draining],
            Self::Pausing => &[Self::Running, Self::Draining],
            Self::Draining => &[Self::Done, Self::Failed],
            Self::Done | Self::Failed => &[],
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

#[cfg(test)]
mod tests {
    use super::RunState::{self, *};

    #[test]
    fn no_transition_but_those_of_the_table_is_allowed() {
        let legal = [
            (Planning, Running),
            (Planning, Draining),
            (Running, Pausing),
            (Running, Draining),
            (Pausing, Running),
            (Pausing, Draining),
            (Draining, Done),
            (Draining, Failed),
        ];
        for from in RunState::ALL {
            for to in RunState::ALL {
                assert_eq!(
                    from.allows(to),
                    legal.contains(&(from, to)),
                    "{from:?} → {to:?}"
                );
            }
        }
    }

    #[test]
    fn only_done_and_failed_are_final() {
        let last: Vec<_> = RunState::ALL.into_iter().filter(|s| s.is_final()).collect();
        assert_eq!(last, [Done, Failed]);
    }
}
