//! What the shards of an array say beside their ledgers: why they stopped, and how fast they are counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::control::live_run::{last_said, old};
use queenfold::actors::{Eta, Progress, RunState};
use queenfold_ledger::cluster::ShardState;

/// Why nobody works on a shard that was begun.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WhyStopped {
    /// It could not say so.
    Killed,
    /// Somebody asked for it, or its time was over.
    Asked,
    /// An error, in words.
    Failed(String),
}

impl WhyStopped {
    /// For people.
    pub fn in_words(&self) -> String {
        match self {
            Self::Killed => "killed (out of memory, kill -9), or lost with its host".to_owned(),
            Self::Asked => "asked to stop: cancelled, or the time was nearly over".to_owned(),
            Self::Failed(why) => format!("failed: {why}"),
        }
    }

    /// Its name for programs, and the error if there was one.
    pub const fn told(&self) -> (&'static str, Option<&String>) {
        match self {
            Self::Killed => ("killed", None),
            Self::Asked => ("asked", None),
            Self::Failed(why) => ("failed", Some(why)),
        }
    }

    fn of(progress: Progress) -> Self {
        match progress.state {
            RunState::Stopped => Self::Asked,
            RunState::Failed => Self::Failed(progress.failure.unwrap_or_default()),
            _ => Self::Killed,
        }
    }
}

/// What all shards of an array say.
#[derive(Clone, Debug, Default)]
pub struct ShardMoments {
    /// Nodes per second of all of them together; `None` if none says it.
    pub nodes_per_second: Option<f64>,
    /// Why which shards stopped, as far as they said it.
    pub why: BTreeMap<WhyStopped, Vec<u64>>,
    /// Shards that are not done: a whole number, less what is done of those that were begun.
    open: f64,
    /// Shards that are counted in a second.
    pace: f64,
}

impl ShardMoments {
    /// Takes in the shard at a position, which is not finished and has this directory.
    pub fn add(&mut self, index: u64, state: ShardState, directory: &Path) {
        let snapshot = last_said(directory);
        let share = snapshot.as_ref().and_then(|of| of.progress.share);
        let left = 1.0 - share.unwrap_or(0.0).clamp(0.0, 1.0);
        self.open += left;
        let Some(snapshot) = snapshot else {
            return;
        };
        let is_old = old(&snapshot).is_some();
        let progress = snapshot.progress;
        match state {
            // Nothing that is old.
            ShardState::Running if !is_old => {
                *self.nodes_per_second.get_or_insert_default() += progress.nodes_per_second;
                if let Some(eta) = progress.eta.filter(|eta| !eta.left.is_zero()) {
                    self.pace += left / eta.left.as_secs_f64();
                }
            }
            ShardState::Stopped => {
                let why = WhyStopped::of(progress);
                self.why.entry(why).or_default().push(index);
            }
            _ => {}
        }
    }

    /// How long the rest of the array takes if as many shards are counted as now; `None` while that is not known.
    pub fn left(&self) -> Option<Eta> {
        let seconds = Some(self.open / self.pace).filter(|_| self.pace > 0.0)?;
        Some(Eta {
            left: Duration::try_from_secs_f64(seconds.max(0.0)).ok()?,
            uncertainty: None,
        })
    }
}
