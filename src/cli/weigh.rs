//! Which engine is the faster where devices take part: they count by the chain engine alone.

use super::usage::several;
use crate::actors::DeviceSpec;
use crate::board::Size;
use crate::engine::Engine;
use crate::gpu::{ChainBatcher, calibrate};
use crate::simd::Isa;
use crate::telemetry;

/// What there is to count with.
pub struct Hardware<'a> {
    /// CPU workers.
    pub workers: usize,
    /// Their instruction set.
    pub isa: Isa,
    /// Devices that count the board.
    pub devices: &'a [DeviceSpec],
    /// Whether these were found, not asked for.
    pub found: bool,
}

/// Devices that were not asked for are not even opened for boards that CPU workers count in as many
/// seconds.
const NOT_WORTH_OPENING: f64 = 2.0;

/// The largest board that a device is calibrated on: a GPU counts it in a moment.
const CALIBRATED_ON: u32 = 18;

/// The engine for board `n`, and a line that says why, where there was something to weigh. `on_cpu`:
/// the faster one without devices.
pub fn choose(n: Size, on_cpu: Engine, hardware: &Hardware<'_>) -> (Engine, Option<String>) {
    // Where the chain is the faster one on CPUs alone, devices make it faster still.
    if hardware.devices.is_empty() || on_cpu == Engine::Chain || hardware.workers == 0 {
        let alone = hardware.workers == 0 && !hardware.devices.is_empty();
        return (if alone { Engine::Chain } else { on_cpu }, None);
    }
    let join = join_core_seconds(n, hardware.isa) / hardware.workers as f64;
    if hardware.found && join < NOT_WORTH_OPENING {
        return (on_cpu, None);
    }
    let (speeds, failed): (Vec<_>, Vec<_>) = hardware
        .devices
        .iter()
        .map(|device| nodes_per_second(device, n))
        .partition(Result::is_ok);
    let devices: f64 = speeds.into_iter().flatten().sum();
    let chain = chain_seconds(n, hardware.isa, hardware.workers, devices);
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
    let said = format!(
        "auto takes the {engine} for n = {n}: about {} by the chain on {} and {}, {} by the join on the \
         CPU workers{failed}",
        in_words(chain),
        several(hardware.workers as u64, "CPU worker"),
        several(hardware.devices.len() as u64, "device"),
        in_words(join),
    );
    (engine, Some(said))
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
    let cpu = workers as f64 / chain_core_seconds(n, isa);
    1.0 / (cpu + nodes_per_second / chain_nodes(n))
}

/// Nodes that a device places for the whole board.
///
/// Measured up to n = 16 on 2026-11-18 by a prototype of the plan (213.6 million at 16), n = 18 on
/// 2026-11-20 from the nodes of the CPU kernel (8.22e9, whose look-ahead saves 24 %); n = 20 and 22 are
/// estimates of the same prototype from samples. Between and beyond: the growth of those beside.
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

/// Core-seconds of the chain engine.
///
/// n = 16 to 18: measured on 2026-11-20 (docs/PERFORMANCE.md, "Chain"; portable n = 16 alone). Boards
/// beyond 18 need lanes twice as wide, which halves the speed: 2.1e9, 0.75e9 and 0.1e9 nodes a second,
/// of 24 % fewer nodes than a device places.
fn chain_core_seconds(n: Size, isa: Isa) -> f64 {
    let (measured, wide): (&[(u32, f64)], f64) = match isa {
        Isa::Avx512 => (&[(16, 0.0404), (17, 0.268), (18, 1.97)], 2.1e9),
        Isa::Avx2 => (&[(16, 0.116), (17, 0.772), (18, 5.48)], 0.75e9),
        Isa::Portable => (&[(16, 0.847), (17, 5.6), (18, 40.0)], 0.1e9),
    };
    if n.get() <= 18 {
        interpolate(n, measured)
    } else {
        0.76 * chain_nodes(n) / wide
    }
}

/// Core-seconds of the join engine.
///
/// AVX-512, n = 16 to 20: measured on 2026-11-22 on an AMD Zen 5 with other work beside
/// (docs/PERFORMANCE.md, "Join"); 21 to 26 from samples there, 27 and 28 from what tasks are expected
/// to cost (`src/join/cost.rs`). AVX2 takes 2.1 and portable code 7.1 times as long (n = 18).
fn join_core_seconds(n: Size, isa: Isa) -> f64 {
    let times = match isa {
        Isa::Avx512 => 1.0,
        Isa::Avx2 => 2.1,
        Isa::Portable => 7.1,
    };
    times
        * interpolate(
            n,
            &[
                (16, 0.030),
                (17, 0.195),
                (18, 0.67),
                (19, 4.8),
                (20, 24.5),
                (21, 240.0),
                (22, 1.1e3),
                (23, 1.4e4),
                (24, 7.0e4),
                (25, 7.0e5),
                (26, 5.0e6),
                (27, 5.0e7),
                (28, 2.2e8),
            ],
        )
}

/// The value at `n` by a table of at least two points: between two, and beyond the last, it grows
/// evenly by factors.
fn interpolate(n: Size, table: &[(u32, f64)]) -> f64 {
    let n = n.get();
    let after = table
        .iter()
        .position(|(at, _)| *at >= n)
        .unwrap_or(table.len())
        .clamp(1, table.len() - 1);
    let ((n0, y0), (n1, y1)) = (table[after - 1], table[after]);
    let growth = (y1 / y0).powf(1.0 / f64::from(n1 - n0));
    y0 * growth.powf(f64::from(n) - f64::from(n0))
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
    fn estimates_are_the_figures_they_come_from() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.01;
        assert!(close(chain_core_seconds(size(17), Isa::Avx2), 0.772));
        assert!(close(join_core_seconds(size(20), Isa::Avx512), 24.5));
        assert!(close(join_core_seconds(size(18), Isa::Avx2), 1.41));
        assert!(close(chain_nodes(size(22)), 5.6e13));
        assert!(close(chain_nodes(size(21)), 6.35e12));
        assert!(close(chain_nodes(size(25)), 4.7e15 * 9.16));
    }

    #[test]
    fn estimates_grow_with_the_board() {
        for isa in Isa::ALL {
            for n in 16..28 {
                let (this, next) = (size(n), size(n + 1));
                assert!(chain_core_seconds(this, isa) < chain_core_seconds(next, isa));
                assert!(join_core_seconds(this, isa) < join_core_seconds(next, isa));
            }
        }
    }

    #[test]
    fn a_fast_device_makes_the_chain_the_faster_engine() {
        let n = size(20);
        let join = join_core_seconds(n, Isa::Avx512) / 2.0;
        // Two cores alone, with a device as slow as a few cores, and with one that counts n = 20 in
        // four seconds.
        assert!(chain_seconds(n, Isa::Avx512, 2, 0.0) > join);
        assert!(chain_seconds(n, Isa::Avx512, 2, 1e9) > join);
        let fast = chain_seconds(n, Isa::Avx512, 2, 1.8e11);
        assert!(fast < join && (3.0..4.1).contains(&fast), "{fast}");
    }
}
