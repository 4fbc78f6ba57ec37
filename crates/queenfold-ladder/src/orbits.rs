#![doc = include_str!("text/orbits.md")]

use std::cmp::Ordering;

use super::class_counts::ClassCounts;
use super::flags::Lines;
use super::{About, Count, Images, Method, MethodRequest, StopSearch, Style, Watch};

/// Finds every solution and classifies it by its eight images.
pub struct Orbits;

impl Method for Orbits {
    fn about(&self) -> &'static About {
        &About {
            name: "orbits",
            idea: "find every solution, keep the smallest of its images",
            text: include_str!("text/orbits.md"),
            styles: Style::BOTH,
            unique: true,
            reach: 12,
            steps: true,
        }
    }

    fn count(&self, request: &MethodRequest, watch: &mut Watch<'_>) -> Result<Count, StopSearch> {
        let n = request.n.get() as usize;
        let mut search = Search {
            board: vec![0; n],
            lines: Lines::new(n),
            total: 0,
            classes: ClassCounts::default(),
        };
        match request.style {
            Style::Iterative => search.iterative(watch)?,
            _ => search.recursive(0, watch)?,
        }
        Ok(Count {
            total: search.total.into(),
            ..Count::classes(search.classes.orbits())
        })
    }
}

struct Search {
    board: Vec<u8>,
    lines: Lines,
    total: u64,
    classes: ClassCounts,
}

impl Search {
    fn recursive(&mut self, row: usize, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        let n = self.board.len();
        if row == n {
            return self.found(watch);
        }
        for column in 0..n {
            if !self.lines.are_free(row, column) {
                watch.show_attacked(&self.board, row, column)?;
                continue;
            }
            self.board[row] = column as u8;
            watch.place(&self.board, row)?;
            self.lines.set(row, column, true);
            self.recursive(row + 1, watch)?;
            self.lines.set(row, column, false);
        }
        Ok(())
    }

    fn iterative(&mut self, watch: &mut Watch<'_>) -> Result<(), StopSearch> {
        let n = self.board.len();
        let mut next = vec![0; n];
        let mut row = 0;
        loop {
            let column = next[row];
            if column == n {
                if row == 0 {
                    return Ok(());
                }
                row -= 1;
                self.lines.set(row, self.board[row].into(), false);
                continue;
            }
            next[row] += 1;
            if !self.lines.are_free(row, column) {
                watch.show_attacked(&self.board, row, column)?;
                continue;
            }
            self.board[row] = column as u8;
            watch.place(&self.board, row)?;
            if row + 1 == n {
                self.found(watch)?;
            } else {
                self.lines.set(row, column, true);
                row += 1;
                next[row] = 0;
            }
        }
    }

    fn found(&mut self, watch: &Watch<'_>) -> Result<(), StopSearch> {
        watch.solution(&self.board, Images::Itself)?;
        self.total += 1;
        if let Some(size) = orbit_size_if_smallest(&self.board) {
            self.classes.add(size);
        }
        Ok(())
    }
}

/// The size of the solution's orbit if it is the smallest of its images, read as a number with a
/// digit for each row; `None` if another image is smaller and so represents the orbit.
fn orbit_size_if_smallest(board: &[u8]) -> Option<u8> {
    let mut turned = board.to_vec();
    let mut equal = 0;
    for _ in 0..4 {
        turned = quarter_turn(&turned);
        for image in [&turned, &mirror_image(&turned)] {
            match image.as_slice().cmp(board) {
                Ordering::Less => return None,
                Ordering::Equal => equal += 1,
                Ordering::Greater => {}
            }
        }
    }
    // Each of the images occurs equally often among the eight.
    Some(8 / equal)
}

/// The board turned clockwise: the first row becomes the last column.
fn quarter_turn(board: &[u8]) -> Vec<u8> {
    let last = board.len() - 1;
    let mut image = vec![0; board.len()];
    for (row, &column) in board.iter().enumerate() {
        image[usize::from(column)] = (last - row) as u8;
    }
    image
}

/// Left and right exchanged.
fn mirror_image(board: &[u8]) -> Vec<u8> {
    let last = board.len() as u8 - 1;
    board.iter().map(|column| last - column).collect()
}
