//! The method `orbits`: finds every solution and classifies it by its eight images.
//!
#![doc = include_str!("text/orbits.md")]

use super::by_columns::{Rules, search};
use super::class_counts::{ClassCounts, orbit_size_if_smallest};
use super::flags::Lines;
use super::{About, Count, Method, MethodRequest, StopSearch, Style, Watch};

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
        let mut sorter = Sorter {
            lines: Lines::new(request.n),
            classes: ClassCounts::default(),
        };
        let total = search(request, &mut sorter, watch)?;
        Ok(Count {
            total: total.into(),
            ..Count::classes(sorter.classes.orbits())
        })
    }
}

/// The search by flags, with every solution sorted into its class.
struct Sorter {
    lines: Lines,
    classes: ClassCounts,
}

impl Rules for Sorter {
    fn is_free(&self, board: &[u8], row: usize, column: usize) -> bool {
        self.lines.is_free(board, row, column)
    }

    fn set(&mut self, row: usize, column: usize, taken: bool) {
        self.lines.set(row, column, taken);
    }

    fn filled(&mut self, board: &[u8], watch: &mut Watch<'_>) -> Result<u64, StopSearch> {
        if let Some(size) = orbit_size_if_smallest(board, quarter_turn, mirror_image) {
            self.classes.add(size);
        }
        self.lines.filled(board, watch)
    }
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
