//! What a job of the colour kernel should have counted.

use super::ColourBoard;
use super::counter::weights;
use super::lines::{Lines, Parity};
use super::orientation::Orientation;
use super::program::{COLOUR_ROWS, HEAD_WORDS, SET_SUMS, SET_WORDS, TRANSPOSED, row_counts};
use super::sub_board::Target;
use crate::board::bits;
use crate::engine::{JOB_WORDS, Launch};

/// The sums of a job of a launch for this board (solutions, placements of the first colour, what tables hold of them,
/// placements of the second colour) in plain recursion: a row after the other, with a counter for each word of columns.
pub fn recount_job(
    board: &ColourBoard,
    launch: &Launch,
    [set, first, count, _]: [u32; JOB_WORDS],
) -> [u64; SET_SUMS] {
    let set = &launch.tables()[set as usize * SET_WORDS..][..SET_WORDS];
    let rows_of = |colour: usize| {
        let rows = set[HEAD_WORDS + colour * COLOUR_ROWS..].iter();
        let mut rows = rows.map(|&word| row_of(word));
        row_counts(set, colour).map(|count| rows.by_ref().take(count as usize).collect::<Vec<_>>())
    };
    let [[first_own, first_left], [second_own, second_left]] = [0, 1].map(rows_of);
    let columns = match set[0] & TRANSPOSED {
        0 => Parity::Even,
        _ => Parity::Odd,
    };
    let lines = Lines::of(board.size());
    // The columns that white takes, where they are not those of the second colour.
    let white = |parity, second: u32| match columns {
        Parity::Even => second,
        Parity::Odd => lines.all(parity) & !second,
    };
    let others = columns.other();
    let orientation = Orientation::of(board.size());
    let class = [set[1] as u16, (set[1] >> 16) as u16];
    let alike =
        (first..1 << lines.count(columns)).filter(|word| word.count_ones() == first.count_ones());
    let mut sums = [0; SET_SUMS];
    for word in alike.take(count as usize) {
        let Some(weights) = weights(board, class, columns, white(columns, word)) else {
            continue;
        };
        let mut counters = vec![0_u64; 1 << lines.count(others)];
        let rest = lines.all(columns) & !word;
        fill(&first_own, &first_left, Taken::with(rest), &mut |taken| {
            counters[taken as usize] += 1;
        });
        sums[1] += counters.iter().sum::<u64>();
        fill(&second_own, &second_left, Taken::with(word), &mut |taken| {
            let weight = weights.of(orientation.rank(others, white(others, taken)));
            let left = counters[(lines.all(others) & !taken) as usize];
            sums[0] += u64::from(weight) * left;
            sums[3] += 1;
        });
    }
    sums[2] = sums[1];
    sums
}

const fn row_of(word: u32) -> Target {
    Target {
        falling: word & 31,
        rising: word >> 5 & 31,
        open: word >> 16,
    }
}

/// What queens of a colour take.
#[derive(Clone, Copy)]
struct Taken {
    /// Own columns that are left to take.
    left: u32,
    /// Other columns taken.
    others: u32,
    falling: u32,
    rising: u32,
}

impl Taken {
    /// Nothing, with these own columns to take.
    const fn with(left: u32) -> Self {
        Self {
            left,
            others: 0,
            falling: 0,
            rising: 0,
        }
    }
}

/// Fills the own rows and then the rows left in all ways. Calls `found` with the other columns of each.
fn fill(own: &[Target], left: &[Target], taken: Taken, found: &mut impl FnMut(u32)) {
    let (row, is_own) = match (own.first(), left.first()) {
        (Some(row), _) => (row, true),
        (None, Some(row)) => (row, false),
        (None, None) => return found(taken.others),
    };
    let columns = if is_own { taken.left } else { !taken.others };
    let attacked = taken.falling >> row.falling | taken.rising >> row.rising;
    for column in bits(row.open & columns & !attacked) {
        let queen = 1 << column;
        let mut next = Taken {
            falling: taken.falling | queen << row.falling,
            rising: taken.rising | queen << row.rising,
            ..taken
        };
        if is_own {
            next.left ^= queen;
            fill(&own[1..], left, next, found);
        } else {
            next.others |= queen;
            fill(own, &left[1..], next, found);
        }
    }
}
