//! The colour kernel as a program for devices.

use std::ops::RangeInclusive;

use crate::board::Size;
use crate::engine::{DeviceProgram, JOB_WORDS, LaunchError, LaunchWords, Layout, ThreadUse};

/// Sums of a row set: solutions, placements of the first colour, what was counted of them in tables, placements of the
/// second colour.
pub(super) const SET_SUMS: usize = 4;
/// The flag of the second form in the word of the board: `QF_TRANSPOSED` of the kernel.
pub(super) const TRANSPOSED: u32 = 1 << 19;
/// Words of a row set before its rows: board, class, numbers of rows.
pub(super) const HEAD_WORDS: usize = 3;
/// Own rows of a colour, or rows left, at most. They differ by one at most.
const MOST_ROWS: u32 = 12;
/// Words for the rows of a colour: own ones, then those left.
pub(super) const COLOUR_ROWS: usize = 2 * MOST_ROWS as usize - 1;
/// Words of a row set: after the head, the rows of the first colour and those of the second one.
pub(super) const SET_WORDS: usize = HEAD_WORDS + 2 * COLOUR_ROWS;

/// Boards that the kernel counts. Smaller ones have too few columns for a word of two counters, larger ones too many
/// diagonals for a word beside the number of a unit.
pub(super) const BOARDS: RangeInclusive<u32> = 5..=30;

/// A variant of the kernel: the largest board that it counts, the counters in the table of a block, which are those of one
/// unit of that board, and the threads of a block, at most. The smaller a job, the longer threads wait for each other at its
/// end; those of a large one gain by sharing its counters.
type Variant = (u32, u32, u32);

/// All of them. The launch check relies on the counters.
const VARIANTS: [Variant; 3] = [(26, 4096, 160), (28, 8192, 256), (30, 16_384, 512)];

/// All variants of the kernel.
pub fn programs() -> impl Iterator<Item = DeviceProgram> {
    VARIANTS.into_iter().map(program)
}

/// The variant for boards of size `n`; `None` if the kernel does not count boards of this size.
pub(super) fn program_for(n: Size) -> Option<DeviceProgram> {
    let mut fitting = VARIANTS
        .into_iter()
        .filter(|(largest, ..)| n.get() <= *largest);
    fitting
        .next()
        .filter(|_| BOARDS.contains(&n.get()))
        .map(program)
}

const LANES: u32 = 32;
/// The fewest own rows of a beginning.
const BEGINNING: u32 = 2;
/// Bits of half a word: as `QF_BASE` of the kernel.
const HALF: u32 = 16;
/// Words that the threads of a block share before the row set, at most: `ColourBlock` of the kernel.
const BLOCK_HEAD: u32 = 64;
/// The highest level: as `QF_TOP` of the kernel.
const TOP: u32 = 8;
/// Nodes that the buffer of a level has room for: as `room` of the kernel.
const fn room(level: u32) -> u32 {
    let enough = match level {
        ..=3 => 32,
        4 => 8,
        5..=6 => 4,
        _ => 1,
    };
    enough - 1 + LANES
}

/// The program of a variant.
fn program((_, counters, threads): Variant) -> DeviceProgram {
    // As `colour_warp_words` and `ColourBlock` of the kernel.
    let buffers = (1..=TOP).map(|level| level.midpoint(2) * room(level));
    let searched = COLOUR_ROWS as u32 - TOP - BEGINNING;
    let warp = (buffers.sum::<u32>() + searched * LANES / 2).next_multiple_of(8);
    let attacks = TOP * (TOP - 1);
    let block = BLOCK_HEAD + SET_WORDS as u32 + attacks + counters / 2;
    let layout = Layout {
        // Row set, first word of own columns, number of words, nothing.
        job_words: |_| JOB_WORDS,
        group_word: Some(0),
        group_words: SET_WORDS,
        group_sums: SET_SUMS,
        check: check_words,
    };
    let memory_of_block = block.next_multiple_of(2) * 4;
    #[expect(unsafe_code, reason = "vouches for the layout of the kernel")]
    // SAFETY: the check bounds the numbers of rows and columns, and the diagonals, by which the kernel finds memory.
    unsafe {
        DeviceProgram::new("colour", ThreadUse::BlocksTakeJobs, layout)
            .with_variant(counters)
            .with_blocks(threads, warp * 4 / LANES, memory_of_block)
    }
}

/// Refuses row sets that are not of a board, have no rows or more rows than the kernel has room for, have squares outside
/// of their board or diagonals that no board has; and jobs without units or with words of columns that are none.
fn check_words(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
    let (sets, _) = words.tables.as_chunks::<SET_WORDS>();
    for (number, set) in sets.iter().enumerate() {
        check_set(words.variant, number * SET_WORDS, set)?;
    }
    let (jobs, _) = words.jobs.as_chunks::<JOB_WORDS>();
    let wrong = |&[set, first, count, _]: &[u32; JOB_WORDS]| {
        let own = sets[set as usize][0] & 0xff;
        first == 0 || first >> own != 0 || count == 0 || count >> own > 1
    };
    match jobs.iter().position(wrong) {
        Some(job) => Err(LaunchError(format!(
            "job {job}: it has no units, or its columns are not of the board"
        ))),
        None => Ok(()),
    }
}

/// How many own rows and rows left a colour of a row set has.
pub(super) fn row_counts(set: &[u32], colour: usize) -> [u32; 2] {
    [0, 8].map(|byte| set[2] >> (16 * colour + byte) & 0xff)
}

/// Checks a row set that begins at word number `start`, for this many counters.
fn check_set(counters: u32, start: usize, set: &[u32; SET_WORDS]) -> Result<(), LaunchError> {
    let within = |at: usize, value, range| LaunchError::unless_within(start + at, value, range);
    let [own_columns, others] = [set[0] & 0xff, set[0] >> 8 & 0xff];
    // A table has room for the counters of one unit at least: so many columns.
    let most = 1 + counters.ilog2();
    // What lies above is the number of a unit: at most 2 · most, as `QF_UNIT` of the kernel.
    let diagonals = 2 * most;
    within(0, others, 2..=most)?;
    // A bit above the squares of a row is a mark.
    within(0, own_columns, others - 1..=(others + 1).min(most))?;
    for colour in 0..2 {
        let [own, left] = row_counts(set, colour);
        within(
            2,
            left,
            1..=MOST_ROWS.min(COLOUR_ROWS as u32 - own.min(MOST_ROWS)),
        )?;
        // A search begins after the rows of a beginning.
        let fewest = if left > TOP { BEGINNING } else { 1 };
        within(2, own, fewest..=MOST_ROWS)?;
        let begin = HEAD_WORDS + colour * COLOUR_ROWS;
        let first_left = begin + own as usize;
        for at in begin..first_left + left as usize {
            let columns = if at < first_left { own_columns } else { others };
            let row = set[at];
            within(at, row >> 16, 0..=(1 << columns) - 1)?;
            let [falling, rising] = [row & 31, row >> 5 & 31];
            if at < first_left {
                // The number of a unit lies above the diagonals where a lane gives own rows to another. Of those of
                // rows left, the kernel drops what would lie there.
                within(at, falling.max(rising), 0..=diagonals - columns)?;
            }
            // What a queen attacks in another row is a product with a number of three bits, one of them so far down, one so
            // far up.
            for other in &set[first_left.min(at)..at] {
                within(at, falling.abs_diff(other & 31), 1..=HALF - 1)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Launch, variant_tests};

    #[test]
    fn every_board_up_to_30_has_a_variant() {
        let all: Vec<_> = programs().collect();
        variant_tests::are_for(&BOARDS, &all, program_for);
    }

    #[test]
    fn a_block_fits_into_the_shared_memory_of_every_device() {
        let all: Vec<_> = programs().collect();
        // The largest variant takes as many warps as there is room for.
        let threads = |program: DeviceProgram| {
            let of = |(_, counters, _): &Variant| *counters == program.variant();
            VARIANTS.into_iter().find(of).unwrap().2
        };
        let least = |program: DeviceProgram, _| match program.variant() {
            16_384 => 192,
            _ => threads(program),
        };
        variant_tests::fit(&all, least);
    }

    /// Own rows, and rows left, of each colour of the set below.
    const ROWS: usize = 2;

    /// A set of 8 queens, and a job.
    fn launch(change: impl Fn(&mut [u32], &mut [u32])) -> Result<Launch, LaunchError> {
        let mut set = vec![0; SET_WORDS];
        for colour in 0..2 {
            let begin = HEAD_WORDS + colour * COLOUR_ROWS;
            // The second one of each two rows.
            set[begin + 1] = 1;
            set[begin + ROWS + 1] = 1;
        }
        set[0] = 4 | 4 << 8;
        set[2] = 0x0101_0101 * ROWS as u32;
        let mut job = [0, 0b11, 6, 0];
        change(&mut set, &mut job);
        Launch::new(program(VARIANTS[0]), job.to_vec(), set)
    }

    #[test]
    fn a_set_with_too_many_rows_or_squares_outside_of_the_board_is_refused() {
        assert!(launch(|_, _| ()).is_ok());
        for wrong in [
            0x0202_0200,
            0x0202_0d02,
            0x0202_0c0c,
            0x0d02_0202,
            0x020d_0202,
            0x0202_0901,
        ] {
            let error = launch(|set, _| set[2] = wrong).unwrap_err();
            assert!(error.0.starts_with("word 2 of"), "{error}");
        }
        for board in [0, 4, 4 << 8, 14 | 14 << 8, 6 | 4 << 8, 2 | 4 << 8] {
            let error = launch(|set, _| set[0] = board).unwrap_err();
            assert!(error.0.starts_with("word 0 of"), "{error}");
        }
        for list in 0..4 {
            let at = HEAD_WORDS + list / 2 * COLOUR_ROWS + list % 2 * ROWS + 1;
            assert!(launch(|set, _| set[at] |= 0xf << 16).is_ok());
            // Squares that are none, diagonals above the bits of a word, and rows on the same diagonals or too far from
            // each other.
            let wrong = match list % 2 {
                0 => [0x10 << 16, 25, 25 << 5],
                _ => [0x10 << 16, 0, 16],
            };
            for word in wrong {
                let error = launch(|set, _| set[at] = word).unwrap_err();
                let begin = format!("word {at} of");
                assert!(error.0.starts_with(&begin), "{error}");
            }
        }
    }

    #[test]
    fn a_job_without_units_is_refused() {
        for (at, wrong) in [(1, 0), (1, 16), (2, 0), (2, 32)] {
            let error = launch(|_, job| job[at] = wrong).unwrap_err();
            assert!(error.0.starts_with("job 0: "), "{error}");
        }
    }
}
