//! What the shards of an array say beside their ledgers: why they stopped, and how fast they are counted.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::control::live_run::{last_said, old};
use crate::telemetry::Snapshot;
use queenfold::actors::{Eta, RunState};
use queenfold_ledger::cluster::{IndexList, ShardState};

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
    /// Its name for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Killed => "killed",
            Self::Asked => "asked",
            Self::Failed(_) => "failed",
        }
    }

    /// The error.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed(why) => Some(why),
            Self::Killed | Self::Asked => None,
        }
    }

    /// For people.
    pub fn in_words(&self) -> String {
        match self {
            Self::Killed => {
                "killed (out of memory, kill -9), or lost with its host; the folder logs may say more"
                    .to_owned()
            }
            Self::Asked => "asked to stop: cancelled, or the time was nearly over".to_owned(),
            Self::Failed(why) => format!("failed: {why}"),
        }
    }

    fn of(snapshot: Snapshot) -> Self {
        match (snapshot.progress.state, snapshot.progress.failure) {
            (RunState::Stopped, _) => Self::Asked,
            (RunState::Failed, why) => Self::Failed(why.unwrap_or_default()),
            _ => Self::Killed,
        }
    }
}

/// What all shards of an array say.
#[derive(Clone, Debug, Default)]
pub struct ShardMoments {
    speed: Option<f64>,
    why: BTreeMap<WhyStopped, Vec<u64>>,
    /// Shards that are not done: a whole number, less what is done of those that were begun.
    open: f64,
    /// Shards that are counted in a second.
    pace: f64,
}

impl ShardMoments {
    /// Takes in the shard at a position, whose directory this is.
    pub fn add(&mut self, index: u64, state: ShardState, directory: &Path) {
        if state == ShardState::Finished {
            return;
        }
        self.open += 1.0;
        let snapshot = last_said(directory);
        let share = snapshot.as_ref().and_then(|of| of.progress.share);
        let left = 1.0 - share.unwrap_or(0.0).clamp(0.0, 1.0);
        self.open -= 1.0 - left;
        match (state, snapshot) {
            (ShardState::Running, snapshot) => {
                // Nothing that is old.
                if let Some(now) = snapshot.filter(|snapshot| old(snapshot).is_none()) {
                    let progress = now.progress;
                    *self.speed.get_or_insert_default() += progress.nodes_per_second;
                    if let Some(eta) = progress.eta.filter(|eta| !eta.left.is_zero()) {
                        self.pace += left / eta.left.as_secs_f64();
                    }
                }
            }
            (ShardState::Stopped, Some(moment)) => {
                let why = WhyStopped::of(moment);
                self.why.entry(why).or_default().push(index);
            }
            _ => {}
        }
    }

    /// Nodes per second of all of them together; `None` if none says it.
    pub const fn nodes_per_second(&self) -> Option<f64> {
        self.speed
    }

    /// Why which shards stopped, as far as they said it.
    pub fn why(&self) -> impl Iterator<Item = (&WhyStopped, IndexList)> {
        let all = self.why.iter();
        all.map(|(why, shards)| (why, shards.iter().copied().collect()))
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
