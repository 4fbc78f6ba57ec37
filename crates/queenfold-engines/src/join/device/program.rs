//! The join kernel as a program for devices.

use super::check::{check, scratch};
use super::jobs::JOB_WORDS;
use super::tables::Group;
use crate::engine::{DeviceProgram, JobWords, Layout, Specialisation, TableWords, ThreadUse};

/// Sums of a group: `PairsSum` of `kernels/pairs.h`.
pub(super) const GROUP_SUMS: usize = 9;

/// Bytes of shared memory of a block besides its keys: as `pairs_shared` of the kernel.
const BESIDES_KEYS: u32 = 928 + 4 * (29 * 16 + 4 * 128 * 32);

/// Bytes of shared memory that CUDA takes for itself in each block (CUDA Programming Guide, compute
/// capabilities 8.x to 12.x).
const RESERVED: u32 = 1024;

/// The variants: how many keys a block has room for, its threads, and how many such blocks a multiprocessor
/// should run at a time. With two blocks, one counts while the other waits for memory.
///
/// The first is for multiprocessors with 228 KB of shared memory, the second for 164 KB, the last for 100 KB.
/// No device was measured.
const VARIANTS: [(u32, u32, u32); 3] = [(11_776, 256, 2), (16_384, 512, 1), (8_192, 512, 1)];

/// All variants of the kernel.
pub fn programs() -> impl Iterator<Item = DeviceProgram> {
    let variants = VARIANTS.into_iter();
    variants.map(|(keys, threads, _)| program(keys, threads))
}

/// The variant for devices of which nothing is known.
pub(super) fn default_program() -> DeviceProgram {
    let (keys, threads, _) = VARIANTS[0];
    program(keys, threads)
}

/// The variant for devices whose multiprocessors have `shared_memory` bytes: the first whose blocks fit, or that
/// with the smallest blocks.
pub(super) fn fitted(shared_memory: u32) -> DeviceProgram {
    let fits = |(keys, _, blocks): &(u32, u32, u32)| {
        blocks * (BESIDES_KEYS + 4 * keys + RESERVED) <= shared_memory
    };
    let fitting = VARIANTS.into_iter().find(fits);
    let (keys, threads, _) = fitting.unwrap_or(VARIANTS[VARIANTS.len() - 1]);
    program(keys, threads)
}

/// How many keys a block has room for.
pub(super) fn room(program: &DeviceProgram) -> u32 {
    program.specialisation.map_or(0, |special| special.value)
}

/// The variant whose blocks have room for `keys` keys, an even number.
pub(super) fn program(keys: u32, threads: u32) -> DeviceProgram {
    DeviceProgram {
        entry: "join",
        files: &["pairs.h", "crossing.h", "join.h", "join.cu"],
        specialisation: Some(Specialisation {
            macro_name: "QF_KEYS",
            value: keys,
        }),
        shared_memory: 0,
        threads: ThreadUse::WholeBlocks {
            threads,
            shared_memory: BESIDES_KEYS + 4 * keys,
        },
        layout: Layout {
            job_words: JobWords::Fixed(JOB_WORDS),
            group_word: Some(0),
            tables: TableWords::Counted {
                least: Group::WORDS,
            },
            group_sums: GROUP_SUMS,
            check,
            scratch,
        },
    }
}
