//! How long a job is expected to take, before anything of it is counted.

use std::time::Duration;

use super::{Hardware, Job};
use crate::engine::seconds_per_cost;

impl Job {
    /// How long the CPU workers of `hardware` are expected to take for the plan of this job, by
    /// the costs of the plan: right within a factor of three up to n = 28, and of the order of
    /// magnitude beyond. `None` if that is not known: no plan was given, it is of an own engine, or
    /// devices count it.
    pub fn expected_time(&self, hardware: &Hardware) -> Option<Duration> {
        let plan = self.plan.as_ref()?;
        let devices = hardware.devices_for(std::slice::from_ref(plan)).ok()?;
        if !devices.is_empty() || hardware.workers == 0 {
            return None;
        }
        let per_cost = seconds_per_cost(plan.engine(), self.size(), hardware.counter.isa)?;
        let seconds = plan.total_cost() * per_cost / hardware.workers as f64;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Size;
    use crate::engine::{Engine, FunctionPlan, Tally};
    use crate::job::{DeviceChoice, HardwareSettings, plan};

    #[test]
    fn more_workers_take_less_time_and_an_own_engine_an_unknown_one() {
        let hardware = |workers| {
            let settings = HardwareSettings {
                workers: Some(workers),
                devices: DeviceChoice::Off,
                ..HardwareSettings::default()
            };
            Hardware::find(&settings).unwrap()
        };
        let n = Size::new(26).unwrap();
        let job = Job::of(plan(Engine::Colour, n));
        let time = |workers| job.expected_time(&hardware(workers)).unwrap().as_secs_f64();
        assert!((time(1) / time(4) - 4.0).abs() < 1e-6);
        assert!(time(1) > 1e5, "{}", time(1));
        let own = FunctionPlan::new(n, 1, |_| Tally::default());
        let own = Job::of(std::sync::Arc::new(own));
        assert_eq!(own.expected_time(&hardware(1)), None);
    }
}
