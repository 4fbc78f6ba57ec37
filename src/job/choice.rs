//! The choice of `auto`: which engine counts a board fastest on given hardware.

use super::{Hardware, JobError};
use crate::actors::DeviceSpec;
use crate::board::Size;
use crate::engine::{Engine, core_seconds, interpolate};
use crate::gpu::{ChainBatcher, calibrate};
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

/// The join is taken where it needs this many times less CPU time than the chain, by the table of
/// costs. Whole runs of 16 and 17 queens by two workers with AVX-512 took as long by either engine
/// although the ratio is 1.4: each worker of the join first builds tables of its own.
const CLEARLY_FASTER: f64 = 1.5;

/// The smallest board that the join is taken for: smaller ones take a few milliseconds by either.
const FIRST_JOIN: u32 = 12;

/// The largest board that the join is taken for. Of 29 to 32 queens only a few sets were ever counted,
/// and beyond 29 the plan has more tasks than a ledger keeps.
const LAST_JOIN: u32 = 28;

/// The engine that counts the board of size `n` fastest on CPU workers alone.
pub fn fastest_on_cpu(n: Size, isa: Isa) -> Engine {
    let [chain, join] = [Engine::Chain, Engine::Join].map(|engine| core_seconds(engine, n, isa));
    if (FIRST_JOIN..=LAST_JOIN).contains(&n.get()) && chain > CLEARLY_FASTER * join {
        Engine::Join
    } else {
        Engine::Chain
    }
}

/// Devices that were not asked for are not opened for boards that the CPU workers count in this many
/// seconds.
const NOT_WORTH_OPENING: f64 = 2.0;

/// The largest board on which a device is calibrated: a GPU counts it in milliseconds.
const CALIBRATED_ON: u32 = 18;

/// The fastest engine for board `n`. Devices, which count by the chain engine alone, are opened and
/// measured where they make it a question.
pub(super) fn choose(n: Size, hardware: &Hardware) -> Result<EngineChoice, JobError> {
    let (workers, isa) = (hardware.workers, hardware.counter.isa);
    let on_cpu = fastest_on_cpu(n, isa);
    let devices = hardware.devices().for_board(n, workers)?;
    let without_question = |engine| {
        Ok(EngineChoice {
            engine,
            reason: None,
        })
    };
    if devices.is_empty() || on_cpu == Engine::Chain {
        // Where the chain is the faster one on CPUs alone, devices make it faster still.
        return without_question(on_cpu);
    }
    if workers == 0 {
        return without_question(Engine::Chain);
    }
    let join = core_seconds(Engine::Join, n, isa) / workers as f64;
    if hardware.devices().were_found() && join < NOT_WORTH_OPENING {
        return without_question(on_cpu);
    }
    let (speeds, failed): (Vec<_>, Vec<_>) = devices
        .iter()
        .map(|device| nodes_per_second(device, n))
        .partition(Result::is_ok);
    let speed: f64 = speeds.into_iter().flatten().sum();
    let chain = chain_seconds(n, isa, workers, speed);
    let engine = if chain < join {
        Engine::Chain
    } else {
        Engine::Join
    };
    let failed: String = failed
        .into_iter()
        .filter_map(Result::err)
        .map(|why| format!("; {why}"))
        .collect();
    let reason = format!(
        "auto takes the {engine} for n = {n}: about {} by the chain on {} and {}, {} by the join on the \
         CPU workers{failed}",
        in_words(chain),
        several(workers, "CPU worker"),
        several(devices.len(), "device"),
        in_words(join),
    );
    Ok(EngineChoice {
        engine,
        reason: Some(reason),
    })
}

/// Opens a device, and measures it on a small board.
fn nodes_per_second(device: &DeviceSpec, n: Size) -> Result<f64, String> {
    let named = |why: String| format!("{}: {why}", device.name);
    let small = Size::new(n.get().min(CALIBRATED_ON)).map_err(|error| named(error.to_string()))?;
    let batcher = ChainBatcher::new(small).ok_or_else(|| named("no kernel".to_owned()))?;
    let mut opened = (device.open)().map_err(|error| named(error.0))?;
    calibrate(opened.as_mut(), &batcher).map_err(named)
}

/// Expected seconds of the chain engine on CPU workers and devices of this speed together.
fn chain_seconds(n: Size, isa: Isa, workers: usize, nodes_per_second: f64) -> f64 {
    let cpu = workers as f64 / core_seconds(Engine::Chain, n, isa);
    1.0 / (cpu + nodes_per_second / chain_nodes(n))
}

/// Nodes that a device places for the whole board.
///
/// Measured up to n = 16 on 2026-11-18 by a prototype of the plan (213.6 million at 16), n = 18 on
/// 2026-11-20 from the nodes of the CPU kernel (8.22e9, whose look-ahead saves 24 %); n = 20 and 22 are
/// estimates of the same prototype from samples. Other sizes are interpolated geometrically.
fn chain_nodes(n: Size) -> f64 {
    interpolate(
        n,
        &[
            (14, 5.28e6),
            (16, 2.136e8),
            (18, 1.08e10),
            (20, 7.2e11),
            (22, 5.6e13),
            (24, 4.7e15),
        ],
    )
}

fn several(number: usize, of: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {of}{plural}")
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
            (Isa::Avx512, 18, 19),
        ] {
            for n in Size::all() {
                let first = if n.get() % 2 == 0 { even } else { odd };
                let expected = if (first..=28).contains(&n.get()) {
                    Engine::Join
                } else {
                    Engine::Chain
                };
                assert_eq!(fastest_on_cpu(n, isa), expected, "n = {n}, {isa}");
            }
        }
    }

    #[test]
    fn nodes_of_the_chain_are_the_figures_they_come_from() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
        assert!(close(chain_nodes(size(22)), 5.6e13));
        assert!(close(chain_nodes(size(21)), 6.35e12));
        assert!(close(chain_nodes(size(25)), 4.7e15 * 9.16));
    }

    #[test]
    fn a_fast_device_makes_the_chain_the_faster_engine() {
        let n = size(20);
        let join = core_seconds(Engine::Join, n, Isa::Avx512) / 2.0;
        // Two cores alone, with a device as slow as a few cores, and with one that counts n = 20 in
        // four seconds.
        assert!(chain_seconds(n, Isa::Avx512, 2, 0.0) > join);
        assert!(chain_seconds(n, Isa::Avx512, 2, 1e9) > join);
        let fast = chain_seconds(n, Isa::Avx512, 2, 1.8e11);
        assert!(fast < join && (3.0..4.1).contains(&fast), "{fast}");
    }
}
