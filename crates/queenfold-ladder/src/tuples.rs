//! The method `tuples`: tests every board with one queen in each row when it is complete.
//!
#![doc = include_str!("text/tuples.md")]

use super::{Count, Images, Method, MethodRequest, StopSearch, Style, Watch};

/// Tests every tuple when it is complete.
pub const METHOD: Method = Method {
    name: "tuples",
    step: 1,
    text: include_str!("text/tuples.md"),
    reach: 7,
    count,
    boards,
    ..Method::USUAL
};

fn count(request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
    let mut board = vec![0; request.n.get() as usize];
    let total = match request.style {
        Style::Iterative => iterative(&mut board, watch)?,
        _ => recursive(&mut board, 0, watch)?,
    };
    Ok(Count::total(total))
}

fn boards(n: u32) -> Option<f64> {
    Some(f64::from(n).powf(n.into()))
}

/// Fills the board from `row` down in every way, and counts the solutions among them.
fn recursive(board: &mut [u8], row: usize, watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
    if row == board.len() {
        return test(board, watch);
    }
    let mut found = 0;
    for column in 0..board.len() {
        board[row] = column as u8;
        watch.show_placed(board, row)?;
        found += recursive(board, row + 1, watch)?;
    }
    Ok(found)
}

/// Counts up like an odometer: the last row is the fastest wheel, and a wheel that completes a turn
/// starts again and moves the one above it.
fn iterative(board: &mut [u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
    let last_column = board.len() as u8 - 1;
    let mut found = 0;
    let mut moved = 0;
    loop {
        for row in moved..board.len() {
            watch.show_placed(board, row)?;
        }
        found += test(board, watch)?;
        let Some(wheel) = board.iter().rposition(|&column| column < last_column) else {
            return Ok(found);
        };
        board[wheel] += 1;
        board[wheel + 1..].fill(0);
        moved = wheel;
    }
}

fn test(board: &[u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
    watch.count()?;
    if !is_solution(board) {
        return Ok(0);
    }
    watch.solution(board, Images::Itself)?;
    Ok(1)
}

/// Whether no queen attacks another, by a test of each pair.
fn is_solution(board: &[u8]) -> bool {
    (0..board.len()).all(|lower| {
        (0..lower).all(|upper| {
            let columns = usize::from(board[lower].abs_diff(board[upper]));
            columns != 0 && columns != lower - upper
        })
    })
}
