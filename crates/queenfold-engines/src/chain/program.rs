//! The chain kernel as a program for devices.

use std::ops::RangeInclusive;

use crate::board::Size;
use crate::engine::{
    DeviceProgram, JOB_WORDS, LaunchError, LaunchWords, Layout, RESERVED, ThreadUse,
};

/// Sums of a group: solutions, nodes.
pub(super) const GROUP_SUMS: usize = 2;

/// Boards that the kernel counts. On larger boards the inner columns leave too few bits of a word
/// for the other data that the kernel keeps there; smaller boards have no rows to search.
pub(super) const BOARDS: RangeInclusive<u32> = 5..=28;

/// How many rows a job may leave to fill, in each of the kernel's variants. The launch check
/// relies on this range.
const DEPTHS: RangeInclusive<u32> = 3..=15;

/// Threads of a block: its threads have nothing in common, and small blocks end together.
const MOST_THREADS: u32 = 128;

/// All variants of the kernel.
pub fn programs() -> impl Iterator<Item = DeviceProgram> {
    DEPTHS.map(program)
}

/// The variant for boards of size `n`; `None` if the kernel does not count such boards.
///
/// With fewer rows to fill, a job has a smaller stack, so more jobs run at a time. With more rows,
/// fewer jobs have to be made and sent. These depths give jobs of about 10⁵ nodes on boards that
/// have enough of them.
pub(super) fn program_for(n: Size) -> Option<DeviceProgram> {
    let depth = match n.get() {
        n if !BOARDS.contains(&n) => return None,
        n @ ..=13 => n.saturating_sub(4).max(3),
        14 => 9,
        15..=16 => 10,
        17 => 11,
        18..=19 => 12,
        20 => 13,
        21..=23 => 14,
        _ => 15,
    };
    Some(program(depth))
}

/// Warps that a multiprocessor should run at a time. Fewer leave its pipes idle while they wait for shared
/// memory: an estimate, because no device with so little of it was measured.
const WARPS: u32 = 12;

/// The variant to use in place of `of` on a device whose multiprocessors have `shared_memory` bytes: the
/// deepest of which [`WARPS`] run at a time. Where even that of the smallest depth is too large, `of`.
pub(super) fn fitted(of: DeviceProgram, shared_memory: u32) -> DeviceProgram {
    let mut depths = (*DEPTHS.start()..=of.variant()).rev();
    let fits = |depth: &u32| {
        let block = program(*depth).block_memory(MOST_THREADS) + RESERVED;
        shared_memory / block * (MOST_THREADS / 32) >= WARPS
    };
    depths.find(fits).map_or(of, program)
}

/// The variant for jobs that leave up to `depth` rows, which must be in [`DEPTHS`].
fn program(depth: u32) -> DeviceProgram {
    let layout = Layout {
        // Columns, up, down, group.
        job_words: |_| JOB_WORDS,
        group_word: Some(JOB_WORDS - 1),
        group_words: depth as usize + 1,
        group_sums: GROUP_SUMS,
        check: check_rows_left,
    };
    // As `chain_shared` of the kernel: row words and stack.
    let memory_of_thread = (depth + 1) * 4 + depth * 16;
    #[expect(unsafe_code, reason = "vouches for the layout of the kernel")]
    // SAFETY: the kernel indexes its stack and rows by the rows left, which the check bounds by the depth.
    unsafe {
        DeviceProgram::new("chain", ThreadUse::FillTheDevice, layout)
            .with_variant(depth)
            .with_blocks(MOST_THREADS, memory_of_thread, 0)
    }
}

/// Refuses jobs with no row to fill, or more rows than the stack of a thread has room for. The
/// kernel finds the word of a row by the number of columns that are free.
fn check_rows_left(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
    let (jobs, _) = words.jobs.as_chunks::<JOB_WORDS>();
    let wrong =
        |&[columns, ..]: &[u32; JOB_WORDS]| columns.count_zeros().wrapping_sub(1) >= words.variant;
    // Without an exit the loop becomes vector code.
    if jobs.iter().filter(|job| wrong(job)).count() == 0 {
        return Ok(());
    }
    jobs.iter().position(wrong).map_or(Ok(()), |job| {
        Err(LaunchError(format!(
            "job {job}: it leaves no row to fill, or more rows than the kernel has room for"
        )))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Launch, variant_tests};

    #[test]
    fn every_board_up_to_28_has_a_variant() {
        let all: Vec<_> = programs().collect();
        variant_tests::are_for(&BOARDS, &all, program_for);
    }

    #[test]
    fn a_block_fits_into_the_shared_memory_of_every_device() {
        let all: Vec<_> = programs().collect();
        variant_tests::fit(&all, |_, _| MOST_THREADS);
    }

    #[test]
    fn a_device_with_little_shared_memory_gets_jobs_of_fewer_rows() {
        let depth = |n, shared: u32| {
            let program = program_for(Size::new(n).unwrap()).unwrap();
            fitted(program, shared * 1024).variant()
        };
        // An H100, an A100, and an RTX 3090, 4090 or 5090.
        assert_eq!(
            [228, 164, 100].map(|shared| depth(22, shared)),
            [14, 14, 12]
        );
        assert_eq!(
            [228, 164, 100].map(|shared| depth(25, shared)),
            [15, 15, 12]
        );
        assert_eq!(depth(18, 100), 12);
        assert_eq!(depth(16, 100), 10);
        // So little that it does not help.
        assert_eq!(depth(22, 8), 14);
    }

    #[test]
    fn a_job_with_no_row_or_too_many_is_refused() {
        for depth in DEPTHS {
            let launch = |rows_left: u32| {
                let columns = u32::MAX.checked_shl(rows_left).unwrap_or(0);
                let jobs = [[!1, 0, 0, 0], [columns, 0, 0, 0]].concat();
                Launch::new(program(depth), jobs, vec![0; depth as usize + 1])
            };
            for rows_left in 1..=depth {
                assert!(launch(rows_left).is_ok(), "{rows_left} of {depth}");
            }
            for rows_left in [0, depth + 1, 32] {
                let error = launch(rows_left).unwrap_err();
                assert!(error.0.starts_with("job 1: "), "{error}");
            }
        }
    }
}
