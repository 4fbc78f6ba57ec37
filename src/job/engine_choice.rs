//! The choice of `auto`: which engine counts a board fastest on given hardware.

use std::sync::Arc;

use super::plans::{core_seconds, plan, plans};
use super::{Hardware, JobError};
use crate::actors::DeviceSpec;
use crate::board::{GivenBoard, Size};
use crate::device::calibrate;
use crate::engine::{CostTable, Engine, Launcher, Plan};
use crate::simd::Isa;
use crate::telemetry;

/// An engine, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineChoice {
    /// The fastest engine for the board.
    pub engine: Engine,
    /// One line for the user; `None` if no device made it a question.
    pub reason: Option<String>,
}

/// The colour engine is chosen where it needs this many times less CPU time than the chain, by the table of
/// costs, which is not exact.
const CLEARLY_FASTER: f64 = 1.2;

/// The smallest board for which the colour engine is chosen: either engine counts smaller ones in a
/// millisecond.
const FIRST_COLOUR: u32 = 12;

/// The engine that counts a board fastest on CPU workers alone, by `costs` and by how much is given.
pub fn fastest_on_cpu(board: impl Into<GivenBoard>, isa: Isa, costs: &CostTable) -> Engine {
    let board = board.into();
    let n = board.size();
    let cost = |engine| core_seconds(engine, &board, isa, costs);
    let [chain, colour] = [Engine::Chain, Engine::Colour].map(cost);
    if n.get() >= FIRST_COLOUR && chain > CLEARLY_FASTER * colour {
        Engine::Colour
    } else {
        Engine::Chain
    }
}

/// Devices that were not asked for are not opened for boards that the CPU workers count in this many
/// seconds, by the table of costs.
///
/// 2 s on a current core are allowed for opening a GPU, compiling its kernel and measuring it: an
/// assumption, because none was measured. A current core is the Zen 5 that takes 0.6 times the seconds
/// of the table (`engine/costs.rs`).
const NOT_WORTH_OPENING: f64 = 2.0 / 0.6;

impl Hardware {
    /// The fastest engine for a board on this hardware. If devices can count it, they are opened and measured
    /// with the kernel of each engine.
    ///
    /// # Errors
    /// Devices were asked for, and do not count this board.
    pub fn choose_engine(&self, board: impl Into<GivenBoard>) -> Result<EngineChoice, JobError> {
        let board = board.into();
        let n = board.size();
        let (workers, isa) = (self.workers, self.counter.isa);
        let on_cpu = fastest_on_cpu(board, isa, &self.costs);
        let without_question = |engine| {
            Ok(EngineChoice {
                engine,
                reason: None,
            })
        };
        let plans: Vec<_> = plans(board).collect();
        let worth = |plan: &Arc<dyn Plan>| self.devices().are_worth_opening(plan.as_ref());
        if !plans.iter().any(worth) || self.devices().is_empty() {
            return without_question(on_cpu);
        }
        let devices = self.devices().for_plans(&plans, workers)?;
        let mut on_devices = plans.iter().filter(|plan| plan.launcher().is_ok());
        let Some(first) = on_devices.next().filter(|_| !devices.is_empty()) else {
            return without_question(on_cpu);
        };
        // Where the chain is the faster one on CPUs alone, it is so with devices. Without CPU workers, the
        // thread of a device would count what the device cannot.
        if workers == 0 || on_cpu == first.engine() {
            return without_question(first.engine());
        }
        let cpu_seconds = |engine| core_seconds(engine, &board, isa, &self.costs) / workers as f64;
        if self.devices().were_found() && cpu_seconds(on_cpu) < NOT_WORTH_OPENING {
            return without_question(on_cpu);
        }
        let mut failed = Vec::new();
        let mut expected: Vec<Expected> = plans
            .iter()
            .map(|plan| {
                let engine = plan.engine();
                // Devices take no part in some plans because they would have too little to do.
                let devices = self
                    .devices()
                    .for_plans(std::slice::from_ref(plan), workers);
                let mut expected = Expected::alone(engine, cpu_seconds(engine));
                if let (Ok(devices), Ok(launcher)) = (devices, plan.launcher()) {
                    for device in devices {
                        match work_per_second(device, plan.as_ref()) {
                            Ok(speed) => expected.add(launcher.as_ref(), speed),
                            Err(why) => failed.push(why),
                        }
                    }
                }
                expected
            })
            .collect();
        expected.sort_by(|one, other| one.seconds().total_cmp(&other.seconds()));
        let said = expected.iter().map(|expected| {
            let with = match expected.devices {
                0 => String::new(),
                devices => format!(" and {}", telemetry::several(devices, "device")),
            };
            format!(
                "{} by the {} engine on {}{with}",
                in_words(expected.seconds()),
                expected.engine,
                telemetry::several(workers as u64, "CPU worker"),
            )
        });
        let said: Vec<String> = said.collect();
        let engine = expected[0].engine;
        failed.dedup();
        let failed: String = failed.into_iter().map(|why| format!("; {why}")).collect();
        let reason = format!(
            "auto takes the {engine} engine for n = {n}: about {}{failed}",
            said.join(", "),
        );
        Ok(EngineChoice {
            engine,
            reason: Some(reason),
        })
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
        let mut expected = Expected::alone(plan.engine(), alone);
        if let Ok(launcher) = plan.launcher() {
            for device in self.devices_for(std::slice::from_ref(plan))? {
                let speed = work_per_second(device, plan.as_ref());
                expected.add(
                    launcher.as_ref(),
                    speed.map_err(JobError::DeviceUnavailable)?,
                );
            }
        }
        Ok((expected.devices > 0).then(|| WithDevices {
            seconds: expected.seconds(),
            devices: expected.devices,
        }))
    }
}

/// Opens a device, and measures it on the plan of the same engine for a board that it counts in milliseconds.
fn work_per_second(device: &DeviceSpec, of: &dyn Plan) -> Result<f64, String> {
    let named = |why: String| format!("{}: {why}", device.name);
    let small = Size::new(of.size().get().min(18)).map_err(|error| named(error.to_string()))?;
    let small = plan(of.engine(), small);
    let mut opened = (device.open)().map_err(|error| named(error.0))?;
    calibrate(opened.as_mut(), small.as_ref()).map_err(named)
}

/// How long an engine is expected to take.
struct Expected {
    engine: Engine,
    /// Seconds of the CPU workers without devices.
    alone: f64,
    /// The share of the work that the devices count each second.
    per_second: f64,
    /// Devices that take part.
    devices: u64,
}

impl Expected {
    const fn alone(engine: Engine, alone: f64) -> Self {
        Self {
            engine,
            alone,
            per_second: 0.0,
            devices: 0,
        }
    }

    /// Adds a device that counts so much work per second.
    fn add(&mut self, launcher: &dyn Launcher, work_per_second: f64) {
        self.per_second += work_per_second / launcher.work();
        self.devices += 1;
    }

    /// Seconds that workers and devices take together, so that both finish at the same time.
    fn seconds(&self) -> f64 {
        // With the share x on devices: (1 - x) · alone = x / per_second.
        self.alone / (1.0 + self.alone * self.per_second)
    }
}

fn in_words(seconds: f64) -> String {
    telemetry::duration(std::time::Duration::try_from_secs_f64(seconds).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

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
                let costs = CostTable::default();
                assert_eq!(fastest_on_cpu(n, isa, &costs), expected, "n = {n}, {isa}");
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
            let engine = fastest_on_cpu(board, Isa::Avx2, &CostTable::default());
            assert_eq!(engine, expected, "n = {n}, {queens}");
        }
    }

    fn with_device(engine: Engine, n: u32, workers: f64, work_per_second: f64) -> f64 {
        let alone = crate::engine::core_seconds(engine, size(n), Isa::Avx512) / workers;
        let mut expected = Expected::alone(engine, alone);
        let launcher = plan(engine, size(n)).launcher().unwrap();
        expected.add(launcher.as_ref(), work_per_second);
        expected.seconds()
    }

    #[test]
    fn a_fast_device_makes_the_chain_the_faster_engine() {
        let colour = |n, workers| {
            crate::engine::core_seconds(Engine::Colour, size(n), Isa::Avx512) / workers
        };
        // With a device as slow as a few cores, and with one that counts n = 20 in four seconds.
        let chain = |speed| with_device(Engine::Chain, 20, 2.0, speed);
        assert!(chain(0.0) > colour(20, 2.0));
        assert!(chain(1e9) > colour(20, 2.0));
        let fast = chain(1.8e11);
        assert!(
            fast < colour(20, 2.0) && (3.0..4.1).contains(&fast),
            "{fast}"
        );
        // On large boards the workers alone are faster, even with a device that counts nodes as fast as an H100 may.
        assert!(with_device(Engine::Chain, 24, 16.0, 7e11) > colour(24, 16.0));
    }
}
