//! The method `colour`: fills the white and the black squares apart, and joins what fits together.
//!
#![doc = include_str!("text/colour.md")]

use std::collections::HashMap;

use super::bitmap::lowest_bit;
use super::queens::Queens;
use super::{Count, Images, Method, MethodRequest, StopSearch, Style, Watch};
use queenfold_engines::board::Size;

/// Fills the white and the black squares apart, and joins what fits together.
pub const METHOD: Method = Method {
    name: "colour",
    step: 9,
    text: include_str!("text/colour.md"),
    styles: &[Style::Recursive],
    reach: 14,
    count,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let n = request.n;
    let all_rows = n.full_mask();
    // On boards of even size a mirror, left and right exchanged, exchanges the colours. So it is enough
    // to count the solutions whose queen in the last row is black: their sets of white rows are the
    // first half of all.
    let (last_set, images, times) = if n.get().is_multiple_of(2) {
        (all_rows >> 1, Images::Mirrored, 2)
    } else {
        (all_rows, Images::Itself, 1)
    };
    let mut found = 0;
    for white_rows in (0..=last_set).filter(|&white| is_balanced(all_rows & !white)) {
        found += count_set(n, white_rows, images, watch)?;
    }
    Ok(Count::total(times * found))
}

/// The lines of even number.
const EVEN: u32 = 0x5555_5555;

/// Whether black queens of a solution can take just these rows: as many even rows as odd ones.
///
/// The even columns have the white queens of even rows and the black queens of odd rows; the even rows have
/// the white and the black queens of even rows. There are as many even columns as even rows.
const fn is_balanced(black_rows: u32) -> bool {
    (black_rows & EVEN).count_ones() == (black_rows & !EVEN).count_ones()
}

/// A row to be filled.
struct Row {
    number: usize,
    /// Its squares of one colour.
    squares: u32,
}

/// The solutions whose white queens stand in just these rows. Each one shown stands for `images`.
fn count_set(
    n: Size,
    white_rows: u32,
    images: Images,
    watch: &mut Watch<'_>,
) -> Result<u64, StopSearch> {
    let (mut white, mut black) = (Vec::new(), Vec::new());
    for number in 0..n.get() as usize {
        let is_white = white_rows >> number & 1 == 1;
        // White squares are those with an even sum of row and column.
        let squares = if is_white == number.is_multiple_of(2) {
            EVEN & n.full_mask()
        } else {
            !EVEN & n.full_mask()
        };
        let rows = if is_white { &mut white } else { &mut black };
        rows.push(Row { number, squares });
    }
    // In how many ways black can take these columns.
    let mut ways: HashMap<u32, u64> = HashMap::new();
    fill(&mut Queens::none(n), &black, watch, &mut |queens, _| {
        *ways.entry(queens.columns).or_default() += 1;
        Ok(())
    })?;
    let mut found = 0;
    fill(&mut Queens::none(n), &white, watch, &mut |queens, watch| {
        let left = n.full_mask() & !queens.columns;
        let Some(ways) = ways.get(&left) else {
            return Ok(());
        };
        found += ways;
        if watch.is_shown() {
            // The table knows only how many they are: place the black queens once more. A forked watch, so
            // that they are not counted twice.
            let mut both = *queens;
            return fill(&mut both, &black, &mut watch.fork(), &mut |both, watch| {
                watch.solution(both.board(), images)
            });
        }
        Ok(())
    })?;
    Ok(found)
}

/// Fills `rows` in every way, each with one queen, and hands each result to `filled`.
fn fill(
    queens: &mut Queens,
    rows: &[Row],
    watch: &mut Watch<'_>,
    filled: &mut impl FnMut(&Queens, &mut Watch<'_>) -> Result<(), StopSearch>,
) -> Result<(), StopSearch> {
    let Some((row, below)) = rows.split_first() else {
        return filled(queens, watch);
    };
    let mut free = row.squares & queens.free(row.number);
    while free != 0 {
        let bit = lowest_bit(free);
        free ^= bit;
        queens.flip(row.number, bit);
        watch.place_among(queens.board(), row.number)?;
        fill(queens, below, watch, filled)?;
        queens.flip(row.number, bit);
    }
    Ok(())
}
