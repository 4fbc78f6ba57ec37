use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{decimal, seconds};

/// What a worker process of a run over many hosts does, as its coordinator knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostProgress {
    /// The name of its host. Several processes may run on one.
    pub host: String,
    /// Its CPU workers.
    pub cpu_workers: u64,
    /// Its devices.
    pub devices: usize,
    /// The kernel of its CPU workers.
    pub isa: String,
    /// Tasks that it holds.
    pub tasks_held: u64,
    /// Tasks that it counted since it joined.
    pub tasks: u64,
    /// Nodes searched in them.
    #[serde(with = "decimal")]
    pub nodes: u64,
    /// How long it takes part.
    #[serde(with = "seconds")]
    pub joined: Duration,
    /// How long it has been silent.
    #[serde(with = "seconds")]
    pub silent: Duration,
    /// Whether its owner has paused it, or the owner of the run.
    #[serde(default)]
    pub paused: bool,
    /// Workers and devices of it that counted wrongly.
    pub sick: u64,
    /// Why it takes part no longer; `None` if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gone: Option<Gone>,
}

/// Why a process takes part no longer that has not taken leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gone {
    /// It was silent for the time of a lease.
    Lost,
    /// The owner of the run has banned its host.
    Banned,
    /// It was refused for what it sent.
    Refused,
}

impl Gone {
    /// For people and programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Banned => "banned",
            Self::Refused => "refused",
        }
    }
}

impl HostProgress {
    /// Nodes per second since it joined.
    pub fn nodes_per_second(&self) -> f64 {
        let seconds = self.joined.as_secs_f64();
        if seconds > 0.0 {
            self.nodes as f64 / seconds
        } else {
            0.0
        }
    }
}
