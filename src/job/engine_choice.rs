//! The engines: the plan of each, which `auto` takes as the fastest for a board, and how long that takes on given hardware. A
//! new engine is a line in [`plan`].

use std::sync::Arc;
use std::time::Duration;

use super::{Hardware, Job, JobError, Plans};
use crate::actors::DeviceSpec;
use crate::board::{GivenBoard, Size};
use crate::census::CensusPlan;
use crate::chain::ChainPlan;
use crate::colour::ColourPlan;
use crate::device::calibrate;
use crate::engine::{self, Engine, Plan, seconds_per_cost};
use crate::simd::Isa;

/// The plan of an engine of this library for a board: its size, or a board on which queens and holes are
/// given.
///
/// # Panics
/// `engine` is [`Engine::Own`], whose plans are made elsewhere.
pub fn plan(engine: Engine, board: impl Into<GivenBoard>) -> Arc<dyn Plan> {
    let board = board.into();
    match engine {
        Engine::Chain => Arc::new(ChainPlan::new(board)),
        Engine::Colour => Arc::new(ColourPlan::new(board)),
        Engine::Census => Arc::new(CensusPlan::new(board)),
        Engine::Own => panic!("the plan of an own engine is made by its owner"),
    }
}

/// The plans of a run by these engines. There is none of an own engine, whose plans only its owner makes.
pub fn plans(board: GivenBoard, engines: impl IntoIterator<Item = Engine>) -> Plans {
    let engines = engines.into_iter().filter(|engine| *engine != Engine::Own);
    engines.map(|engine| plan(engine, board)).collect()
}

/// Expected core-seconds of a board by an engine with an instruction set.
fn core_seconds(engine: Engine, board: &GivenBoard, isa: Isa) -> f64 {
    let free = engine::core_seconds(engine, board.size(), isa);
    match engine {
        Engine::Chain => ChainPlan::work_for(board) * free,
        Engine::Colour => ColourPlan::work_for(board) * free,
        Engine::Census | Engine::Own => free,
    }
}

/// The smallest board that an H100 counts as fast by the colour engine as by the chain (`docs/PERFORMANCE.md`).
const FIRST_COLOUR_OF_DEVICES: u32 = 16;

/// The plan by which devices count the board of size `n` fastest; `None` if no engine has a kernel for it.
pub fn device_plan(n: Size) -> Option<Arc<dyn Plan>> {
    let engine = if n.get() < FIRST_COLOUR_OF_DEVICES {
        Engine::Chain
    } else {
        Engine::Colour
    };
    Some(plan(engine, n)).filter(|plan| plan.launcher().is_ok())
}

/// The colour engine is chosen where it needs this many times less CPU time than the chain, by the table of
/// costs, which is not exact.
const CLEARLY_FASTER: f64 = 1.2;

/// The smallest board for which the colour engine is chosen: either engine counts smaller ones in a
/// millisecond.
const FIRST_COLOUR: u32 = 12;

/// The engine that counts a board fastest on CPU workers alone, by the table of costs and by how much is given.
pub fn fastest_on_cpu(board: impl Into<GivenBoard>, isa: Isa) -> Engine {
    let board = board.into();
    let n = board.size();
    let cost = |engine| core_seconds(engine, &board, isa);
    let [chain, colour] = [Engine::Chain, Engine::Colour].map(cost);
    if n.get() >= FIRST_COLOUR && chain > CLEARLY_FASTER * colour {
        Engine::Colour
    } else {
        Engine::Chain
    }
}

impl Hardware {
    /// The fastest engine for a board: the one that takes less CPU time, whether devices take part or not. An H100 counts
    /// these boards faster by it, too (`docs/PERFORMANCE.md`).
    ///
    /// # Errors
    /// Devices were asked for, and do not count this board.
    pub fn choose_engine(&self, board: impl Into<GivenBoard>) -> Result<Engine, JobError> {
        let board = board.into();
        let engine = fastest_on_cpu(board, self.counter.isa);
        self.devices()
            .for_plans(&[plan(engine, board)], self.workers)?;
        Ok(engine)
    }
}

/// What CPU workers and devices are expected to take together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WithDevices {
    /// Seconds.
    pub seconds: f64,
    /// Devices that take part.
    pub devices: u64,
}

impl Hardware {
    /// What the CPU workers, which take `alone` seconds for `plan`, and the devices are expected to take
    /// together. Opens and measures the devices. `None` if none takes part.
    ///
    /// # Errors
    /// Devices were asked for, and do not count this board, or cannot be measured.
    pub fn expected(
        &self,
        plan: &Arc<dyn Plan>,
        alone: f64,
    ) -> Result<Option<WithDevices>, JobError> {
        let (mut per_second, mut devices) = (0.0, 0);
        if let Ok(launcher) = plan.launcher() {
            for device in self.devices_for(std::slice::from_ref(plan))? {
                let speed = work_per_second(device, plan.as_ref());
                per_second += speed.map_err(JobError::DeviceUnavailable)? / launcher.work();
                devices += 1;
            }
        }
        let seconds = together(alone, per_second);
        Ok((devices > 0).then_some(WithDevices { seconds, devices }))
    }
}

/// Seconds that workers and devices take together, so that both finish at the same time, where the workers take `alone`
/// seconds without devices, and devices count the share `per_second` of the work each second.
fn together(alone: f64, per_second: f64) -> f64 {
    // With the share x on devices: (1 - x) · alone = x / per_second.
    alone / (1.0 + alone * per_second)
}

/// Opens a device, and measures it on the plan of the same engine for a board that it counts in milliseconds.
fn work_per_second(device: &DeviceSpec, of: &dyn Plan) -> Result<f64, String> {
    let named = |why: String| format!("{}: {why}", device.name);
    let small = Size::new(of.size().get().min(18)).map_err(|error| named(error.to_string()))?;
    let small = plan(of.engine(), small);
    let mut opened = (device.open)().map_err(|error| named(error.0))?;
    calibrate(opened.as_mut(), small.as_ref()).map_err(named)
}

impl Job {
    /// How long the CPU workers of `hardware` are expected to take for the plan of this job, by
    /// the costs of the plan: right within a factor of three up to n = 30, and of the order of
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
    use crate::engine::{FunctionPlan, Tally};
    use crate::job::{DeviceChoice, HardwareSettings};

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    #[test]
    fn auto_takes_the_colour_engine_from_these_boards_on() {
        for (isa, first) in [
            (Isa::Portable, 14),
            (Isa::Neon, 15),
            (Isa::Avx2, 15),
            (Isa::Avx512, 16),
        ] {
            for n in Size::all() {
                let expected = if n.get() >= first {
                    Engine::Colour
                } else {
                    Engine::Chain
                };
                assert_eq!(fastest_on_cpu(n, isa), expected, "n = {n}, {isa}");
            }
        }
    }

    /// The faster engine of those measured (docs/lab/2026-11-25.md), where one was much faster.
    #[test]
    fn auto_takes_the_chain_where_much_is_given() {
        for (n, queens, expected) in [
            (16, "e3,h12", Engine::Chain),
            (18, "b16", Engine::Colour),
            (18, "n6,l18,a2,d7", Engine::Chain),
            (19, "s14,f4", Engine::Colour),
            (20, "c6,i10", Engine::Colour),
            (20, "d1,j13,g9,s18", Engine::Chain),
            (22, "m3,c11,t15,d9,g20", Engine::Chain),
            (26, "c3", Engine::Colour),
        ] {
            let board = GivenBoard::parse(size(n), queens, "").unwrap();
            let engine = fastest_on_cpu(board, Isa::Avx2);
            assert_eq!(engine, expected, "n = {n}, {queens}");
        }
    }

    fn with_device(engine: Engine, n: u32, workers: f64, work_per_second: f64) -> f64 {
        let alone = crate::engine::core_seconds(engine, size(n), Isa::Avx512) / workers;
        let launcher = plan(engine, size(n)).launcher().unwrap();
        together(alone, work_per_second / launcher.work())
    }

    /// The speeds are those of an H100: nodes of the chain, and placements, in a second.
    #[test]
    fn a_device_gains_more_by_the_colour_engine_than_a_cpu() {
        for n in [16, 18, 20, 22, 24] {
            let chain = with_device(Engine::Chain, n, 2.0, 8.4e11);
            let colour = with_device(Engine::Colour, n, 2.0, 9e10);
            assert!(colour < chain, "n = {n}: {colour} and {chain}");
        }
        let slow = with_device(Engine::Colour, 20, 2.0, 1.0);
        let alone = crate::engine::core_seconds(Engine::Colour, size(20), Isa::Avx512) / 2.0;
        assert!((slow / alone - 1.0).abs() < 1e-6);
    }

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
        let n = size(26);
        let job = Job::of(plan(Engine::Colour, n));
        let time = |workers| job.expected_time(&hardware(workers)).unwrap().as_secs_f64();
        assert!((time(1) / time(4) - 4.0).abs() < 1e-6);
        assert!(time(1) > 1e5, "{}", time(1));
        let own = FunctionPlan::new(n, 1, |_| Tally::default());
        let own = Job::of(std::sync::Arc::new(own));
        assert_eq!(own.expected_time(&hardware(1)), None);
    }
}
