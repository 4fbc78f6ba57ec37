//! The choice of `auto`: which engine counts a board fastest on given hardware.

use super::{Hardware, JobError};
use crate::actors::DeviceSpec;
use crate::board::Size;
use crate::engine::Engine;
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

/// The smallest even and the smallest odd board that the join counts faster, by instruction set.
/// The middle row costs the join more than the chain, so that odd boards come later.
///
/// Measured by `queenfold bench --calibrate`: CPU seconds of one core, chain and join. Portable and
/// AVX2 on an AMD EPYC (Zen 3), AVX-512 on an AMD EPYC (Zen 5), both on 2026-11-22 on two shared cores
/// with other work beside, so that the ratios are good to a quarter.
///
/// | n | portable | AVX2 | AVX-512 |
/// |---|---|---|---|
/// | 12 | 0.0013, 0.0010 | 0.0005, 0.0006 | 0.0002, 0.0004 |
/// | 13 | 0.0055, 0.0065 | 0.0015, 0.0050 | 0.0004, 0.0028 |
/// | 14 | 0.029, 0.012 | 0.0066, 0.0050 | 0.0013, 0.0022 |
/// | 15 | 0.18, 0.10 | 0.036, 0.050 | 0.0058, 0.018 |
/// | 16 | 1.16, 0.25 | 0.22, 0.091 | 0.033, 0.026 |
/// | 17 | 7.8, 1.9 | 1.49, 0.78 | 0.23, 0.175 |
/// | 18 | 59, 9.1 | 11.4, 2.7 | 1.69, 0.66 |
const fn first_join(isa: Isa) -> [u32; 2] {
    match isa {
        Isa::Portable => [14, 15],
        // At 14 the join makes up for its start in long tasks only: whole runs took 0.0067 and 0.0087 s.
        Isa::Avx2 => [16, 17],
        // Whole runs of 16 and 17 queens by two workers take as long by either.
        Isa::Avx512 => [18, 19],
    }
}

/// The largest board that the join is taken for: a few sets of 29 to 32 queens are all that was
/// counted of larger ones, and beyond 29 there are more tasks than a ledger keeps.
const LAST_JOIN: u32 = 28;

/// The engine that counts the board of size `n` fastest on CPU workers alone.
pub fn fastest_on_cpu(n: Size, isa: Isa) -> Engine {
    let first = first_join(isa)[(n.get() % 2) as usize];
    if (first..=LAST_JOIN).contains(&n.get()) {
        Engine::Join
    } else {
        Engine::Chain
    }
}

/// Devices that were not asked for are not even opened for boards that CPU workers count in as many
/// seconds.
const NOT_WORTH_OPENING: f64 = 2.0;

/// The largest board that a device is calibrated on: a GPU counts it in a moment.
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
    let join = join_core_seconds(n, isa) / workers as f64;
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
    fn auto_takes_the_join_for_large_boards() {
        use Engine::{Chain, Join};
        let choose = |n| fastest_on_cpu(size(n), Isa::Avx512);
        assert_eq!(
            [1, 16, 17, 18, 19, 28, 29, 32].map(choose),
            [Chain, Chain, Chain, Join, Join, Join, Chain, Chain]
        );
    }

    #[test]
    fn narrower_vectors_take_the_join_no_later() {
        for isas in Isa::ALL.windows(2) {
            let [narrow, wide] = [isas[0], isas[1]].map(first_join);
            assert!(narrow[0] <= wide[0] && narrow[1] <= wide[1], "{isas:?}");
        }
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
