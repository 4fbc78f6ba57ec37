//! What counting tasks again takes, before it begins.

use std::num::NonZeroUsize;
use std::sync::Arc;

use crate::engine::{CheckedBy, CountedBy, CounterSettings, Plan, oracle_slower, seconds_per_cost};
use crate::simd::Isa;
use crate::telemetry::{TimeUnit, several};

/// Tasks that are to be counted again, and their cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecountCost {
    pub tasks: u64,
    /// Core-seconds by another kernel than the one that a run on this machine takes.
    kernel: f64,
    /// Core-seconds by the oracle.
    oracle: f64,
}

impl RecountCost {
    /// Of tasks, each with its plan and its index there, by the costs of the plans: right within a factor of 3.
    pub fn of<'a>(
        tasks: impl Iterator<Item = (&'a Arc<dyn Plan>, u64)>,
        settings: &CounterSettings,
    ) -> Self {
        let mut all = Self::default();
        // What the tasks of the plan in hand cost, which is the same for each.
        let mut rates: Option<(&Arc<dyn Plan>, [f64; 2])> = None;
        for (plan, index) in tasks {
            let known = rates.filter(|(of, _)| Arc::ptr_eq(of, plan));
            let (_, [kernel, oracle]) =
                known.unwrap_or_else(|| (plan, of_plan(plan.as_ref(), settings)));
            rates = Some((plan, [kernel, oracle]));
            let cost = plan.task(index).cost;
            all.tasks += 1;
            all.kernel += cost * kernel;
            all.oracle += cost * oracle;
        }
        all
    }

    /// The line that says it: by this method, on so many workers.
    pub fn line(&self, by: CheckedBy, workers: NonZeroUsize) -> String {
        let tasks = several(self.tasks, "task");
        let wall = |core_seconds: f64| {
            // The last tasks leave workers without work.
            let at_once = self.tasks.clamp(1, workers.get() as u64);
            in_words(core_seconds / at_once as f64)
        };
        let [kernel, oracle] = [self.kernel, self.oracle].map(wall);
        match by {
            CheckedBy::OtherKernel => format!("{tasks} by another kernel, {kernel}"),
            CheckedBy::Oracle if kernel == oracle => format!("{tasks} by the oracle, {oracle}"),
            CheckedBy::Oracle => {
                format!("{tasks} by the oracle, {oracle}; with `--by kernel`, {kernel}")
            }
        }
    }
}

/// An expected time in words.
pub fn in_words(seconds: f64) -> String {
    match seconds {
        ..1.0 => "under a second".to_owned(),
        _ => format!("about {}", TimeUnit::of_wall(seconds).of(seconds)),
    }
}

/// Core-seconds for a unit of the cost of the plan: by another kernel than that of `settings`, and by the oracle.
fn of_plan(plan: &dyn Plan, settings: &CounterSettings) -> [f64; 2] {
    let per_cost = |isa| {
        let known = seconds_per_cost(plan.engine(), plan.size(), isa);
        known.unwrap_or(1.0)
    };
    let oracle = per_cost(settings.isa) * f64::from(oracle_slower(plan.engine()));
    let first = CountedBy::Cpu(plan.counter(settings).backend().into());
    let second = CheckedBy::OtherKernel.counter(plan, settings, &first);
    let is_second = |isa: &Isa| [isa.name(), plan.recount_kernel(*isa)].contains(&second.backend());
    // The last one is the widest: the census names no set, and costs the same with each.
    let isa = Isa::ALL.into_iter().rev().find(is_second);
    [isa.map_or(oracle, per_cost), oracle]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::Engine;
    use crate::job::plan;

    fn cost(engine: Engine, n: u32, tasks: u64) -> (RecountCost, f64) {
        let plan = plan(engine, Size::new(n).unwrap());
        let settings = CounterSettings { isa: Isa::best() };
        let of = (0..tasks).map(|index| (&plan, index));
        let costs: f64 = (0..tasks).map(|index| plan.task(index).cost).sum();
        let cost = RecountCost::of(of, &settings);
        (cost, costs)
    }

    #[test]
    fn the_oracle_costs_many_times_what_a_kernel_costs() {
        let (cost, _) = cost(Engine::Colour, 20, 40);
        assert_eq!(cost.tasks, 40);
        // The second form of a kernel takes as long as the first.
        assert!(
            (cost.oracle / cost.kernel - f64::from(oracle_slower(Engine::Colour))).abs() < 1e-6
        );
    }

    #[test]
    fn the_line_of_the_oracle_names_the_price_of_a_kernel() {
        let cost = RecountCost {
            tasks: 7,
            kernel: 0.2,
            oracle: 14.0,
        };
        let line = |by| cost.line(by, NonZeroUsize::new(2).unwrap());
        assert_eq!(
            line(CheckedBy::Oracle),
            "7 tasks by the oracle, about 7.0 s; with `--by kernel`, under a second"
        );
        assert_eq!(
            line(CheckedBy::OtherKernel),
            "7 tasks by another kernel, under a second"
        );
    }

    #[test]
    fn workers_share_the_time_but_not_that_of_one_task() {
        let cost = |tasks| RecountCost {
            tasks,
            kernel: 40.0,
            oracle: 40.0,
        };
        let line = |tasks| cost(tasks).line(CheckedBy::OtherKernel, NonZeroUsize::new(4).unwrap());
        assert_eq!(line(100), "100 tasks by another kernel, about 10 s");
        assert_eq!(line(1), "1 task by another kernel, about 40 s");
    }
}
