//! What is estimated, and what the plan says of it before anything is counted.

use std::sync::Arc;

use crate::config::Config;
use crate::exit::Failure;
use queenfold::board::GivenBoard;
use queenfold::engine::{CounterSettings, Plan, seconds_per_cost};
use queenfold::estimate::{Draw, Interval, Total};
use queenfold::job::{fastest_on_cpu, plan};
use queenfold::machine::Machine;

/// How far the costs of a plan may be from the truth.
const WITHIN: f64 = 3.0;

/// A task of more core-seconds is too long for a sample.
const LONG: f64 = 10.0;

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
    /// # Errors
    /// The settings name an instruction set that this machine lacks, or no workers.
    pub fn new(board: GivenBoard, config: &Config) -> Result<Self, Failure> {
        let machine = Machine::detect();
        let settings = config.hardware().counter()?;
        let workers = config.run.workers(&machine);
        if workers == 0 {
            let what = "0 workers count no sample: give --workers from 1 to 1024; with --gpu, devices count beside them";
            return Err(Failure::usage(what));
        }
        let fastest = || fastest_on_cpu(board, settings.isa);
        let plan = plan(config.run.engine.unwrap_or_else(fastest), board);
        // Only engines that are not of this library have no known cost, and no command counts those.
        let per_cost = seconds_per_cost(plan.engine(), plan.size(), settings.isa);
        Ok(Self {
            per_cost: per_cost.unwrap_or(1.0),
            threads: workers.min(machine.cores),
            plan,
            settings,
            workers,
        })
    }

    /// The plan that a sample is of. Where a task takes so long that a minute would hold none or few, its tasks are
    /// parts of that. Not all are single row sets, because neighbours share lists.
    pub fn sampled(&self) -> Arc<dyn Plan> {
        let parts = self.core_seconds() / self.plan.tasks() as f64 / LONG;
        let divided = (parts > 1.0).then(|| self.plan.in_parts(parts.ceil() as u64));
        divided.flatten().unwrap_or_else(|| Arc::clone(&self.plan))
    }

    /// Core-seconds of the board by the costs of its plan.
    pub fn core_seconds(&self) -> f64 {
        self.plan.total_cost() * self.per_cost
    }

    /// Wall seconds of the board by the costs of its plan.
    pub fn wall_seconds(&self) -> f64 {
        self.core_seconds() / self.workers as f64
    }

    /// What the costs of the plan say of the board, with how far they may be from the truth.
    pub fn by_plan(&self) -> Total {
        let expected = self.core_seconds();
        Total {
            core_seconds: Interval {
                low: expected / WITHIN,
                expected,
                high: expected * WITHIN,
            },
            mean_task: 0.0,
            longest_task: 0.0,
            share: 0.0,
        }
    }

    /// Wall seconds of a sample by the costs of the plan.
    pub fn sample_seconds(&self, draw: &Draw) -> f64 {
        let cost: f64 = draw.tasks().iter().map(|drawn| drawn.cost).sum();
        cost * self.per_cost / self.threads as f64
    }
}
