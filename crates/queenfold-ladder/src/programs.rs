//! The kernels of the ladder as programs for devices: each node is searched by a thread of its own.

#![expect(unsafe_code, reason = "vouches for the layouts of the kernels")]

use std::ops::RangeInclusive;

use queenfold_engines::engine::{DeviceProgram, LaunchError, LaunchWords, Layout, ThreadUse};

/// Both programs.
pub const PROGRAMS: [DeviceProgram; 2] = [BIT_BOARD, NODE_LAYER];

/// The last rows of the symmetry search. The table is `BitBoardStart`, a job is a node, the sums are
/// `BitBoardSums` of `kernels/bit_board.h`.
// SAFETY: `check_bit_board` bounds every word that the kernel indexes by; the layout
// is that of the structs in the header.
pub(super) const BIT_BOARD: DeviceProgram =
    unsafe { DeviceProgram::new("bit_board", ThreadUse::OnePerJob, BIT_BOARD_LAYOUT) };

const BIT_BOARD_LAYOUT: Layout = Layout {
    // Three, and one for each row above.
    job_words: |tables| 3_usize.saturating_add(tables[1] as usize),
    group_word: None,
    group_words: 4,
    group_sums: 4,
    check: check_bit_board,
};

/// The rows below a layer. The table is the size of the board, a job is `Taken`, the sums are
/// `NodeLayerSums` of `kernels/node_layer.h`.
// SAFETY: `check_board` bounds the rows, which is all that the kernel indexes by; the layout
// is that of the structs in the header.
pub(super) const NODE_LAYER: DeviceProgram =
    unsafe { DeviceProgram::new("node_layer", ThreadUse::OnePerJob, NODE_LAYER_LAYOUT) };

const NODE_LAYER_LAYOUT: Layout = Layout {
    job_words: |_| 3,
    group_word: None,
    group_words: 1,
    group_sums: 2,
    check: check_board,
};

/// The kernels have arrays of as many rows as the largest board.
fn check_board(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
    check_value(words, 0, 1..=32)
}

/// The kernel indexes by rows of the board, and by the columns of the queens above: each row above
/// must have one queen in a column of its own.
fn check_bit_board(words: &LaunchWords<'_>) -> Result<(), LaunchError> {
    check_board(words)?;
    let (n, mark) = (words.tables[0], words.tables[1]);
    check_value(words, 1, 0..=n)?;
    check_value(words, 2, 0..=1)?;
    check_value(words, 3, 0..=n - 1)?;
    let full = u32::MAX >> (32 - n);
    for (index, job) in words.jobs.chunks_exact(words.job_words).enumerate() {
        let (down, queens) = (job[1], &job[3..]);
        let columns = queens.iter().fold(0, |columns, queen| columns | queen);
        let alone = queens.iter().all(|queen| queen.is_power_of_two());
        // As many columns as queens: no two share one.
        if !alone || columns.count_ones() != mark || columns & !full != 0 || down != columns {
            return Err(LaunchError(format!(
                "job {index}: the columns taken are not those of one queen in each row above"
            )));
        }
    }
    Ok(())
}

fn check_value(
    words: &LaunchWords<'_>,
    word: usize,
    range: RangeInclusive<u32>,
) -> Result<(), LaunchError> {
    LaunchError::unless_within(word, words.tables[word], range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use queenfold_engines::engine::Launch;

    #[test]
    fn a_board_without_rows_or_with_more_than_32_is_refused() {
        let node_layer = |n| Launch::new(NODE_LAYER, vec![0; 3], vec![n]);
        let bit_board = |n| Launch::new(BIT_BOARD, Vec::new(), vec![n, 0, 1, 0]);
        for n in [1, 32] {
            assert!(node_layer(n).is_ok() && bit_board(n).is_ok(), "n = {n}");
        }
        for n in [0, 33, u32::MAX] {
            let refused = LaunchError::unless_within(0, n, 1..=32).map(|()| unreachable!());
            assert_eq!(node_layer(n), refused);
            assert_eq!(bit_board(n), refused);
        }
    }

    #[test]
    fn rows_and_columns_beyond_the_board_are_refused() {
        let launch = |mark, corner, bound| {
            let launch = Launch::new(BIT_BOARD, Vec::new(), vec![6, mark, corner, bound]);
            launch.map(|_| ())
        };
        assert_eq!(launch(6, 0, 5), Ok(()));
        let refused = |word, value, most| LaunchError::unless_within(word, value, 0..=most);
        assert_eq!(launch(7, 0, 5), refused(1, 7, 6));
        assert_eq!(launch(6, 2, 5), refused(2, 2, 1));
        assert_eq!(launch(6, 0, 6), refused(3, 6, 5));
    }

    #[test]
    fn queens_that_do_not_fill_the_rows_above_are_refused() {
        let launch = |down, queens: [u32; 2]| {
            let jobs = [&[0, down, 0][..], &queens].concat();
            let launch = Launch::new(BIT_BOARD, jobs, vec![6, 2, 1, 2]);
            launch.map(|_| ())
        };
        assert_eq!(launch(0b101, [1, 4]), Ok(()));
        for (down, queens) in [
            // No queen, two in a row, two in a column, one beyond the board.
            (1, [1, 0]),
            (0b111, [1, 6]),
            (1, [1, 1]),
            (0x41, [1, 0x40]),
            // Other columns taken than those of the queens.
            (0b111, [1, 4]),
        ] {
            let error = launch(down, queens).unwrap_err();
            assert!(error.0.starts_with("job 0: "), "{error}");
        }
    }
}
