use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::engine::{decimal, seconds};

use super::state::RunState;

/// The time constant of the mean: results come in bursts, at most some 50 ms apart on CPU workers and
/// 3 s on devices.
const WINDOW: Duration = Duration::from_secs(10);

/// How fast a run counts: the mean over about the last ten seconds, weighted exponentially by time. It
/// is 0 while the run is paused and after its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MeanSpeed {
    /// Whether the run counts.
    counts: bool,
    /// Up to when nodes are accounted for, measured from the beginning of the run.
    #[serde(with = "seconds")]
    until: Duration,
    /// Nodes accounted for.
    #[serde(with = "decimal")]
    nodes: u64,
    /// The weighted sum of the speeds, and of the weights: the mean is their quotient, so that it is
    /// right from the first result on.
    sum: f64,
    weight: f64,
}

impl MeanSpeed {
    /// Nodes per second, all workers together.
    pub fn nodes_per_second(&self) -> f64 {
        if self.weight > 0.0 {
            self.sum / self.weight
        } else {
            0.0
        }
    }

    /// Takes in that the run went to another state.
    pub(super) fn note_state(&mut self, state: RunState, at: Duration) {
        let counts = matches!(state, RunState::Running | RunState::Draining);
        if counts != self.counts {
            *self = Self {
                counts,
                until: at,
                nodes: self.nodes,
                ..Self::default()
            };
        }
    }

    /// Takes in how many nodes were searched so far.
    pub(super) fn note_nodes(&mut self, nodes: u64, at: Duration) {
        let more = nodes.saturating_sub(self.nodes);
        let passed = at.saturating_sub(self.until).as_secs_f64();
        if self.counts && passed > 0.0 {
            let old = (-passed / WINDOW.as_secs_f64()).exp();
            self.sum = self.sum * old + more as f64 / passed * (1.0 - old);
            self.weight = self.weight * old + (1.0 - old);
        } else if self.counts {
            // Accounted for with the next result.
            return;
        }
        self.nodes = nodes;
        self.until = self.until.max(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn running() -> MeanSpeed {
        let mut speed = MeanSpeed::default();
        speed.note_state(RunState::Running, millis(100));
        speed
    }

    #[test]
    fn a_burst_does_not_look_fast() {
        let mut speed = running();
        // A hundred thousand nodes each 100 ms, told in two parts that are 1 ms apart.
        for step in 1..100 {
            speed.note_nodes(step * 100_000 - 50_000, millis(100 + step * 100 - 1));
            speed.note_nodes(step * 100_000, millis(100 + step * 100));
            let told = speed.nodes_per_second();
            assert!((told / 1e6 - 1.0).abs() < 0.05, "{step}: {told}");
        }
        // A tenth as fast: after a minute nothing is left of the past.
        for step in 1..600 {
            speed.note_nodes(9_900_000 + step * 10_000, millis(10_000 + step * 100));
        }
        let told = speed.nodes_per_second();
        assert!((told / 1e5 - 1.0).abs() < 0.1, "{told}");
    }

    #[test]
    fn a_pause_has_no_speed_and_does_not_slow_what_follows() {
        let mut speed = running();
        speed.note_nodes(1000, millis(1100));
        assert!((speed.nodes_per_second() - 1000.0).abs() < 1e-6);
        speed.note_state(RunState::Paused, millis(1200));
        speed.note_nodes(1200, millis(1300));
        assert_eq!(speed.nodes_per_second(), 0.0);
        speed.note_state(RunState::Running, millis(60_000));
        speed.note_nodes(2200, millis(61_000));
        assert!((speed.nodes_per_second() - 1000.0).abs() < 1e-6);
        speed.note_state(RunState::Draining, millis(61_000));
        assert!(speed.nodes_per_second() > 0.0);
        speed.note_state(RunState::Finished, millis(61_000));
        assert_eq!(speed.nodes_per_second(), 0.0);
    }

    #[test]
    fn results_of_the_same_moment_all_count() {
        let mut speed = running();
        speed.note_nodes(500, millis(1100));
        speed.note_nodes(700, millis(1100));
        speed.note_nodes(1000, millis(1100));
        speed.note_nodes(2000, millis(2100));
        // 500 in the first second, 1500 in the next.
        let told = speed.nodes_per_second();
        assert!(told > 1000.0 && told < 1500.0, "{told}");
    }
}
