//! The choice of `auto`: which engine counts a board fastest on given hardware.

use std::sync::Arc;

use super::plans::{core_seconds, device_plan, plans};
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

/// The join is chosen where it needs this many times less CPU time than the chain, by the table of
/// costs: each worker of the join first builds tables of its own. By the table the ratio of 17 queens with
/// AVX-512 is 1.35; there a whole run by the join took 0.79 of the CPU time of the chain with one worker and
/// 0.91 with two (Zen 5, medians of 11 pairs).
const CLEARLY_FASTER: f64 = 1.3;

/// The smallest board for which the join is chosen: either engine counts smaller ones in a few
/// milliseconds.
const FIRST_JOIN: u32 = 12;

/// The largest board for which the join is chosen. Only a few sets of 29 to 32 queens were ever counted,
/// and beyond 29 the plan has more tasks than a ledger keeps.
const LAST_JOIN: u32 = 28;

/// CPU seconds of the chain, by the table of costs, below which a given board is not left to the join: each
/// of its workers builds tables first, and no table of costs tells how long that takes.
const SOON: f64 = 0.05;

/// The engine that counts a board fastest on CPU workers alone, by `costs` and by how much is given.
pub fn fastest_on_cpu(board: impl Into<GivenBoard>, isa: Isa, costs: &CostTable) -> Engine {
    let board = board.into();
    let n = board.size();
    let cost = |engine| core_seconds(engine, &board, isa, costs);
    let [chain, join] = [Engine::Chain, Engine::Join].map(cost);
    // What each worker of the join does first is part of the expected time of given boards.
    let margin = if board.is_free() { CLEARLY_FASTER } else { 1.2 };
    let is_soon = !board.is_free() && chain < SOON;
    if (FIRST_JOIN..=LAST_JOIN).contains(&n.get()) && !is_soon && chain > margin * join {
        Engine::Join
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

/// The largest board on which a device is calibrated: a GPU counts it in milliseconds.
const CALIBRATED_ON: u32 = 18;

impl Hardware {
    /// The fastest engine for a board on this hardware. If devices count by another engine
    /// than the one that is fastest without them, they are opened and measured.
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
        let by_devices = plans
            .iter()
            .find_map(|plan| Some((plan.engine(), plan.launcher().ok()?)));
        let Some((on_all, launcher)) = by_devices.filter(|_| !devices.is_empty()) else {
            return without_question(on_cpu);
        };
        // Where this engine is the faster one on CPUs alone, devices make it faster still.
        if on_all == on_cpu || workers == 0 {
            return without_question(on_all);
        }
        let cpu_seconds = |engine| core_seconds(engine, &board, isa, &self.costs) / workers as f64;
        let alone = cpu_seconds(on_cpu);
        if self.devices().were_found() && alone < NOT_WORTH_OPENING {
            return without_question(on_cpu);
        }
        let (speeds, failed): (Vec<_>, Vec<_>) = devices
            .iter()
            .map(|device| nodes_per_second(device, n))
            .partition(Result::is_ok);
        let speed: f64 = speeds.into_iter().flatten().sum();
        let together = seconds_together(cpu_seconds(on_all), launcher.as_ref(), speed);
        let engine = if together < alone { on_all } else { on_cpu };
        let failed: String = failed
            .into_iter()
            .filter_map(Result::err)
            .map(|why| format!("; {why}"))
            .collect();
        let reason = format!(
            "auto takes the {engine} for n = {n}: about {} by the {on_all} on {} and {}, {} by the \
         {on_cpu} on the CPU workers{failed}",
            in_words(together),
            telemetry::several(workers as u64, "CPU worker"),
            telemetry::several(devices.len() as u64, "device"),
            in_words(alone),
        );
        Ok(EngineChoice {
            engine,
            reason: Some(reason),
        })
    }
}

/// Opens a device, and measures it on a small board.
fn nodes_per_second(device: &DeviceSpec, n: Size) -> Result<f64, String> {
    let named = |why: String| format!("{}: {why}", device.name);
    let small = Size::new(n.get().min(CALIBRATED_ON)).map_err(|error| named(error.to_string()))?;
    let plan = device_plan(small).ok_or_else(|| named("no kernel".to_owned()))?;
    let mut opened = (device.open)().map_err(|error| named(error.0))?;
    calibrate(opened.as_mut(), plan.as_ref()).map_err(named)
}

/// Expected seconds of CPU workers, which alone would take `cpu_seconds`, and devices that count
/// `nodes_per_second`, together.
fn seconds_together(cpu_seconds: f64, launcher: &dyn Launcher, nodes_per_second: f64) -> f64 {
    1.0 / (1.0 / cpu_seconds + nodes_per_second / launcher.nodes())
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
    fn auto_takes_the_join_from_these_boards_on() {
        for (isa, even, odd) in [
            (Isa::Portable, 14, 15),
            (Isa::Avx2, 16, 17),
            (Isa::Avx512, 16, 17),
        ] {
            for n in Size::all() {
                let first = if n.get() % 2 == 0 { even } else { odd };
                let expected = if (first..=28).contains(&n.get()) {
                    Engine::Join
                } else {
                    Engine::Chain
                };
                let costs = CostTable::default();
                assert_eq!(fastest_on_cpu(n, isa, &costs), expected, "n = {n}, {isa}");
            }
        }
    }

    /// The faster engine of those measured (docs/GIVEN.md).
    #[test]
    fn auto_takes_the_chain_where_much_is_given() {
        for (n, queens, expected) in [
            (16, "e3", Engine::Chain),
            (18, "b16", Engine::Join),
            (18, "n6,l18", Engine::Chain),
            (19, "s14,f4", Engine::Chain),
            (20, "c6,i10", Engine::Join),
            (20, "d1,j13,g9", Engine::Chain),
            (22, "m3,c11,t15,d9,g20", Engine::Chain),
            (26, "c3", Engine::Join),
        ] {
            let board = GivenBoard::parse(size(n), queens, "").unwrap();
            let engine = fastest_on_cpu(board, Isa::Avx512, &CostTable::default());
            assert_eq!(engine, expected, "n = {n}, {queens}");
        }
    }

    #[test]
    fn a_fast_device_makes_the_chain_the_faster_engine() {
        let n = size(20);
        let join = crate::engine::core_seconds(Engine::Join, n, Isa::Avx512) / 2.0;
        // Two cores alone, with a device as slow as a few cores, and with one that counts n = 20 in
        // four seconds.
        let launcher = device_plan(n).unwrap().launcher().unwrap();
        let cpu = crate::engine::core_seconds(Engine::Chain, n, Isa::Avx512) / 2.0;
        let together = |speed| seconds_together(cpu, launcher.as_ref(), speed);
        assert!(together(0.0) > join);
        assert!(together(1e9) > join);
        let fast = together(1.8e11);
        assert!(fast < join && (3.0..4.1).contains(&fast), "{fast}");
    }
}
