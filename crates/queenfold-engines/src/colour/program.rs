//! The colour kernel as a program for devices.

use std::ops::RangeInclusive;

use crate::board::Size;
use crate::engine::{
    DeviceProgram, JobWords, LaunchError, LaunchWords, Layout, Specialisation, ThreadUse,
};

/// Words of a job: row set, first word of even columns, number of words, nothing.
pub(super) const JOB_WORDS: usize = 4;
/// Sums of a row set: solutions, placements on black, what was counted of them in tables, placements on white.
pub(super) const SET_SUMS: usize = 4;
/// Words of a row set before its rows: board, class, numbers of rows.
pub(super) const HEAD_WORDS: usize = 3;
/// Lists of rows of a set: own rows and rows left, of black and of white.
pub(super) const LISTS: usize = 4;

/// Boards that the kernel counts. Its counters have 16 bits, which do for boards up to this size; smaller
/// boards have too few odd columns for a word of two counters.
pub(super) const BOARDS: RangeInclusive<u32> = 5..=28;

/// How many rows a colour may have left, in each of the kernel's variants. The launch check and
/// `kernels/emulated.cpp` rely on them.
const ROWS: [u32; 3] = [8, 10, 11];

/// All variants of the kernel.
pub fn programs() -> impl Iterator<Item = DeviceProgram> {
    ROWS.into_iter().map(program)
}

/// The variant for boards of size `n`; `None` if the kernel does not count such boards.
///
/// With more rows, a thread needs more registers and a warp more shared memory, so fewer warps run at a time. What
/// row sets with still more rows of a colour cost, the CPU counts beside: at most a thousandth of the board.
pub(super) fn program_for(n: Size) -> Option<DeviceProgram> {
    let rows = match n.get() {
        n if !BOARDS.contains(&n) => return None,
        ..=22 => 8,
        23..=26 => 10,
        _ => 11,
    };
    Some(program(rows))
}

/// The most rows that a colour may have left.
pub(super) fn rows(program: &DeviceProgram) -> usize {
    program
        .specialisation()
        .map_or(0, |special| special.value as usize)
}

/// The most rows in a list: boards of odd size have one own row more than rows left.
pub(super) const fn list_words(rows: usize) -> usize {
    rows + 1
}

/// Words of a row set.
pub(super) const fn set_words(rows: usize) -> usize {
    HEAD_WORDS + LISTS * list_words(rows)
}

/// Counters in the table of a block.
pub(super) const fn counters(rows: u32) -> u32 {
    if rows > 10 { 8192 } else { 4096 }
}

const LANES: u32 = 32;
/// The fewest own rows of a beginning.
const BEGINNING: u32 = 2;
/// The most even columns of a board.
const MOST_EVEN: u32 = 14;
/// Bits of a word with diagonals: as `QF_UNIT` of the kernel.
const DIAGONALS: u32 = 28;
/// Bits of half a word: as `QF_BASE` of the kernel.
const HALF: u32 = 16;
/// Words that the threads of a block share before the row set: `ColourBlock` of the kernel.
const BLOCK_HEAD: u32 = 64;
/// Threads of a block, at most. The smaller a job, the longer threads wait for each other at its end; those of a large one
/// gain by sharing its counters.
const fn most_threads(rows: u32) -> u32 {
    match rows {
        ..=8 => 64,
        9..=10 => 96,
        _ => 256,
    }
}

/// Nodes that the buffer of a level has room for: as `room` of the kernel.
const fn room(level: u32) -> u32 {
    let enough = match level {
        ..=3 => 32,
        4..=6 => 256 >> level,
        _ => 2,
    };
    enough - 1 + LANES
}

/// The variant for up to `rows` rows left, which must be one of [`ROWS`].
fn program(rows: u32) -> DeviceProgram {
    // As `colour_warp_words` and `ColourBlock` of the kernel.
    let buffers = (1..=rows).map(|level| level.midpoint(2) * room(level));
    let searched = list_words(rows as usize) as u32 - BEGINNING;
    let warp = (buffers.sum::<u32>() + searched * LANES / 2).next_multiple_of(LANES);
    let attacks = 2 * (rows + 1) * (rows + 1);
    let block = BLOCK_HEAD + set_words(rows as usize) as u32 + attacks + counters(rows) / 2;
    DeviceProgram {
        entry: "colour",
        files: &[
            "block.h",
            "colour_levels.h",
            "colour_own.h",
            "colour.h",
            "colour.cu",
        ],
        specialisation: Some(Specialisation {
            macro_name: "QF_ROWS",
            value: rows,
        }),
        shared_memory: warp * 4 / LANES,
        block_memory: block.next_multiple_of(2) * 4,
        most_threads: most_threads(rows),
        threads: ThreadUse::FillTheDevice,
        layout: Layout {
            job_words: JobWords::Fixed(JOB_WORDS),
            group_word: Some(0),
            group_words: set_words(rows as usize),
            group_sums: SET_SUMS,
            check: check_words,
        },
    }
}

/// Refuses row sets that are not of a board, have no rows or more rows than the kernel has room for, have squares outside
/// of their board or diagonals that no board has; and jobs without units or with words of columns that are none.
fn check_words(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
    let rows = words.specialisation;
    let length = set_words(rows as usize);
    for (set, all) in words.tables.chunks_exact(length).enumerate() {
        check_set(rows, set * length, all)?;
    }
    let (jobs, _) = words.jobs.as_chunks::<JOB_WORDS>();
    let wrong = |&[set, first, count, _]: &[u32; JOB_WORDS]| {
        let even = words.tables[set as usize * length] & 0xff;
        first == 0 || first >> even != 0 || count == 0 || count >> even > 1
    };
    match jobs.iter().position(wrong) {
        Some(job) => Err(LaunchError::Job {
            job,
            why: "it has no units, or its columns are not of the board",
        }),
        None => Ok(()),
    }
}

/// Checks a row set that begins at word number `start`.
fn check_set(rows: u32, start: usize, set: &[u32]) -> Result<(), LaunchError> {
    let within = |at: usize, value: u32, range: RangeInclusive<u32>| {
        if range.contains(&value) {
            return Ok(());
        }
        Err(LaunchError::TableValue {
            word: start + at,
            value: set[at],
            least: *range.start(),
            most: *range.end(),
        })
    };
    let lines = [set[0] & 0xff, set[0] >> 8 & 0xff];
    // A table has room for the counters of one unit at least.
    let most = 1 + counters(rows).ilog2();
    within(0, lines[1], 2..=most)?;
    // A bit above the squares of an own row is a mark.
    within(0, lines[0], lines[1]..=(lines[1] + 1).min(MOST_EVEN))?;
    for list in 0..LISTS {
        // Own rows are on even columns, the others on odd ones.
        let is_left = list % 2;
        let count = set[2] >> (8 * list) & 0xff;
        within(2, count, 1..=rows + 1 - is_left as u32)?;
        let begin = HEAD_WORDS + list * list_words(rows as usize);
        let rows = (begin..).zip(&set[begin..]).take(count as usize);
        for (at, row) in rows {
            within(at, row >> 16, 0..=(1 << lines[is_left]) - 1)?;
            let [falling, rising] = [row & 31, row >> 5 & 31];
            if is_left == 0 {
                // The number of a unit lies above the diagonals.
                let most = DIAGONALS - lines[0];
                within(at, falling.max(rising), 0..=most)?;
            } else {
                // What a queen attacks in another row is a product with a number of three bits, one of them so far down.
                for other in &set[begin..at] {
                    within(at, falling.abs_diff(other & 31), 1..=HALF)?;
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Launch, variants};

    #[test]
    fn every_board_up_to_28_has_a_variant() {
        let all: Vec<_> = programs().collect();
        variants::are_for(&BOARDS, &all, program_for);
    }

    #[test]
    fn a_block_fits_into_the_shared_memory_of_every_device() {
        let all: Vec<_> = programs().collect();
        variants::fit(&all, |program, memory| match memory >> 10 {
            64 if rows(&program) > 10 => 192,
            _ => most_threads(rows(&program) as u32),
        });
    }

    /// A set of 8 queens whose lists have two rows each, and a job.
    fn launch(change: impl Fn(&mut [u32], &mut [u32])) -> Result<Launch, LaunchError> {
        let program = program(8);
        let mut set = vec![0; set_words(8)];
        // The second row of each list.
        (0..LISTS).for_each(|list| set[HEAD_WORDS + list * list_words(8) + 1] = 1);
        set[0] = 4 | 4 << 8;
        set[2] = 0x0202_0202;
        let mut job = [0, 0b11, 6, 0];
        change(&mut set, &mut job);
        Launch::new(program, job.to_vec(), set)
    }

    #[test]
    fn a_set_with_too_many_rows_or_squares_outside_of_the_board_is_refused() {
        assert!(launch(|_, _| ()).is_ok());
        for wrong in [0x0202_0200, 0x0202_0902, 0x0a02_0202, 0x020b_0202] {
            let error = launch(|set, _| set[2] = wrong).unwrap_err();
            assert!(matches!(error, LaunchError::TableValue { word: 2, .. }));
        }
        for board in [0, 4, 4 << 8, 14 | 14 << 8, 6 | 4 << 8] {
            let error = launch(|set, _| set[0] = board).unwrap_err();
            assert!(matches!(error, LaunchError::TableValue { word: 0, .. }));
        }
        for list in 0..LISTS {
            let at = HEAD_WORDS + list * list_words(8) + 1;
            assert!(launch(|set, _| set[at] |= 0xf << 16).is_ok());
            let is_own = list % 2 == 0;
            // Diagonals above the bits of a word, and rows on the same diagonals or too far from each other.
            let wrong = match is_own {
                true => [0x10 << 16, 25, 25 << 5],
                false => [0x10 << 16, 0, 17],
            };
            for word in wrong {
                let error = launch(|set, _| set[at] = word).unwrap_err();
                assert!(
                    matches!(error, LaunchError::TableValue { word, .. } if word == at),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn a_job_without_units_is_refused() {
        for (at, wrong) in [(1, 0), (1, 16), (2, 0), (2, 32)] {
            let error = launch(|_, job| job[at] = wrong).unwrap_err();
            assert!(matches!(error, LaunchError::Job { job: 0, .. }), "{error}");
        }
    }
}
