//! What is estimated, and what the plan says of it before anything is counted.

use std::sync::Arc;

use crate::engine::{CostTable, CounterSettings, Plan};
use crate::estimate::Draw;

/// What is estimated.
pub struct Question {
    pub plan: Arc<dyn Plan>,
    pub settings: CounterSettings,
    pub workers: usize,
    /// How many tasks of the sample are counted at a time.
    pub threads: usize,
    /// Seconds of a core for a unit of the cost of the plan.
    per_cost: f64,
}

impl Question {
    pub fn new(
        plan: Arc<dyn Plan>,
        settings: CounterSettings,
        (workers, cores): (usize, usize),
        costs: &CostTable,
    ) -> Self {
        // Only engines that are not of this library have no known cost, and no command counts those.
        let per_cost = costs.seconds_per_cost(plan.engine(), plan.size(), settings.isa);
        Self {
            per_cost: per_cost.unwrap_or(1.0),
            threads: workers.min(cores).max(1),
            plan,
            settings,
            workers,
        }
    }

    /// Core-seconds of the board by the costs of its plan.
    pub fn core_seconds(&self) -> f64 {
        self.plan.total_cost() * self.per_cost
    }

    /// Wall seconds of the board by the costs of its plan.
    pub fn wall_seconds(&self) -> f64 {
        self.core_seconds() / self.workers as f64
    }

    /// Wall seconds of a sample by the costs of the plan.
    pub fn sample_seconds(&self, draw: &Draw) -> f64 {
        let cost: f64 = draw.tasks().iter().map(|drawn| drawn.cost).sum();
        cost * self.per_cost / self.threads as f64
    }
}
