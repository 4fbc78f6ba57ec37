//! What holds for the variants of every engine's program: asked by the engines' tests.

use std::ops::RangeInclusive;

use super::{DeviceProgram, RESERVED};
use crate::board::Size;

/// Bytes of shared memory that a block may have, on devices of compute capability 7.5; 8.6, 8.9 and 12.0; 8.0; 9.0 and
/// 10.0.
const SHARED_MEMORY: [u32; 4] = [64 << 10, 99 << 10, 163 << 10, 227 << 10];

/// Each of these boards has one of the variants, and no other board has one.
pub(crate) fn are_for(
    boards: &RangeInclusive<u32>,
    variants: &[DeviceProgram],
    program_for: impl Fn(Size) -> Option<DeviceProgram>,
) {
    for n in Size::all() {
        let program = program_for(n);
        assert_eq!(program.is_some(), boards.contains(&n.get()), "n = {n}");
        assert!(
            program.is_none_or(|program| variants.contains(&program)),
            "n = {n}"
        );
    }
}

/// On every device, a block of each variant has at least so many threads: those of `least`, by variant and bytes of
/// shared memory.
pub(crate) fn fit(variants: &[DeviceProgram], least: impl Fn(DeviceProgram, u32) -> u32) {
    for memory in SHARED_MEMORY {
        for &program in variants {
            let sizes = program.block_sizes(memory + RESERVED);
            let threads = sizes.last().unwrap();
            assert!(program.block_memory(threads) <= memory, "{program}");
            assert!(threads.is_multiple_of(32), "{program}: {threads}");
            assert!(threads >= least(program, memory), "{program}: {threads}");
        }
    }
}
