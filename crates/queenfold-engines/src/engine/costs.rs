//! What the engines cost: the one table of measured times.
//!
//! All times are CPU seconds of one core of an AMD EPYC (Zen 4, family 25 model 17, two cores of a
//! virtual machine that other work loaded), so that their ratios hold. Those of the chain were measured on
//! 2026-11-22. Absolute times differ from machine to machine: a Zen 5 took
//! 0.6 times, an idle Xeon 0.75 times as long.

use super::{Engine, interpolate};
use crate::board::Size;
use crate::simd::Isa;

/// The chain on boards of 12 to 18 queens: portable, with AVX2, with AVX-512.
const SMALL_CHAIN: [(u32, [f64; 3]); 7] = [
    (12, [0.001_41, 0.000_415, 0.000_289]),
    (13, [0.004_41, 0.000_984, 0.000_654]),
    (14, [0.029_7, 0.003_63, 0.001_83]),
    (15, [0.144, 0.021_8, 0.009_08]),
    (16, [0.941, 0.118, 0.054_3]),
    (17, [6.39, 0.826, 0.361]),
    (18, [47.9, 6.68, 2.63]),
];

/// NEON executes so many times the instructions of AVX2 for the chain, counted with QEMU on whole boards of
/// 16 and 17 queens. No machine that has it was at hand to measure times.
const NEON_INSTRUCTIONS: f64 = 1.12;

/// The chain on larger boards, with AVX-512. 19 is measured. 20, 22 and 24 are the estimated nodes of
/// a prototype (7.2e11, 5.6e13, 4.7e15), less the 24 % that look-ahead saves, at the measured speed of
/// n = 19: 1.58e9 nodes a second. Boards beyond 18 need lanes twice as wide, at half the speed.
const LARGE_CHAIN: [(u32, f64); 5] = [
    (18, 2.63),
    (19, 40.0),
    (20, 346.0),
    (22, 2.69e4),
    (24, 2.26e6),
];

/// The colour engine with AVX-512: a prototype on the same core, and from 26 on the engine (2026-11-26). 14, 16 to 20
/// and 22 are measured, 21 and 23 to 28 sampled. So are 29 and 30 (2026-11-28, beside other work): one unit in 32 of 89
/// random row sets, and one in 48 of 31. 12, 13 and 15 follow from the ratio to the chain on a Zen 3 with AVX2.
const COLOUR: [(u32, f64); 19] = [
    (12, 0.000_37),
    (13, 0.001_2),
    (14, 0.002),
    (15, 0.008_8),
    (16, 0.022),
    (17, 0.132),
    (18, 0.403),
    (19, 2.50),
    (20, 10.4),
    (21, 59.4),
    (22, 353.0),
    (23, 1.76e3),
    (24, 1.11e4),
    (25, 4.68e4),
    (26, 3.35e5),
    (27, 1.99e6),
    (28, 1.34e7),
    (29, 1.00e8),
    (30, 6.57e8),
];

/// How many times as long as with AVX-512 the colour engine takes on the same core. AVX2: 1.5 to 1.65 at n = 18 to 24;
/// portable code: 9 to 11 at n = 18 to 22, 6 at n = 16 (2026-11-28). NEON is 1.4 times AVX2, as many times the instructions
/// as the join executed with it.
const fn colour_slower(isa: Isa) -> f64 {
    match isa {
        Isa::Avx512 => 1.0,
        Isa::Avx2 => 1.6,
        Isa::Neon => 2.3,
        Isa::Portable => 9.5,
    }
}

/// How many times as long as this Zen 4 a core takes whose widest vectors these are. With AVX2 that is mostly an older one: a
/// Zen 3 takes 1.4 times as long by the chain (n = 18) and 1.3 to 1.5 times by the colour engine (n = 19 to 24), so that
/// either machine is within 1.25 of what is between them. NEON, which was not measured, goes with AVX2. It is the same for
/// both engines, so that it decides nothing between them.
const fn older(isa: Isa) -> f64 {
    match isa {
        Isa::Avx512 | Isa::Portable => 1.0,
        Isa::Avx2 | Isa::Neon => 1.25,
    }
}

/// The census, which uses no vectors: 24 is measured, 20 follows from the growth of 3.1 times with each
/// row that was measured between them.
const CENSUS: [(u32, f64); 2] = [(20, 0.007_47), (24, 0.69)];

/// Expected core-seconds of a whole board by an engine with an instruction set.
///
/// Boards between those of the table, and beyond its ends, are interpolated geometrically. The chain on boards
/// of more than 18 queens takes the times with AVX-512, multiplied by the ratio of the two instruction sets at
/// n = 18. The cost of an own engine is not known: not a number.
pub fn core_seconds(engine: Engine, n: Size, isa: Isa) -> f64 {
    match engine {
        Engine::Chain => chain(n, isa) * older(isa),
        Engine::Colour => interpolate(n, &COLOUR) * colour_slower(isa) * older(isa),
        Engine::Census => interpolate(n, &CENSUS),
        Engine::Own => f64::NAN,
    }
}

fn chain(n: Size, isa: Isa) -> f64 {
    let (column, times) = match isa {
        Isa::Portable => (0, 1.0),
        Isa::Avx2 => (1, 1.0),
        Isa::Neon => (1, NEON_INSTRUCTIONS),
        Isa::Avx512 => (2, 1.0),
    };
    let small = SMALL_CHAIN.map(|(n, seconds)| (n, times * seconds[column]));
    let (last, at_last) = small[small.len() - 1];
    if n.get() <= last {
        interpolate(n, &small)
    } else {
        interpolate(n, &LARGE_CHAIN) * at_last / LARGE_CHAIN[0].1
    }
}

/// Seconds of a core for a unit of the cost that the plans of this library estimate, which is that of
/// the table with AVX-512. `None` for an own engine.
pub fn seconds_per_cost(engine: Engine, n: Size, isa: Isa) -> Option<f64> {
    let cost = core_seconds(engine, n, Isa::Avx512);
    (engine != Engine::Own).then(|| core_seconds(engine, n, isa) / cost)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(n: u32) -> Size {
        Size::new(n).unwrap()
    }

    #[test]
    fn costs_are_the_figures_of_the_table() {
        let close = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 0.01, "{a} {b}");
        close(
            core_seconds(Engine::Chain, size(17), Isa::Avx2),
            1.25 * 0.826,
        );
        close(core_seconds(Engine::Colour, size(20), Isa::Avx2), 20.8);
        close(core_seconds(Engine::Colour, size(20), Isa::Avx512), 10.4);
        close(core_seconds(Engine::Colour, size(18), Isa::Portable), 3.83);
        close(core_seconds(Engine::Census, size(24), Isa::Avx512), 0.69);
        // Scaled by the ratio at n = 18.
        let scaled = 40.0 * 47.9 / 2.63;
        close(core_seconds(Engine::Chain, size(19), Isa::Portable), scaled);
    }

    #[test]
    fn the_tables_meet_at_18() {
        let (n, [.., avx512]) = SMALL_CHAIN[6];
        assert_eq!((n, avx512), LARGE_CHAIN[0]);
    }

    #[test]
    fn costs_grow_with_the_board_and_shrink_with_wider_vectors() {
        for engine in [Engine::Chain, Engine::Colour] {
            // Smaller boards take so little that vectors hardly matter.
            for n in 16..31 {
                let cost = |n, isa| core_seconds(engine, size(n), isa);
                for isa in Isa::ALL {
                    assert!(cost(n, isa) < cost(n + 1, isa), "{engine}, n = {n}, {isa}");
                }
                for isas in Isa::ALL.windows(2) {
                    assert!(cost(n, isas[0]) >= cost(n, isas[1]), "{engine}, n = {n}");
                }
            }
        }
    }
}
